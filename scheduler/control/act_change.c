/* act_change.c - hold, release, freeze, thaw, schedule, bounce, delete
 *
 * In     a choice of mail
 * Out    records in control files, synced in groups; jobs read again
 * Holds  the inodes of one step
 * Trusts control files as far as work_parse does
 * Spec   doc/protocol/control.md section 5; doc/INTERNALS.md rows P4, D7
 *
 * What counts is what stands in the file: a job is built anew from it, at
 * once, or when nothing of it is at an agent any more.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/json.h"
#include "scheduler/control/act.h"
#include "scheduler/intake/intake.h"
#include "scheduler/outcome/kept.h"
#include "scheduler/report/report.h"

#include "base/banned.h"

enum effect { EFFECT_DONE, EFFECT_UNCHANGED, EFFECT_ACTIVE, EFFECT_FINAL };

struct batch {			/* of one step */
	ino_t	inodes[ACT_FILES];
	int	fds[ACT_FILES];
	size_t	count;
};

struct change {			/* of one message */
	struct work_record *records;
	size_t		 count, room;
	uint64_t	 recipients;
};

/* ---- one recipient ----------------------------------------------- */

/* The kind of record, and whether there is anything to do. */
static enum effect
effect_of(enum request_op op, const struct work_rcpt *rcpt,
    const struct vertex *vertex, enum work_record_kind *out_kind)
{
	bool is_active = vertex != NULL && vertex->state == VERTEX_FLIGHT;

	if (op == OP_UNDELETE) {
		*out_kind = WORK_RESTORED;
		return rcpt->is_cancelled ? EFFECT_DONE : rcpt->is_final ?
		    EFFECT_FINAL : EFFECT_UNCHANGED;
	}
	if (rcpt->is_final)
		return rcpt->is_cancelled && op == OP_DELETE ?
		    EFFECT_UNCHANGED : EFFECT_FINAL;
	switch (op) {
	case OP_HOLD:
		*out_kind = WORK_HELD;
		return EFFECT_DONE;
	case OP_RELEASE:
		*out_kind = WORK_RELEASED;
		return rcpt->is_held ? EFFECT_DONE : EFFECT_UNCHANGED;
	case OP_FREEZE:
		*out_kind = WORK_FROZEN;
		return rcpt->is_frozen ? EFFECT_UNCHANGED : EFFECT_DONE;
	case OP_THAW:
		*out_kind = WORK_THAWED;
		return rcpt->is_frozen ? EFFECT_DONE : EFFECT_UNCHANGED;
	case OP_DELETE:
		*out_kind = WORK_CANCELLED;
		return EFFECT_DONE;
	case OP_BOUNCE:
		*out_kind = WORK_OUTCOME;
		return is_active ? EFFECT_ACTIVE : EFFECT_DONE;
	default:
		*out_kind = WORK_RETRY_AT;
		return EFFECT_DONE;
	}
}

static void
record_add(struct change *change, const struct work_record *record)
{
	if (change->count == change->room) {
		change->room = change->room ? change->room * 2 : 16;
		change->records = mem_grow(change->records, change->room,
		    sizeof(*change->records));
	}
	change->records[change->count++] = *record;
}

static void
bounce_make(const struct act *act, const struct work_rcpt *rcpt,
    struct work_record *record)
{
	record->tries = rcpt->tries;
	verdict_set(&record->verdict, VERDICT_FAILED, "5.0.0", "scheduler",
	    "returned by the postmaster%s%s",
	    act->request.reason[0] != '\0' ? ": " : "", act->request.reason);
	event(EV_RCPT_FAIL, act->visit.work.id, "to", rcpt->user, "channel",
	    rcpt->channel, "host", rcpt->host, "code", SLICE("5.0.0"),
	    "reply", slice_of(record->verdict.text), "tries",
	    event_number(rcpt->tries), NULL);
}

static void
change_rcpt(struct act *act, const struct work_rcpt *rcpt,
    enum work_record_kind kind, struct change *change)
{
	const struct request *request = &act->request;
	struct work_record record = { .kind = kind,
	    .rcpt_offset = rcpt->offset, .time_s = act->visit.now_s };

	change->recipients++;
	if (request->is_dry)
		return;
	if (kind == WORK_OUTCOME) {
		bounce_make(act, rcpt, &record);
		record_add(change, &record);
		return;
	}
	strlcpy(record.verdict.who, act->by, sizeof(record.verdict.who));
	strlcpy(record.verdict.text, request->reason,
	    sizeof(record.verdict.text));
	if (request->op != OP_SCHEDULE) {
		record.next_s = kind == WORK_HELD ? request->until_s : 0;
		record_add(change, &record);
		return;
	}
	record.next_s = request->next_s;
	if (request->next_s > 0)
		record_add(change, &record);
	record.kind = WORK_EXPIRE_AT;
	record.next_s = request->expire_s;
	if (request->expire_s > 0)
		record_add(change, &record);
}

/* ---- one message ------------------------------------------------- */

