/* attempt.h - the site's script is asked before a try (before_attempt)
 *
 * In the process beside the scheduler (results.c), which may wait.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ATTEMPT_H
#define ZM_SCHEDULER_ATTEMPT_H

#include "daemon/hook/hook.h"

/* The fields of a question (hook/frame.h), in this order; then come an offset
 * and an address for each recipient. */
enum attempt_field {
	ATTEMPT_NUMBER,		/* of the question, and where the vertex is: */
	ATTEMPT_INODE, ATTEMPT_INDEX,
	ATTEMPT_ID, ATTEMPT_FROM, ATTEMPT_AGE, ATTEMPT_TRIES,
	ATTEMPT_STEERED,
	ATTEMPT_CHANNEL, ATTEMPT_HOST,
	ATTEMPT_FIELDS
};

enum {
	ATTEMPT_LATER_S = 900,		/* zm.defer() names no moment */
	ATTEMPT_STEERED_MAX = 5		/* so often a message goes another
					 * way; what is asked beyond goes on */
};

/* Ask about each recipient of the question.  Adds lines to out: "ordered
 * NUMBER INODE INDEX" and, for each that shall not be tried now, "order
 * {...}", a request of doc/protocol/control.md (its message is read again
 * then); if there is none, "go NUMBER INODE INDEX", or "trouble ..." after an
 * error, which the journal has.  now_s: wall. */
void attempt_answer(struct hooks *hooks, struct slice fields, int64_t now_s,
    struct str *out);

#endif
