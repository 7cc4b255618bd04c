/* helpers.h - the listener's side of the helper processes
 *
 * Questions come from workers, wait in a queue for each kind, go to a helper
 * that has room, and each is answered once: by the helper, or with trouble if
 * its helper died, hung or was never there, if the queue is full, or if it
 * waited longer than its kind allows.  Questions are passed on unread.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_HELPER_HELPERS_H
#define ZM_SMTPSERVER_HELPER_HELPERS_H

#include "smtpserver/helper/helper.h"

enum {
	HELPERS_QUEUED_MAX = 16384,		/* questions of one kind */
	HELPERS_QUEUED_BYTES_MAX = 8 << 20	/* of text, of one kind */
};

struct helpers;

/* asker: as given to helpers_ask.  line: "answer TOKEN ok ANSWER\n". */
typedef void helpers_answer_fn(void *context, uint64_t asker,
    struct slice line);

/* kinds: as helper_kinds.  child_fn: called in each child after the fork, to
 * close what is the listener's; or NULL. */
struct helpers *helpers_new(struct process *process,
    const struct helper_kind *kinds, loop_fn *child_fn,
    helpers_answer_fn *answer_fn, void *context);
/* Kills what is left. */
void helpers_free(struct helpers **helpers);

/* Opens a helper that is neither forked nor listens: a socket, or -1 with err.
 * Without it such kinds answer with trouble. */
typedef int helpers_open_fn(void *context, struct err *err);
void helpers_open_with(struct helpers *helpers, helpers_open_fn *fn);

/* "TOKEN KIND QUESTION" of an asker.  answer_fn is called sooner or later,
 * maybe in this call.  Questions go out when the loop has read all that came
 * in its turn; those of ASK_NOBODY, who tells and does not ask, before the
 * others, in their order.  false: nonsense, and no answer will come. */
bool helpers_ask(struct helpers *helpers, uint64_t asker, struct slice line);

/* From now on questions go to fresh processes, which have the process's
 * configuration; the old ones finish what they have in hand. */
void helpers_reload(struct helpers *helpers);

/* For tests: processes and connections now, of all kinds. */
unsigned helpers_count(const struct helpers *helpers);

#endif
