/* retry.c - try now, at a pace
 *
 * In     a choice of mail
 * Out    vertices that are due, destinations that are probed
 * Holds  the message that is open over several steps
 * Spec   doc/protocol/control.md sections 5 and 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

/* ---- one vertex -------------------------------------------------- */

/* When the next one is due, so that so many a second are, from the first
 * step on or from a moment that was given. */
static int64_t
retry_due_ms(struct act *act)
{
	int64_t now_ms = act->visit.now_ms;
	int64_t later_ms = (act->request.next_s - act->visit.now_s) * 1000;

	if (act->request.per_second == 0)
		return now_ms;
	if (act->begun_ms == 0)
		act->begun_ms = act->request.next_s > 0 && later_ms > 0 ?
		    now_ms + later_ms : now_ms;
	return act->begun_ms + (int64_t)act->paced * 1000 /
	    act->request.per_second;
}

static void
retry_kick_vertex(struct act *act, struct vertex *vertex)
{
	struct planner *plan = &act->queue->plan;
	int64_t at_ms = retry_due_ms(act);

	if (act->request.is_dry)
		return;
	act_hasten(vertex);
	if (at_ms <= act->visit.now_ms)
		plan_ready(plan, vertex);
	else if (at_ms < vertex->moment_ms)
		plan_wait(plan, vertex, at_ms);
	act->paced++;
	if (at_ms > act->until_ms)
		act->until_ms = at_ms;
}

/* A destination that is down is probed: one vertex shows whether it is up,
 * for all that are ready there.  True: it is, or was told to be before. */
static bool
retry_kick_thread(struct act *act, struct thread *thread)
{
	int64_t at_ms = retry_due_ms(act);

	if (thread->is_suspended)
		return false;
	if (thread->wake_ms == 0 || thread->planned_ms != 0)
		return thread->planned_ms != 0;
	if (act->request.is_dry)
		return true;
	if (at_ms <= act->visit.now_ms)
		plan_wake(&act->queue->plan, thread);
	else if (!plan_wake_at(&act->queue->plan, thread, at_ms))
		return false;
	act->paced++;
	act->count.destinations++;
	if (at_ms > act->until_ms)
		act->until_ms = at_ms;
	return true;
}

/* Recipients of it that are due now, which were not. */
static uint64_t
vertex_retry(struct act *act, struct vertex *vertex)
{
	uint64_t open = vertex->rcpt_count - vertex->final_count;

	switch ((enum vertex_state)vertex->state) {
	case VERTEX_WAIT:
		if (vertex->park == PARK_HELD)
			break;
		retry_kick_vertex(act, vertex);
		(void)retry_kick_thread(act, vertex->thread);
		return open;
	case VERTEX_READY:
		if (retry_kick_thread(act, vertex->thread))
			return open;
		break;
	case VERTEX_FLIGHT:
	case VERTEX_IDLE:	/* it moves, or will be read again */
		act->count.active += open;
		return 0;
	default:
		break;
	}
	act->count.unchanged += open;
	return 0;
}

/* ---- messages ---------------------------------------------------- */

/* Of the open message: a flag a vertex, true when one of its recipients is
 * meant.  False: there are more recipients than this step may look at. */
static bool
retry_find_meant(struct act *act, unsigned *budget)
{
	const struct control_visit *visit = &act->visit;
	const struct control_group *group;
	const struct control_rcpt *rcpt;

	while ((rcpt = act_rcpt_next(act, &group, budget)) != NULL) {
		const struct vertex *vertex = visit_vertex(visit,
		    rcpt->offset);
		bool *flag = vertex == NULL ? NULL :
		    &act->meant[vertex - visit->job->vertices];

		if (flag != NULL && !*flag)
			*flag = visit_is_meant(visit, group, rcpt);
	}
	return act_page_is_over(act);
}

static void
retry_message_end(struct act *act, const struct job *job)
{
	if (job != NULL && job_is_in(job, JOB_KEPT))
		/* retry-failed is for them */
		act->count.final += job->rcpt_total - job->rcpt_count +
		    job->final_count;
	act->count.recipients += act->page.count;
	act->count.messages += act->page.count > 0;
	mem_free(&act->meant);
	act_page_end(act);
}

