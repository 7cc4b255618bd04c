/* outcome.c - what an answer, a silence or an expiry does to the queue
 *
 * In     checked answers, due moments
 * Out    vertices back in the plan, jobs to the reporter or the group
 * Holds  nothing of its own
 * Trusts the answer's recipient to be of this vertex (agents.c looked)
 * Spec   doc/INTERNALS.md rows P4, F0; doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "base/clock.h"
#include "journal/event.h"
#include "mail/control_file/control_file.h"
#include "scheduler/intake/intake.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/jobs/pending.h"
#include "scheduler/outcome/amend.h"
#include "scheduler/outcome/outcome.h"
#include "scheduler/outcome/results.h"
#include "scheduler/outcome/rules.h"
#include "scheduler/plan/arrivals/estimate.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/retry.h"

#include "base/banned.h"

enum { DUE_TURN_US = 5000 };	/* for moments that have come, in a turn */

enum { SWEEPS = 15 };		/* calls of outcome_sweep that see all jobs */

/* ---- answers ----------------------------------------------------- */

/* Does a client wait for what becomes of it? */
static void
outcome_tell(struct outcome *outcome, struct job *job,
    const struct answer *answer)
{
	struct hearers *hearers = &outcome->queue->hearers;
	struct hearer *hearer = hearers_find(hearers, job->id);

	if (answer->verdict == VERDICT_FAILED &&
	    outcome->queue->conf->keep_failed_ms > 0) {
		queue_tell_later(outcome->queue, job,
		    SLICE("what fails is kept"));
		return;
	}
	if (hearer != NULL)
		hearer_outcome(hearers, hearer, answer, job->rcpt_total);
	if (hearer == NULL || hearer->verdict == HEARER_DELIVERED ||
	    hearer->verdict == HEARER_QUEUED)
		job->flags &= (uint16_t)~JOB_AWAITED;
}

/* It has the message: how long that took. */
static void
outcome_arrived(struct queue *queue, const struct vertex *vertex,
    const struct rcpt *rcpt)
{
	int64_t now_ms = clock_steady_ms();

	estimate_arrived(queue, vertex, now_ms);
	if (!vertex->is_apart)
		objectives_arrived(&queue->objectives, rcpt->objective,
		    now_ms - vertex->job->born_ms, vertex->tries > 0,
		    clock_wall_s());
}

static void
outcome_final(struct outcome *outcome, struct vertex *vertex,
    struct rcpt *rcpt, const struct answer *answer)
{
	enum verdict_kind kind = answer->verdict;
	struct job *job = vertex->job;

	rcpt->flags |= RCPT_FINAL;
	vertex->final_count++;
	job->final_count++;
	if (kind == VERDICT_FAILED) {
		job->failed_count++;
		outcome->queue->total.failed++;
	} else {
		outcome->queue->total.delivered++;
		if (kind != VERDICT_EXPANDED)
			outcome_arrived(outcome->queue, vertex, rcpt);
	}
	if (job->flags & JOB_AWAITED)
		outcome_tell(outcome, job, answer);
	if (!job_owes(rcpt->notify, kind) && !(kind == VERDICT_FAILED &&
	    outcome->queue->conf->keep_failed_ms > 0))
		return;
	job->flags |= JOB_OWES;
	pending_add(job, answer, vertex->tries + 1u);
}

void
outcome_move(struct vertex *vertex, const struct rcpt *rcpt)
{
	event(EV_RCPT_NEXT, vertex->job->id, "channel",
	    slice_of(vertex->thread->channel), "host",
	    slice_of(vertex->thread->host), "offset",
	    event_number(rcpt->offset), NULL);
	vertex->has_moved = true;
	vertex->job->flags |= JOB_RELOAD;
}

static bool
vertex_is_optional(const struct vertex *vertex)
{
	return (vertex->job->flags & JOB_TLS_OPTIONAL) != 0;
}

/* Somebody at the vertex's destination was served.  Who does without TLS does
 * not show that those who may not would be. */
static void
thread_good(struct outcome *outcome, struct vertex *vertex)
{
	if (vertex_is_optional(vertex) &&
	    thread_spares_optional(vertex->thread))
		return;
	plan_success(&outcome->queue->plan, vertex->thread, vertex->moment_ms,
	    clock_steady_ms());
	provider_good(vertex->thread, vertex->moment_ms);
}