static void
change_choose(struct act *act, struct change *change)
{
	struct visit *visit = &act->visit;

	for (size_t i = 0; i < visit->work.group_count; i++) {
		const struct work_group *group = &visit->work.groups[i];

		for (size_t k = 0; k < group->rcpt_count; k++) {
			const struct work_rcpt *rcpt = &group->rcpts[k];
			enum work_record_kind kind = WORK_OUTCOME;
			enum effect effect;

			if (!visit_is_meant(visit, group, rcpt))
				continue;
			effect = effect_of(act->request.op, rcpt,
			    visit_vertex(visit, rcpt->offset), &kind);
			act->count.unchanged += effect == EFFECT_UNCHANGED;
			act->count.active += effect == EFFECT_ACTIVE;
			act->count.final += effect == EFFECT_FINAL;
			if (effect == EFFECT_DONE)
				change_rcpt(act, rcpt, kind, change);
		}
	}
}

/* What changed is not given to an agent before the file is read again. */
static void
vertices_stop(struct act *act, const struct change *change)
{
	for (size_t i = 0; i < change->count; i++) {
		struct vertex *vertex = visit_vertex(&act->visit,
		    change->records[i].rcpt_offset);

		if (vertex != NULL && vertex->state != VERTEX_FLIGHT)
			plan_forget(&act->scheduler->plan, vertex);
	}
}

/* Who is returned goes no other way that is left. */
static void
outcomes_end(struct act *act, struct change *change)
{
	for (size_t i = 0; i < change->count; i++) {
		struct work_record *record = &change->records[i];
		const struct work_rcpt *rcpt = record->kind == WORK_OUTCOME ?
		    report_rcpt(&act->visit.work, record->rcpt_offset) : NULL;

		if (rcpt != NULL)
			record->rcpt_offset = work_rcpt_end_offset(rcpt);
	}
}

/* 0; -1 with err: perhaps some of it is written. */
static int
change_write(struct act *act, struct job *job, struct change *change,
    struct err *err)
{
	/* what is owed and could not be recorded must not be forgotten */
	if (kept_write(job, &act->visit.work, err) < 0)
		return -1;
	vertices_stop(act, change);
	outcomes_end(act, change);
	/* P4: records; synced with the batch */
	return work_append(job->control_fd, job->id, change->records,
	    change->count, err);
}

static void
change_count(struct act *act, const struct job *job,
    const struct change *change)
{
	const struct request *request = &act->request;

	if (change->recipients == 0)
		return;
	act->count.messages++;
	act->count.recipients += change->recipients;
	if (request->is_dry)
		return;
	event(EV_MESSAGE_ORDERED, job->id, "op",
	    slice_of(request_rows[request->op].name), "by",
	    slice_of(act->by), "reason", slice_of(request->reason), "until",
	    event_number(request->until_s), "rcpts",
	    event_number((int64_t)change->recipients), NULL);
}

void
act_rest(struct job *job)
{
	if (job->flight_count == 0 && job->unsent == 0 && !(job->flags &
	    (JOB_DIRTY | JOB_REPORT | JOB_FRESH)))
		job_close(job);
}

static int
change_message(struct act *act, struct job *job, struct batch *batch,
    struct err *err)
{
	struct change change = { 0 };
	int result = 0;

	change_choose(act, &change);
	if (change.count > 0) {
		result = change_write(act, job, &change, err);
		batch->inodes[batch->count] = job->inode;
		batch->fds[batch->count++] = job->control_fd;
	} else {
		act_rest(job);
	}
	if (result == 0)
		change_count(act, job, &change);
	mem_free(&change.records);
	return result;
}

/* ---- a batch ----------------------------------------------------- */

/* Build the jobs anew from what their files say now. */
static void
batch_settle(struct scheduler *scheduler, const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct job *job = job_table_find(&scheduler->jobs,
		    batch->inodes[i]);

		if (job == NULL)
			continue;
		if (job->flight_count > 0)
			job->flags |= JOB_RELOAD;
		else
			intake_again(scheduler, job);
	}
}

static int
batch_end(struct act *act, struct batch *batch, int result, struct err *err)
{
	struct err sync_err;

	if (batch->count > 0 && spool_barrier(act->scheduler->spool, NULL, 0,
	    batch->fds, batch->count, &sync_err) < 0 && result == 0) {
		*err = sync_err;
		result = -1;
	}
	batch_settle(act->scheduler, batch);
	return result;
}

/* A step's worth.  0; -1 with err. */
static int
batch_do(struct act *act, struct err *err)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES;
	struct batch batch = { .count = 0 };
	struct job *job;
	int result = 0;

	while (result == 0 && files-- > 0 && !act_is_full(act)) {
		job = visit_next(&act->visit, &looks);
		if (job == NULL)
			break;
		if (visit_open(&act->visit, job, !act->request.is_dry) == 1)
			result = change_message(act, job, &batch, err);
	}
	return batch_end(act, &batch, result, err);
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

	if (!act_begin(act, out, &step))
		return step;
	if (batch_do(act, &err) < 0)
		return act_trouble(act, &err, out);
	if (act_is_full(act))
		act->has_more = act->visit.count > 0;
	else if (act->visit.count > 0)
		return ACT_MORE;
	/* another's mail looks like none */
	if ((act->visit.known == 0 || act_user(act) != NULL) &&
	    act->request.id_count > 0 &&
	    act->count.messages + act->count.unchanged + act->count.active +
	    act->count.final + act->count.conflict == 0) {
		act_refuse(out, act->request.tag, "no-such",
		    "no such message is in the queue");
		return ACT_DONE;
	}
	return change_end(act, out);
}