/* Go on with the message that is open (meant NULL: all of it), as far as the
 * budget goes; a small one is not left open. */
static void
retry_message(struct act *act, unsigned *budget)
{
	struct job *job = act->visit.job;

	if (job->rcpt_total < JOB_LARGE_RCPTS && *budget < 2 * JOB_LARGE_RCPTS)
		*budget = 2 * JOB_LARGE_RCPTS;
	if (act->meant != NULL && !retry_find_meant(act, budget)) {
		visit_keep(&act->visit);
		return;
	}
	while (*budget > 0 && act->vertex < job->vertex_count) {
		size_t i = act->vertex++;

		--*budget;
		if (job->vertices[i].state != VERTEX_DONE &&
		    (act->meant == NULL || act->meant[i]))
			act->page.count += vertex_retry(act,
			    &job->vertices[i]);
	}
	if (act->vertex >= job->vertex_count)
		retry_message_end(act, job);
	else if (act->meant != NULL)
		visit_keep(&act->visit);
}

/* From its first vertex on: another block has others.  Those that are due by
 * now are not due again. */
static void
retry_message_anew(struct act *act, struct job *job, bool reads)
{
	act->page.group = act->page.rcpt = 0;
	act->vertex = 0;
	act->serial = act->queue->jobs.serial;
	mem_free(&act->meant);
	if (reads)
		act->meant = mem_alloc(job->vertex_count + 1,
		    sizeof(*act->meant));
}

static void
retry_message_begin(struct act *act, struct job *job, bool reads)
{
	act_page_begin(act);
	act->visit.job = job;
	strlcpy(act->last_id, job->id, sizeof(act->last_id));
	retry_message_anew(act, job, reads);
}

/* The message that was left open; else nothing is open. */
static void
retry_resume(struct act *act, bool reads)
{
	struct job *job;

	if (!act->page.is_open)
		return;
	job = job_table_find(&act->queue->jobs, act->visit.last.inode);
	if (job == NULL || visit_job_is_over(job) ||
	    strcmp(job->id, act->last_id) != 0 ||
	    (reads && !visit_resume(&act->visit))) {
		retry_message_end(act, NULL);
		return;
	}
	act->visit.job = job;
	if (act->queue->jobs.serial != act->serial)
		retry_message_anew(act, job, reads);
}

static enum act_step
retry_end(struct act *act, struct str *out)
{
	act_done(act, out);
	act_counts(act, out);
	json_number(out, "destinations", (int64_t)act->count.destinations);
	json_number(out, "until", act_wall_s(act->until_ms));
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}

static bool
retry_reads(const struct act *act)
{
	return act->request.offset_count > 0 ||
	    (act->request.selector != NULL &&
	    !selector_is_all(act->request.selector));
}

enum act_step
act_retry(struct act *act, struct str *out)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES, rcpts = ACT_RCPTS;
	bool reads = retry_reads(act);
	enum act_step step;
	struct job *job;

	if (!act->page.is_open && act_waits_for_deaths(act))
		return ACT_WAIT;
	if (!act_begin(act, out, &step))
		return step;
	act_may_wait(act);
	retry_resume(act, reads);
	if (visit_is_reading(&act->visit))
		return ACT_SYNC;
	if (act->page.is_open)
		retry_message(act, &rcpts);
	while (files > 0 && rcpts > 0 && !act->page.is_open &&
	    !act_is_full(act) &&
	    (job = visit_next(&act->visit, &looks)) != NULL) {
		files -= reads;
		if (reads && !visit_open(&act->visit, job, false))
			continue;
		retry_message_begin(act, job, reads);
		retry_message(act, &rcpts);
	}
	if (act->page.is_open || (act_has_more(act) && !act_is_full(act)))
		return act_more(act);
	act->has_more = act->visit.count > 0;
	return retry_end(act, out);
}
