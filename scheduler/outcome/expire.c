/* expire.c - recipients whose time is over get their last outcome
 *
 * In     a job with expired vertices, its control file as it is now
 * Out    `failed` (or `frozen`) records, new messages (reroute), events;
 *        vertices that are done
 * Holds  nothing
 * Trusts the file more than memory: who is final there stays so
 * Spec   RFC 3463 section 3.5: X.4.7 delivery time expired
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/outcome/resend.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/outcome/expire.h"
#include "scheduler/outcome/outcome.h"

#include "base/banned.h"

void
expire_verdict(const struct control_rcpt *rcpt, int64_t age_s,
    struct verdict *out)
{
	char span[CLOCK_TEXT_BYTES];

	clock_span(age_s, span);
	if (rcpt->last == NULL)
		verdict_set(out, VERDICT_FAILED, "5.4.7", "scheduler",
		    "delivery time expired after %s; the host could not be "
		    "reached", span);
	else
		verdict_set(out, VERDICT_FAILED, "5.4.7",
		    rcpt->last->verdict.who,
		    "delivery time expired after %s and %u attempts; "
		    "last: %s", span, rcpt->tries, rcpt->last->verdict.text);
}

/* A rule said that this is no case for another try: the other side's words
 * and its status, which is final now. */
static void
expire_end_verdict(const struct control_rcpt *rcpt, struct verdict *out)
{
	const struct verdict *last = rcpt->last ? &rcpt->last->verdict : NULL;
	char status[sizeof(out->status)] = "5.0.0";

	if (last != NULL && last->status[0] != '\0') {
		strlcpy(status, last->status, sizeof(status));
		status[0] = '5';
	}
	verdict_set(out, VERDICT_FAILED, status, last ? last->who :
	    "scheduler", "%s (no further attempt after %u, by rule)",
	    last ? last->text : "", rcpt->tries);
}

/* is_last: its time is over whatever ways are left. */
static void
expire_rcpt(const struct job *job, const struct control_rcpt *rcpt,
    bool has_ended, bool is_last, struct control_record *record)
{
	int64_t age_s = (clock_steady_ms() - job->born_ms) / 1000;

	*record = (struct control_record){ .kind = RECORD_OUTCOME,
	    .rcpt_offset = is_last ? control_rcpt_end_offset(rcpt) :
	    rcpt->offset, .time_s = clock_wall_s(), .tries = rcpt->tries };
	if (has_ended)
		expire_end_verdict(rcpt, &record->verdict);
	else
		expire_verdict(rcpt, age_s, &record->verdict);
	event(EV_RCPT_FAIL, job->id, "to", rcpt->user,
	    "orcpt", rcpt->orcpt, "channel",
	    rcpt->channel, "host", rcpt->host, "code",
	    slice_of(record->verdict.status),
	    "reply", slice_of(record->verdict.text), "delay",
	    event_number(age_s), "tries", event_number(rcpt->tries), NULL);
}

static bool
expire_is_meant(const struct vertex *vertex, const struct rcpt *rcpt)
{
	return !(rcpt->flags & RCPT_FINAL) &&
	    (vertex->is_expired || (rcpt->flags & RCPT_ENDED));
}

/* Those meant go their next way as soon as the file is read again. */
static void
expire_move(struct outcome *outcome, struct vertex *vertex)
{
	struct rcpt *rcpts = vertex_rcpts(vertex);

	for (size_t i = 0; i < vertex->rcpt_count; i++)
		if (expire_is_meant(vertex, &rcpts[i]))
			outcome_move(vertex, &rcpts[i]);
	vertex->is_expired = vertex->has_ended = false;
	plan_forget(&outcome->queue->plan, vertex);
}

static void
expire_done(struct outcome *outcome, struct vertex *vertex)
{
	struct job *job = vertex->job;
	struct rcpt *rcpts = vertex_rcpts(vertex);

	if (vertex->has_ways && !vertex->is_strict) {
		expire_move(outcome, vertex);
		return;
	}
	for (size_t i = 0; i < vertex->rcpt_count; i++) {
		if (!expire_is_meant(vertex, &rcpts[i]))
			continue;
		rcpts[i].flags |= RCPT_FINAL;
		vertex->final_count++;
		job->final_count++;
		job->failed_count++;
		outcome->queue->total.failed++;
	}
	vertex->is_expired = vertex->has_ended = false;
	job->flags |= JOB_OWES;
	if (vertex->final_count == vertex->rcpt_count)
		plan_done(&outcome->queue->plan, vertex);
	else
		outcome_again(outcome, vertex);
}

/* P4: records, synced with the group.  returns 0 or -1. */
static int
expire_add_records(struct outcome *outcome, struct job *job,
    const struct control_record *records, size_t count, struct err *err)
{
	if (count > 0 && control_file_append(job->control_fd, job->id, records,
	    count, err) < 0)
		return -1;
	job_written(&outcome->queue->jobs, job);
	group_dirty(outcome->group, job);
	return 0;
}

