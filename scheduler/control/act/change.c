/* change.c - hold, release, freeze, thaw, schedule, bounce, delete, and
 * what has failed tried again
 *
 * In     a choice of mail
 * Out    records in control files, synced in groups; jobs read again
 * Holds  the inodes of one step; the message that is open over several
 * Trusts control files as far as control_file_parse does
 * Spec   doc/protocol/control.md section 5; doc/INTERNALS.md rows P4, D7
 *
 * What counts is what stands in the file: a job is built anew from it, at
 * once, or when nothing of it is at an agent any more.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/json.h"
#include "scheduler/control/act/act.h"
#include "scheduler/intake/intake.h"
#include "scheduler/jobs/pending.h"
#include "scheduler/report/report.h"

#include "base/banned.h"

enum effect { EFFECT_DONE, EFFECT_UNCHANGED, EFFECT_ACTIVE, EFFECT_FINAL };

struct batch {			/* of one step */
	ino_t	inodes[ACT_FILES + 1];	/* and one from the step before */
	int	fds[ACT_FILES + 1];
	size_t	count;
};

struct change {			/* of some recipients of a message */
	struct control_record *records;
	size_t		 count, capacity;
	uint64_t	 recipients;
};

/* ---- one recipient ----------------------------------------------- */

/* Of one that has failed and is not told yet. */
static enum effect
change_effect_failed(enum request_op op, bool is_active,
    enum control_record_kind *out_kind)
{
	switch (op) {
	case OP_RETRY_FAILED:
		*out_kind = RECORD_REOPENED;
		break;
	case OP_DELETE:
		*out_kind = RECORD_CANCELLED;
		break;
	case OP_BOUNCE:
		*out_kind = RECORD_OUTCOME;
		break;
	default:
		return EFFECT_FINAL;
	}
	return is_active ? EFFECT_ACTIVE : EFFECT_DONE;
}

/* The kind of record, and whether there is anything to do. */
static enum effect
change_effect(enum request_op op, const struct control_visit *visit,
    const struct control_rcpt *rcpt, enum control_record_kind *out_kind)
{
	const struct vertex *vertex = visit_vertex(visit, rcpt->offset);
	bool is_active = vertex != NULL && vertex->state == VERTEX_FLIGHT;

	if (visit->job->flags & JOB_MOVING)	/* perhaps another's by now */
		return rcpt->is_final && !rcpt->is_cancelled ? EFFECT_FINAL :
		    EFFECT_ACTIVE;
	if (op == OP_UNDELETE) {
		*out_kind = RECORD_RESTORED;
		return rcpt->is_cancelled ? EFFECT_DONE : rcpt->is_final ?
		    EFFECT_FINAL : EFFECT_UNCHANGED;
	}
	if (control_rcpt_is_failed(rcpt))	/* perhaps being reported */
		return change_effect_failed(op, is_active ||
		    (visit->job->flags & JOB_WRITING), out_kind);
	if (visit_has_outcome(visit, rcpt))
		return rcpt->is_cancelled && op == OP_DELETE ?
		    EFFECT_UNCHANGED : EFFECT_FINAL;
	switch (op) {
	case OP_HOLD:
		*out_kind = RECORD_HELD;
		return EFFECT_DONE;
	case OP_RELEASE:
		*out_kind = RECORD_RELEASED;
		return rcpt->is_held ? EFFECT_DONE : EFFECT_UNCHANGED;
	case OP_FREEZE:
		*out_kind = RECORD_FROZEN;
		return rcpt->is_frozen ? EFFECT_UNCHANGED : EFFECT_DONE;
	case OP_THAW:
		*out_kind = RECORD_THAWED;
		return rcpt->is_frozen ? EFFECT_DONE : EFFECT_UNCHANGED;
	case OP_RETRY_FAILED:
		return EFFECT_UNCHANGED;
	case OP_DELETE:
		*out_kind = RECORD_CANCELLED;
		return EFFECT_DONE;
	case OP_BOUNCE:
		*out_kind = RECORD_OUTCOME;
		return is_active ? EFFECT_ACTIVE : EFFECT_DONE;
	default:
		*out_kind = RECORD_RETRY_AT;
		return EFFECT_DONE;
	}
}