/* What a deferral says about the host: too much, too fast. */
static void
thread_heard(struct vertex *vertex, const struct answer *answer,
    const struct mail_finding *finding)
{
	struct thread *thread = vertex->thread;
	int64_t now_ms = clock_steady_ms();

	if (finding->scope < SCOPE_HOST)
		return;
	thread_keep_reason(thread, answer);
	if (finding->class != CLASS_RATE &&
	    finding->class != CLASS_CONNECTIONS &&
	    finding->class != CLASS_BUSY && finding->class != CLASS_QUOTA)
		return;
	if (finding->scope == SCOPE_PROVIDER)
		provider_less(thread, vertex->moment_ms, now_ms);
	if (!answer->host_trouble)	/* else plan_trouble does it */
		(void)pace_less(thread, vertex->moment_ms, now_ms);
	if (finding->class == CLASS_RATE)
		pace_slow(thread, vertex->moment_ms, now_ms);
}

void
outcome_answer(struct outcome *outcome, struct vertex *vertex,
    struct rcpt *rcpt, const struct answer *answer)
{
	struct thread *thread = vertex->thread;
	struct mail_finding finding;
	int64_t next_ms;

	rcpt->flags |= RCPT_ANSWERED;
	vertex->unanswered--;
	if (answer->verdict == VERDICT_FAILED && vertex->has_ways) {
		outcome_move(vertex, rcpt);
	} else if (verdict_is_final(answer->verdict)) {
		outcome_final(outcome, vertex, rcpt, answer);
	}
	if (verdict_is_final(answer->verdict)) {
		/* a refusal, too, shows that the host is there */
		if (answer->verdict != VERDICT_FAILED ||
		    thread->trouble_count > 0)
			thread_good(outcome, vertex);
		if (answer->verdict == VERDICT_FAILED)
			rules_failed(outcome->queue, vertex, answer);
		return;
	}
	outcome->queue->total.deferred++;
	rules_classify(answer, &finding);
	thread_heard(vertex, answer, &finding);
	if (answer->has_next) {
		next_ms = clock_steady_ms() +
		    retry_explicit_ms(answer->next_s);
		if (vertex->next_ms == 0 || next_ms < vertex->next_ms)
			vertex->next_ms = next_ms;
	} else {
		rules_deferred(outcome->queue, vertex, rcpt, answer,
		    finding.class);
	}
	if (answer->host_trouble) {
		vertex->met_trouble = true;
		thread->is_by_tls = finding.class == CLASS_TLS &&
		    !vertex_is_optional(vertex);
		thread_keep_reason(thread, answer);
	} else if (thread->trouble_count > 0) {
		thread_good(outcome, vertex);
	}
}

/* ---- expiry, notices, retries ------------------------------------ */

/* Old enough to be given up?  Then it waits for the reporter. */
static bool
vertex_expire(struct outcome *outcome, struct vertex *vertex,
    int64_t now_ms)
{
	const struct conf_schedule *clause = &vertex->thread->ring->clause;
	int64_t age_ms = now_ms - vertex->job->born_ms;
	int64_t expire_s = vertex_expire_s(vertex);

	if (!(vertex->is_strict && age_ms / 1000 >= expire_s) &&
	    !retry_is_over(age_ms, expire_s, vertex->tries,
	    vertex->was_tried) &&
	    !(vertex->was_tried && retry_is_exhausted(clause,
	    vertex->tries)) &&
	    !retry_is_untried_over(age_ms, expire_s,
	    clause->untried_s, now_ms - outcome->queue->started_ms))
		return false;
	plan_forget(&outcome->queue->plan, vertex);
	vertex->is_expired = true;
	settle_report(outcome->queue, vertex->job);
	return true;
}

static void
vertex_notice(struct outcome *outcome, struct vertex *vertex,
    int64_t now_ms)
{
	unsigned due = queue_notices_due(vertex->job,
	    &vertex->thread->ring->clause, now_ms - vertex->job->born_ms);

	if ((vertex->tries == 0 && vertex->job->by_s == 0) ||
	    due <= vertex->notices)
		return;
	vertex->notices = (uint8_t)due;
	vertex->job->flags |= JOB_NOTICE;
	settle_report(outcome->queue, vertex->job);
}

/* Nobody at the host can be served: all that is ready counts as tried, but
 * for the one whose own attempt told us, which is counted already, and those
 * that the trouble is not about. */
static void
thread_tried(struct outcome *outcome, struct thread *thread,
    const struct vertex *teller, int64_t now_ms)
{
	size_t count = thread->ready_count;
	struct vertex **ready = mem_alloc(count + 1, sizeof(struct vertex *));

	lanes_list(thread, ready);
	for (size_t i = 0; i < count; i++) {
		struct vertex *vertex = ready[i];

		if (thread->is_by_tls && vertex_is_optional(vertex))
			continue;
		vertex->was_tried = true;
		queue_tell_later(outcome->queue, vertex->job,
		    SLICE("its destination is in trouble"));
		if (vertex != teller && vertex->tries < UINT16_MAX)
			vertex->tries++;
		if (!vertex_expire(outcome, vertex, now_ms))
			vertex_notice(outcome, vertex, now_ms);
	}
	mem_free(&ready);
}