/* The vertex's next recipient (*at from 0) that the file does not call
 * final; *out_own is memory's.  NULL: there is none any more. */
static const struct control_rcpt *
expire_next_rcpt(const struct vertex *vertex,
    const struct control_file *control,
    size_t *at, struct rcpt **out_own)
{
	while (*at < vertex->rcpt_count) {
		const struct control_rcpt *rcpt;

		*out_own = &vertex_rcpts(vertex)[(*at)++];
		rcpt = control_rcpt_at(control, (*out_own)->offset);
		if (rcpt != NULL && !rcpt->is_final)
			return rcpt;
	}
	return NULL;
}

static int
expire_vertex(struct outcome *outcome, struct vertex *vertex,
    const struct control_file *control, struct err *err)
{
	struct control_record records[VERTEX_RCPTS_MAX];
	struct job *job = vertex->job;
	const struct control_rcpt *rcpt;
	size_t at = 0, count = 0;
	struct rcpt *own;

	while ((rcpt = expire_next_rcpt(vertex, control, &at, &own)) != NULL)
		if (expire_is_meant(vertex, own))
			expire_rcpt(job, rcpt, (own->flags & RCPT_ENDED) != 0,
			    vertex->is_strict, &records[count++]);
	if (expire_add_records(outcome, job, records, count, err) < 0)
		return -1;
	expire_done(outcome, vertex);
	return 0;
}

/* ---- on-exhaust freeze ------------------------------------------- */

static bool
expire_freezes(const struct vertex *vertex)
{
	return vertex->is_expired && !vertex->is_strict &&
	    !vertex->has_ways &&
	    vertex->thread->ring->clause.exhaust == EXHAUST_FREEZE;
}

static void
expire_freeze_rcpt(const struct control_rcpt *rcpt,
    struct control_record *record)
{
	*record = (struct control_record){ .kind = RECORD_FROZEN,
	    .rcpt_offset = rcpt->offset, .time_s = clock_wall_s(),
	    .tries = rcpt->tries };
	verdict_set(&record->verdict, VERDICT_DEFERRED, NULL, "scheduler",
	    "retries are exhausted after %u attempts", rcpt->tries);
}

/* Instead of the last outcome: it stays as it is until somebody thaws it.
 * What a rule has ended is not kept. */
static int
expire_freeze_vertex(struct outcome *outcome, struct vertex *vertex,
    const struct control_file *control, struct err *err)
{
	struct control_record records[VERTEX_RCPTS_MAX];
	struct job *job = vertex->job;
	const struct control_rcpt *rcpt;
	size_t at = 0, count = 0;
	struct rcpt *own;

	while ((rcpt = expire_next_rcpt(vertex, control, &at, &own)) != NULL)
		if (!(own->flags & (RCPT_FINAL | RCPT_ENDED)))
			expire_freeze_rcpt(rcpt, &records[count++]);
	if (expire_add_records(outcome, job, records, count, err) < 0)
		return -1;
	event(EV_MESSAGE_ORDERED, job->id, "op", SLICE("freeze"), "by",
	    SLICE("scheduler"), "reason", SLICE("retries are exhausted"),
	    "rcpts", event_number((int64_t)count), NULL);
	vertex->is_expired = false;
	vertex->park = PARK_FROZEN;
	plan_park(&outcome->queue->plan, vertex);
	return 0;
}

/* ---- on-exhaust reroute ------------------------------------------ */

/* Once in a message's life. */
static bool
expire_reroutes(const struct vertex *vertex, const struct control_file *control)
{
	return vertex->is_expired && !vertex->is_strict &&
	    !control->terms.is_rerouted &&
	    vertex->thread->ring->clause.exhaust == EXHAUST_REROUTE;
}

/* What a rule has ended fails; what has no address, too. */
static void
expire_add_resend(struct resend *those, const struct vertex *vertex,
    const struct control_file *control)
{
	const struct control_rcpt *rcpt;
	struct rcpt *own;
	size_t at = 0;

	while ((rcpt = expire_next_rcpt(vertex, control, &at, &own)) != NULL) {
		size_t n = those->count;

		if ((own->flags & (RCPT_FINAL | RCPT_ENDED)) ||
		    !resend_is_address(rcpt->user))
			continue;
		own->flags |= RCPT_RESENT;
		those->groups[n] = control_group_at(control, rcpt->offset);
		those->rcpts[n] = rcpt;
		those->count++;
	}
}

static void
expire_tell_resent(void *context, const struct job *job, size_t count,
    const char *as)
{
	event(EV_MESSAGE_ORDERED, job->id, "op", SLICE("reroute"), "by",
	    SLICE("scheduler"), "reason", SLICE("retries are exhausted"),
	    "rcpts", event_number((int64_t)count), "as", slice_of(as), NULL);
}