static void
batch_add_record(struct change *change, const struct control_record *record)
{
	if (change->count == change->capacity) {
		change->capacity = change->capacity ? change->capacity * 2 : 16;
		change->records = mem_grow(change->records, change->capacity,
		    sizeof(*change->records));
	}
	change->records[change->count++] = *record;
}

static void
change_make_bounce(const struct act *act, const struct control_rcpt *rcpt,
    struct control_record *record)
{
	record->tries = rcpt->tries;
	record->next_s = act->visit.now_s;	/* it is kept no longer */
	if (control_rcpt_is_failed(rcpt)) {
		record->verdict = rcpt->last->verdict;
		return;
	}
	verdict_set(&record->verdict, VERDICT_FAILED, "5.0.0", "scheduler",
	    "returned by the postmaster%s%s",
	    act->request.reason[0] != '\0' ? ": " : "", act->request.reason);
	event(EV_RCPT_FAIL, act->visit.control.id, "to", rcpt->user,
	    "orcpt", rcpt->orcpt, "channel",
	    rcpt->channel, "host", rcpt->host, "code", SLICE("5.0.0"),
	    "reply", slice_of(record->verdict.text), "tries",
	    event_number(rcpt->tries), NULL);
}

/* What was an end is none any more: it is tried again, or deleted. */
static void
change_reopen(struct act *act, const struct control_rcpt *rcpt,
    const struct control_record *order, struct change *change)
{
	struct control_record record = *order;

	act_tell_reopened(act, rcpt);
	record.kind = RECORD_REOPENED;
	batch_add_record(change, &record);
}

static void
change_rcpt(struct act *act, const struct control_rcpt *rcpt,
    enum control_record_kind kind, struct change *change)
{
	const struct request *request = &act->request;
	struct control_record record = { .kind = kind,
	    .rcpt_offset = rcpt->offset, .time_s = act->visit.now_s };

	change->recipients++;
	if (request->is_dry)
		return;
	if (kind == RECORD_OUTCOME) {
		change_make_bounce(act, rcpt, &record);
		batch_add_record(change, &record);
		return;
	}
	strlcpy(record.verdict.who, act->by, sizeof(record.verdict.who));
	strlcpy(record.verdict.text, request->reason,
	    sizeof(record.verdict.text));
	if (control_rcpt_is_failed(rcpt))
		change_reopen(act, rcpt, &record, change);
	if (kind == RECORD_REOPENED)
		return;
	if (request->op != OP_SCHEDULE) {
		record.next_s = kind == RECORD_HELD ? request->until_s : 0;
		batch_add_record(change, &record);
		return;
	}
	record.next_s = request->next_s;
	if (request->next_s > 0)
		batch_add_record(change, &record);
	record.kind = RECORD_EXPIRE_AT;
	record.next_s = request->expire_s;
	if (request->expire_s > 0)
		batch_add_record(change, &record);
}

/* ---- some recipients of a message --------------------------------- */

/* The next ones, as far as the budget goes. */
static void
change_choose(struct act *act, struct change *change, unsigned *budget)
{
	struct control_visit *visit = &act->visit;
	const struct control_group *group;
	const struct control_rcpt *rcpt;

	while ((rcpt = act_rcpt_next(act, &group, budget)) != NULL) {
		enum control_record_kind kind = RECORD_OUTCOME;
		enum effect effect;

		if (!visit_is_meant(visit, group, rcpt))
			continue;
		effect = change_effect(act->request.op, visit, rcpt, &kind);
		act->count.unchanged += effect == EFFECT_UNCHANGED;
		act->count.active += effect == EFFECT_ACTIVE;
		act->count.final += effect == EFFECT_FINAL;
		if (effect == EFFECT_DONE)
			change_rcpt(act, rcpt, kind, change);
	}
}

/* What changed is not given to an agent before the file is read again, and not
 * placed either, when the job was still being placed. */
