/* retry.c - try now, at a pace
 *
 * In     a choice of mail
 * Out    vertices that are due, destinations that are probed
 * Holds  nothing
 * Spec   doc/protocol/control.md sections 5 and 6
 *
 * SPDX-License-Identifier: ISC
 */
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
		act->count.active += open;
		return 0;
	case VERTEX_IDLE:
		if (vertex->job->flags & JOB_MOVING) {
			act->count.active += open;
			return 0;
		}
		break;
	default:
		break;
	}
	act->count.unchanged += open;
	return 0;
}

/* ---- messages ---------------------------------------------------- */

/* Of the open message: a flag a vertex, true when one of its recipients is
 * meant. */
static bool *
retry_vertices_meant(const struct control_visit *visit)
{
	bool *meant = mem_alloc(visit->job->vertex_count + 1, sizeof(*meant));
	const struct control_file *control = &visit->control;

	for (size_t i = 0; i < control->group_count; i++) {
		const struct control_group *group = &control->groups[i];

		for (size_t k = 0; k < group->rcpt_count; k++) {
			const struct vertex *vertex = visit_vertex(visit,
			    group->rcpts[k].offset);
			bool *flag = vertex == NULL ? NULL :
			    &meant[vertex - visit->job->vertices];

			if (flag != NULL && !*flag)
				*flag = visit_is_meant(visit, group,
				    &group->rcpts[k]);
		}
	}
	return meant;
}

/* meant NULL: all of it. */
static void
retry_message(struct act *act, struct job *job, const bool *meant)
{
	uint64_t recipients = 0;

	for (size_t i = 0; i < job->vertex_count; i++) {
		struct vertex *vertex = &job->vertices[i];

		if (vertex->state != VERTEX_DONE &&
		    (meant == NULL || meant[i]))
			recipients += vertex_retry(act, vertex);
	}
	if (job_is_in(job, JOB_KEPT))	/* retry-failed is for them */
		act->count.final += job->rcpt_total - job->rcpt_count +
		    job->final_count;
	act->count.recipients += recipients;
	act->count.messages += recipients > 0;
}

static void
retry_some(struct act *act, struct job *job)
{
	bool *meant;

	if (!visit_open(&act->visit, job, false))
		return;
	meant = retry_vertices_meant(&act->visit);
	retry_message(act, job, meant);
	mem_free(&meant);
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

enum act_step
act_retry(struct act *act, struct str *out)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES;
	enum act_step step;
	struct job *job;
	bool reads;

	if (!act_begin(act, out, &step))
		return step;
	reads = act->request.selector != NULL &&
	    !selector_is_all(act->request.selector);
	reads = reads || act->request.offset_count > 0;
	while (files > 0 && !act_is_full(act) &&
	    (job = visit_next(&act->visit, &looks)) != NULL) {
		if (!reads) {
			retry_message(act, job, NULL);
			continue;
		}
		files--;
		retry_some(act, job);
	}
	if (act_is_full(act))
		act->has_more = act->visit.count > 0;
	else if (act->visit.count > 0)
		return ACT_MORE;
	return retry_end(act, out);
}
