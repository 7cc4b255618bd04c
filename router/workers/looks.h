/* looks.h - users' files in public/, and when to look at one again
 *
 * A look opens a file and may read megabytes of it.  A file that is not mail
 * yet, or never will be, costs a look when it has changed, and otherwise after
 * waits that double up to LOOKS_WAIT_MS.  All get their turn, however many one
 * user has made.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_LOOKS_H
#define ZM_ROUTER_LOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum {
	/* before the next scan: a writer that closes a file unlocks it */
	LOOKS_FIRST_MS = 50,
	LOOKS_WAIT_MS = 60 * 1000
};

struct look;
struct looks_rows {
	struct look	*rows;
	size_t		 count, capacity;
};
struct looks {				/* zeroed: none */
	struct looks_rows	known;	/* by name */
	struct looks_rows	found;	/* by the scan under way */
	size_t			at;	/* whose turn it is */
	size_t			left;	/* of this round */
};

/* A scan: looks_find for each file, then looks_end at now_ms (steady).  Files
 * that it did not find are forgotten. */
void looks_find(struct looks *looks, const char *name,
    const struct stat *st);
void looks_end(struct looks *looks, int64_t now_ms);

/* The next file that is due, which then counts as looked at; valid until the
 * next looks_end.  NULL: no other file of the last scan is due. */
const char *looks_next(struct looks *looks, int64_t now_ms);

/* Forget all. */
void looks_release(struct looks *looks);

#endif