static void
change_stop_vertices(struct act *act, const struct change *change)
{
	for (size_t i = 0; i < change->count; i++) {
		struct vertex *vertex = visit_vertex(&act->visit,
		    change->records[i].rcpt_offset);

		if (vertex == NULL || vertex->state == VERTEX_FLIGHT)
			continue;
		plan_forget(&act->queue->plan, vertex);
		vertex->is_stopped = true;	/* it may be on its way there */
	}
}

/* Who is returned goes no other way that is left. */
static void
batch_end_outcomes(struct act *act, struct change *change)
{
	for (size_t i = 0; i < change->count; i++) {
		struct control_record *record = &change->records[i];
		const struct control_rcpt *rcpt = record->kind ==
		    RECORD_OUTCOME ?
		    control_rcpt_at(&act->visit.control, record->rcpt_offset) :
		    NULL;

		if (rcpt != NULL)
			record->rcpt_offset = control_rcpt_end_offset(rcpt);
	}
}

/* 0; -1 with err: perhaps some of it is written. */
static int
change_write(struct act *act, struct job *job, struct change *change,
    struct err *err)
{
	bool wrote;

	visit_written(&act->visit);
	/* what is owed and could not be recorded must not be forgotten */
	if (act->page.count == 0 && pending_write(job, &act->visit.control,
	    &wrote, err) < 0)
		return -1;
	change_stop_vertices(act, change);
	batch_end_outcomes(act, change);
	/* P4: records; synced with the batch */
	return control_file_append(job->control_fd, job->id, change->records,
	    change->count, err);
}

static void
batch_add(struct batch *batch, const struct job *job)
{
	if (batch->count > 0 &&
	    batch->inodes[batch->count - 1] == job->inode)
		return;
	batch->inodes[batch->count] = job->inode;
	batch->fds[batch->count++] = job->control_fd;
}

/* A piece of the open message. */
static int
change_piece(struct act *act, struct batch *batch, unsigned *budget,
    struct err *err)
{
	unsigned looks = *budget < ACT_CHANGES ? *budget : ACT_CHANGES;
	struct job *job = act->visit.job;
	struct change change = { 0 };
	int result = 0;

	*budget -= looks;
	change_choose(act, &change, &looks);
	*budget += looks;
	if (change.count > 0) {
		batch_add(batch, job);
		result = change_write(act, job, &change, err);
	}
	if (result == 0)
		act->page.count += change.recipients;
	mem_free(&change.records);
	return result;
}

/* ---- one message ------------------------------------------------- */

static void
change_count(struct act *act)
{
	const struct request *request = &act->request;

	if (act->page.count == 0)
		return;
	act->count.messages++;
	act->count.recipients += act->page.count;
	if (request->is_dry)
		return;
	event(EV_MESSAGE_ORDERED, act->visit.control.id, "op",
	    slice_of(request_rows[request->op].name), "by",
	    slice_of(act->by), "reason", slice_of(request->reason), "until",
	    event_number(request->until_s), "rcpts",
	    event_number((int64_t)act->page.count), NULL);
}

/* The open message is done with; its job is built anew with the batch, if
 * anything was written for it. */
static int
change_message_end(struct act *act, struct batch *batch, struct err *err)
{
	struct job *job = act->visit.job;
	bool wrote;
	int result = 0;

	if (!act->request.is_dry && act->page.count > 0) {
		batch_add(batch, job);
		if (act->visit.is_kept)	/* what came to be owed meanwhile */
			result = pending_write(job, &act->visit.control,
			    &wrote, err);	/* no news to who has it open */
	} else if (!act->request.is_dry && (batch->count == 0 ||
	    batch->inodes[batch->count - 1] != job->inode)) {
		job_rest(job);
	}
	change_count(act);
	act_page_end(act);
	return result < 0 ? -1 : 0;
}

/* Go on with the message that is open; when it is over nothing is. */
static int
change_message(struct act *act, struct batch *batch, unsigned *budget,
    struct err *err)
{
	struct err end_err;
	int result = 0;

