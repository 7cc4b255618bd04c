/* attempt.h - the site's script is asked before a try (before_attempt)
 *
 * In the process beside the scheduler (results.c), which may wait.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ATTEMPT_H
#define ZM_SCHEDULER_ATTEMPT_H

#include "daemon/hook/hook.h"

/* The fields of a question (hook/frame.h), in their order; then an offset and
 * an address for each recipient. */
enum attempt_field {
	ATTEMPT_NUMBER,		/* of the question, and where the vertex is: */
	ATTEMPT_INODE, ATTEMPT_INDEX,
	ATTEMPT_ID, ATTEMPT_FROM, ATTEMPT_AGE, ATTEMPT_TRIES,
	ATTEMPT_CHANNEL, ATTEMPT_HOST,
	ATTEMPT_FIELDS
};

enum {
	ATTEMPT_LATER_S = 900,		/* zm.defer() names no moment */
	ATTEMPT_REROUTES = 256		/* remembered: once a message */
};

/* What it remembers; zeros at first. */
struct attempt_memory {
	uint64_t	rerouted[ATTEMPT_REROUTES];
	unsigned	next;
};

/* Ask about each recipient of the question.  Adds lines to out: "order
 * {...}", a request of doc/protocol/control.md, for each that shall not be
 * tried now (its message is read again then); without any "go NUMBER INODE
 * INDEX", or "trouble ..." after an error, which the journal has.  now_s:
 * wall. */
void attempt_answer(struct hooks *hooks, struct attempt_memory *memory,
    struct slice fields, int64_t now_s, struct str *out);

#endif
