/* neighbours.h - other programs that mail depends on, when they fail
 *
 * A milter, a policy service, a password checker: a process that asks one
 * notes the result in memory that all processes share (beside the counters,
 * so it outlives a restart).  The first failure is an event (neighbour.down),
 * and so is the first answer after it (neighbour.up); between them tools can
 * say since when it fails and how many commands failed because of it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_JOURNAL_NEIGHBOURS_H
#define ZM_JOURNAL_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

enum { NEIGHBOUR_REASON_BYTES = 136 };

/* kind: "milter", "policy-service", "content-filter", "auth"; name: its
 * socket or command as the configuration has it.  Without the counters these
 * functions do nothing. */

/* It did its work. */
void neighbour_works(const char *kind, const char *name);
/* It did not. */
void neighbour_fails(const char *kind, const char *name, const char *reason);
/* A command was answered 4xx or 5xx because it fails. */
void neighbour_told(const char *kind, const char *name);

struct neighbour {
	int64_t		since_s;	/* wall: of the first failure */
	uint64_t	told;		/* answers 4xx or 5xx since then */
	char		reason[NEIGHBOUR_REASON_BYTES];	/* of the first */
};

/* Does it fail?  After counters_read or counters_open. */
bool neighbour_is_down(const char *kind, const char *name,
    struct neighbour *out);

#endif