	while (result == 0 && !act_page_is_over(act) && *budget > 0)
		result = change_piece(act, batch, budget, err);
	if (result == 0 && !act_page_is_over(act))
		return 0;
	if (change_message_end(act, batch, &end_err) == 0 || result < 0)
		return result;
	*err = end_err;
	return -1;
}

/* ---- a batch ----------------------------------------------------- */

/* The one that is still open comes later. */
static void
batch_settle(struct act *act, const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct job *job = job_table_find(&act->queue->jobs,
		    batch->inodes[i]);

		if (job != NULL && !(act->page.is_open &&
		    job->inode == act->visit.last.inode))
			act_settle_job(act, job);
	}
}

/* What the files say now counts at once; it is told when it is durable. */
static void
batch_end(struct act *act, struct batch *batch)
{
	if (batch->count > 0)
		act_sync_records(act, batch->fds, batch->count);
	if (act->page.is_open)
		visit_keep(&act->visit);	/* others are read now */
	batch_settle(act, batch);
}

/* No more of the open message is changed: what was counts. */
static void
change_leave(struct act *act)
{
	struct job *job = act->page.count == 0 || act->request.is_dry ? NULL :
	    visit_job(&act->visit);

	change_count(act);
	act_page_end(act);
	if (job != NULL)
		act_settle_job(act, job);
}

/* The message that was left open, if it is still here; else nothing is. */
static int
change_resume(struct act *act, struct err *err)
{
	int result = act_page_resume(act, err);

	if (result != 1 && act->page.is_open)
		change_leave(act);
	return result < 0 ? -1 : 0;
}

void
act_change_drop(struct act *act)
{
	enum request_op op = act->request.op;

	if (!act->page.is_open || !request_rows[op].is_change ||
	    op == OP_RETRY)	/* nothing of that is in the file */
		return;
	if (op == OP_REROUTE)
		act_reroute_drop(act);
	else
		change_leave(act);
}

/* A step's worth.  0; -1 with err. */
static int
batch_do(struct act *act, struct err *err)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES, rcpts = ACT_RCPTS;
	struct batch batch = { .count = 0 };
	struct job *job;
	int result = 0;

	result = change_resume(act, err);
	if (visit_is_reading(&act->visit))
		return 0;
	if (result == 0 && act->page.is_open)
		result = change_message(act, &batch, &rcpts, err);
	while (result == 0 && !act->page.is_open && files-- > 0 &&
	    rcpts > 0 && !act_is_full(act)) {
		job = visit_next(&act->visit, &looks);
		if (job == NULL)
			break;
		if (!visit_open(&act->visit, job, !act->request.is_dry &&
		    !(job->flags & JOB_MOVING)))
			continue;
		act_page_begin(act);
		result = change_message(act, &batch, &rcpts, err);
	}
	batch_end(act, &batch);
	return result;
}

static enum act_step
change_end(struct act *act, struct str *out)
{
	act_done(act, out);
	act_counts(act, out);
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}

enum act_step
act_change(struct act *act, struct str *out)
{
	enum act_step step;
	struct err err;

	if (act_sync_end(act, &err) < 0)
		return act_trouble(act, &err, out);
	if (act_is_settling(act))
		return ACT_WAIT;
	if (!act_begin(act, out, &step))
		return step;
	act_may_wait(act);
	if (batch_do(act, &err) < 0) {
		if (act->sync == NULL)
			return act_trouble(act, &err, out);
		act_sync_trouble(act, &err);
	}
	if (act->sync != NULL)
		return ACT_SYNC;	/* what comes next comes after it */
	if (act->page.is_open || act->settling != 0 ||
	    (act_has_more(act) && !act_is_full(act)))
		return act_more(act);
	act->has_more = act->visit.count > 0;
	/* another's mail looks like none */
	if ((act->visit.known == 0 || act_user(act) != NULL) &&
	    act->request.id_count > 0 &&
	    act->count.messages + act->count.unchanged + act->count.active +
	    act_busy(act) +
	    act->count.final + act->count.conflict == 0) {
		act_refuse(out, act->request.tag, "no-such",
		    "no such message is in the queue");
		return ACT_DONE;
	}
	return change_end(act, out);
}