/* False: others are served there, so this one waits by itself. */
static bool
thread_trouble(struct outcome *outcome, struct vertex *teller,
    int64_t begun_ms, int64_t next_ms, int64_t now_ms)
{
	struct thread *thread = teller->thread;
	const struct conf_schedule *clause = &thread->ring->clause;
	int64_t delay_ms = next_ms > now_ms ? next_ms - now_ms :
	    retry_delay_ms(retry_waits_of(clause), thread->trouble_count + 1,
	    arc4random());

	switch (plan_trouble(&outcome->queue->plan, thread, begun_ms,
	    now_ms, delay_ms)) {
	case PLAN_TROUBLE_OLD:
		return true;
	case PLAN_TROUBLE_LESS:
		return false;
	case PLAN_TROUBLE_DOWN:
		break;
	}
	event(EV_HOST_DOWN, NULL, "channel", slice_of(thread->channel),
	    "host", slice_of(thread->host), "reason",
	    slice_of(thread->reason ? thread->reason : ""), "until",
	    event_number(clock_wall_of_s(thread->wake_ms)), NULL);
	thread_tried(outcome, thread, teller, now_ms);
	plan_wake_optional(&outcome->queue->plan, thread);
	return true;
}

/* Deferred: back among the ready when its thread is held (it goes with the
 * thread then), else it waits for its own moment. */
static void
vertex_later(struct outcome *outcome, struct vertex *vertex,
    int64_t now_ms)
{
	const struct conf_schedule *clause = &vertex->thread->ring->clause;
	int64_t next_ms = vertex->next_ms;
	int64_t planned_ms = (int64_t)vertex->planned_s * 1000;

	queue_tell_later(outcome->queue, vertex->job,
	    SLICE("it was deferred"));
	group_dirty(outcome->group, vertex->job);
	if (vertex_expire(outcome, vertex, now_ms))
		return;
	if (vertex->has_ended) {
		plan_forget(&outcome->queue->plan, vertex);
		settle_report(outcome->queue, vertex->job);
		return;
	}
	if (vertex->met_trouble) {
		int64_t begun_ms = vertex->moment_ms;

		plan_ready(&outcome->queue->plan, vertex);
		if (thread_trouble(outcome, vertex, begun_ms, next_ms,
		    now_ms))
			return;
	}
	vertex_notice(outcome, vertex, now_ms);
	if (next_ms == 0)
		next_ms = now_ms + retry_delay_ms(retry_waits_of(clause),
		    vertex->tries, arc4random());
	if (planned_ms > now_ms && planned_ms < next_ms)
		next_ms = planned_ms;
	vertex->planned_s = 0;
	queue_wait(outcome->queue, vertex, next_ms);
}

void
outcome_again(struct outcome *outcome, struct vertex *vertex)
{
	vertex_later(outcome, vertex, clock_steady_ms());
}

void
outcome_vertex(struct outcome *outcome, struct vertex *vertex)
{
	struct job *job = vertex->job;

	vertex->was_tried = true;
	if (vertex->tries < UINT16_MAX)
		vertex->tries++;
	if (vertex->has_moved) {
		group_dirty(outcome->group, job);
		plan_forget(&outcome->queue->plan, vertex);
	} else if (vertex->final_count == vertex->rcpt_count) {
		plan_done(&outcome->queue->plan, vertex);
	} else {
		vertex_later(outcome, vertex, clock_steady_ms());
	}
	if ((job->flags & JOB_RELOAD) && job->flight_count == 0) {
		intake_reload(outcome->intake, job);
		return;
	}
	if (job->final_count == job->rcpt_count || (job->flags & JOB_OWES))
		settle_job(outcome->group, job);
	else
		job_rest(job);
}

/* ---- what came back ---------------------------------------------- */

