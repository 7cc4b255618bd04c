/* outcome.h - what an answer, a silence or an expiry does to the queue
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_OUTCOME_H
#define ZM_SCHEDULER_OUTCOME_H

#include "scheduler/jobs/answer.h"
#include "scheduler/intake/intake.h"

struct outcome {
	struct queue	*queue;
	struct group	*group;
	struct intake	*intake;
	struct results	*results;	/* NULL: no script */
	size_t		 sweep_cursor;	/* outcome_sweep */
	struct amend	*amends;	/* amend.h; NULL: none */
};

/* A verdict about one recipient of a vertex in flight; its record is in the
 * control file already. */
void outcome_answer(struct outcome *outcome, struct vertex *vertex,
    struct rcpt *rcpt, const struct answer *answer);

/* A recipient failed by one way, and another way is left: the file has the
 * record, and is read again when nothing of the job is in flight. */
void outcome_move(struct vertex *vertex, const struct rcpt *rcpt);

/* The ended recipients of a vertex are final: it goes on with the others. */
void outcome_again(struct outcome *outcome, struct vertex *vertex);

/* The vertex has all its answers (and is out of its agent's queue): move it,
 * its thread and its job on.  The job may have been freed afterwards. */
void outcome_vertex(struct outcome *outcome, struct vertex *vertex);

/* The agent gave the vertex back without (all) answers.  is_blamed: it was the
 * agent's current one, so the attempt counts and is recorded with reason.  Its
 * file is read again in any case, because it may have records whose lines were
 * never sent.  The job may have been freed afterwards. */
void outcome_lost(struct outcome *outcome, struct vertex *vertex,
    bool is_blamed, const char *reason);

/* Say so in the file: records for those of the vertex that have none of this
 * attempt, as control says, which was just read.  0 or -1 with err. */
int outcome_write_lost(struct vertex *vertex,
    const struct control_file *control, const char *reason,
    struct err *err);

/* Give up ready mail that is too old and is not given to agents; fifteen calls
 * cover all of it. */
void outcome_sweep(struct outcome *outcome, int64_t now_ms);

/* Move everything whose time has come; returns when to call again,
 * INT64_MAX: not needed. */
int64_t outcome_due(struct outcome *outcome, int64_t now_ms);

#endif