/* They are final here; or, after trouble, as they were. */
static void
expire_resent_vertex(struct outcome *outcome, struct vertex *vertex,
    bool is_done)
{
	struct rcpt *rcpts = vertex_rcpts(vertex);

	for (size_t i = 0; i < vertex->rcpt_count; i++) {
		if (!(rcpts[i].flags & RCPT_RESENT))
			continue;
		rcpts[i].flags &= (uint8_t)~RCPT_RESENT;
		if (!is_done)
			continue;
		rcpts[i].flags |= RCPT_FINAL;
		vertex->final_count++;
		vertex->job->final_count++;
	}
	if (is_done && vertex->is_expired &&
	    vertex->final_count == vertex->rcpt_count) {
		vertex->is_expired = vertex->has_ended = false;
		plan_done(&outcome->queue->plan, vertex);
	}
}

/* Vertices from first to end. */
struct expire_span {
	size_t	first, end;
};

/* The next ones, with about most recipients who go elsewhere; *out_count:
 * so many. */
static struct expire_span
expire_next_span(const struct job *job, const struct control_file *control,
    size_t first, size_t most, size_t *out_count)
{
	struct expire_span span = { first, first };

	for (*out_count = 0; span.end < job->vertex_count &&
	    *out_count < most; span.end++)
		if (expire_reroutes(&job->vertices[span.end], control))
			*out_count += job->vertices[span.end].rcpt_count;
	return span;
}

static int
expire_reroute_some(struct outcome *outcome, struct job *job,
    const struct control_file *control, struct expire_span span,
    size_t count, struct err *err)
{
	struct resend those;
	int result = 0;

	resend_init(&those, count);
	those.is_exhausted = true;
	for (size_t i = span.first; i < span.end; i++)
		if (expire_reroutes(&job->vertices[i], control))
			expire_add_resend(&those, &job->vertices[i], control);
	if (those.count > 0)
		result = resend(outcome->queue->spool, job, &those,
		    expire_tell_resent, NULL, err);
	job_written(&outcome->queue->jobs, job);
	for (size_t i = span.first; i < span.end && those.count > 0; i++)
		expire_resent_vertex(outcome, &job->vertices[i], result == 0);
	if (result == 0 && those.count > 0) {
		job->flags |= JOB_OWES;
		group_dirty(outcome->group, job);
	}
	resend_release(&those);
	return result;
}

static int
expire_write_vertex(struct outcome *outcome, struct vertex *vertex,
    const struct control_file *control, struct err *err)
{
	if (expire_freezes(vertex)) {
		/* ended ones fail first; then the rest is all there is */
		vertex->is_expired = false;
		if (vertex->has_ended &&
		    expire_vertex(outcome, vertex, control, err) < 0)
			return -1;
		vertex->is_expired = true;
		if (vertex->state == VERTEX_DONE)
			return 0;
		plan_forget(&outcome->queue->plan, vertex);
		return expire_freeze_vertex(outcome, vertex, control, err);
	}
	return expire_vertex(outcome, vertex, control, err);
}

/* What an order has changed since they expired is spared: the file is read
 * again when the order ends, and who is not held, deleted or returned by then
 * expires once more. */
static void
expire_spare_ordered(struct job *job)
{
	for (size_t i = 0; i < job->vertex_count; i++)
		if (job->vertices[i].is_stopped)
			job->vertices[i].is_expired =
			    job->vertices[i].has_ended = false;
}

/* All who go elsewhere do so before any of the others fails. */
int
expire_some(struct outcome *outcome, struct job *job,
    const struct control_file *control, struct expire_walk *walk,
    size_t most, bool *wrote, struct err *err)
{
	struct expire_span span;
	size_t done = 0, count;

	expire_spare_ordered(job);
	if (walk->resent < job->vertex_count) {
		span = expire_next_span(job, control, walk->resent, most,
		    &count);
		if (count > 0 && expire_reroute_some(outcome, job, control,
		    span, count, err) < 0)
			return -1;
		*wrote |= count > 0;
		walk->resent = span.end;
		return 0;
	}
	for (; walk->next < job->vertex_count && done < most; walk->next++) {
		struct vertex *vertex = &job->vertices[walk->next];

		if (!vertex->is_expired && !vertex->has_ended)
			continue;
		done += vertex->rcpt_count;
		if (expire_write_vertex(outcome, vertex, control, err) < 0)
			return -1;
		*wrote = true;
	}
	walk->is_over = walk->next == job->vertex_count;
	return 0;
}

int
expire_write(struct outcome *outcome, struct job *job,
    const struct control_file *control, bool *wrote, struct err *err)
{
	struct expire_walk walk = { 0 };

	while (!walk.is_over)
		if (expire_some(outcome, job, control, &walk, SIZE_MAX, wrote,
		    err) < 0)
			return -1;
	return 0;
}