int
outcome_write_lost(struct vertex *vertex, const struct control_file *control,
    const char *reason, struct err *err)
{
	struct control_record records[VERTEX_RCPTS_MAX];
	struct rcpt *rcpts = vertex_rcpts(vertex);
	size_t count = 0;

	for (size_t i = 0; i < vertex->rcpt_count; i++) {
		const struct control_rcpt *now = control_rcpt_at(control,
		    rcpts[i].offset);
		struct control_record *record = &records[count];

		if (now == NULL || now->is_final ||
		    (rcpts[i].flags & RCPT_FINAL) ||
		    now->tries > vertex->tries)
			continue;
		*record = (struct control_record){ .kind = RECORD_OUTCOME,
		    .rcpt_offset = rcpts[i].offset,
		    .time_s = clock_wall_s(), .tries = vertex->tries + 1u };
		verdict_set(&record->verdict, VERDICT_DEFERRED, "4.3.0",
		    "scheduler", "%s", reason);
		count++;
	}
	return control_file_append(vertex->job->control_fd, vertex->job->id,
	    records, count, err);
}

/* The agent died at this vertex.  Say so in the file for the recipients that
 * have no newer record, so that a message that kills its agents is counted
 * and expires in the end. */
static void
outcome_record_lost(struct outcome *outcome, struct vertex *vertex,
    const char *reason)
{
	struct control_file control;
	struct err err;

	if (intake_job_read(outcome->intake, vertex->job, &control, &err) !=
	    INTAKE_READ)
		return;
	if (outcome_write_lost(vertex, &control, reason, &err) < 0)
		event(EV_SPOOL_TROUBLE, vertex->job->id, "call",
		    SLICE("append"), "reason", slice_of(err.text), NULL);
}

void
outcome_lost(struct outcome *outcome, struct vertex *vertex,
    bool is_blamed, const char *reason)
{
	struct job *job = vertex->job;
	bool is_amended = is_blamed && amend_is_due(outcome, job);

	queue_tell_later(outcome->queue, job,
	    SLICE("its transport agent ended"));
	if (is_amended)
		amend_lost(outcome, vertex, reason);
	else if (is_blamed)
		outcome_record_lost(outcome, vertex, reason);
	plan_forget(&outcome->queue->plan, vertex);
	job->flags |= JOB_RELOAD;
	if (job->flight_count == 0)
		intake_reload(outcome->intake, job);
}

/* Ready, or waiting for a first attempt that may be weeks away (queue-only);
 * a hold with an end waits, too. */
static bool
vertex_is_for_sweep(const struct vertex *vertex)
{
	return vertex->state == VERTEX_READY ||
	    (vertex->state == VERTEX_WAIT && vertex->tries == 0 &&
	    vertex->park == PARK_NONE);
}

/* Mail that is not fed (its destination is held or suspended, or only asked
 * for) has no moment of its own for its end: look at some of it each minute. */
void
outcome_sweep(struct outcome *outcome, int64_t now_ms)
{
	size_t looks = outcome->queue->jobs.now.size / SWEEPS + 1;
	struct job *job;

	while (looks-- > 0) {
		job = job_table_next(&outcome->queue->jobs,
		    &outcome->sweep_cursor);
		if (job == NULL) {
			outcome->sweep_cursor = 0;
			return;
		}
		for (size_t i = 0; i < job->vertex_count; i++)
			if (vertex_is_for_sweep(&job->vertices[i]))
				vertex_expire(outcome, &job->vertices[i],
				    now_ms);
	}
}

/* ---- jobs, moments ----------------------------------------------- */

static void
vertex_due(struct outcome *outcome, struct vertex *vertex,
    int64_t now_ms)
{
	int64_t next_ms = vertex->next_ms;

	if (vertex->park == PARK_ASKED) {
		results_late(outcome->results, outcome->queue, vertex);
		return;
	}
	vertex->park = PARK_NONE;	/* a hold is over */
	if (vertex_expire(outcome, vertex, now_ms))
		return;
	vertex_notice(outcome, vertex, now_ms);
	if (next_ms > now_ms) {		/* it was only the notice's time */
		queue_wait(outcome->queue, vertex, next_ms);
		return;
	}
	plan_ready(&outcome->queue->plan, vertex);
	if (vertex_is_optional(vertex))
		plan_wake_optional(&outcome->queue->plan, vertex->thread);
}

int64_t
outcome_due(struct outcome *outcome, int64_t now_ms)
{
	int64_t end_us = loop_share_end_us(outcome->queue->loop, DUE_TURN_US);
	struct vertex *vertex;

	while ((vertex = plan_due(&outcome->queue->plan, now_ms)) != NULL) {
		vertex_due(outcome, vertex, now_ms);
		if (clock_real_us() >= end_us)
			break;
	}
	while (plan_unhold(&outcome->queue->plan, now_ms) != NULL)
		;
	while (plan_unpace(&outcome->queue->plan, now_ms) != NULL)
		;
	return plan_next_ms(&outcome->queue->plan);
}
