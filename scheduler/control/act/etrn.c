/* etrn.c - start what waits for a node
 *
 *	HOST            a next hop of this name (with its port, if it is
 *	                named with one), and recipients of this domain
 *	@DOMAIN         that, and all below it
 *	#CHANNEL/HOST   a destination as `zmailer queue` names it, #zone/NAME
 *	                a zone; globs
 *
 * In     what the client named; threads; control files, for the domains of
 *        recipients
 * Out    vertices that are due, destinations that are probed
 * Holds  the walks; the message that is open over several steps
 * Spec   doc/protocol/control.md section 6; RFC 1985
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "grammar/units.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

/* "x.example"; "@x.example": that, and all below. */
static bool
etrn_means_host(struct slice wish, struct slice host)
{
	struct slice end;

	if (!slice_starts(wish, "@"))
		return slice_equal_nocase(wish, host);
	wish = slice_from(wish, 1);
	if (host.n == wish.n)
		return slice_equal_nocase(wish, host);
	if (host.n < wish.n + 1)
		return false;
	end = slice_from(host, host.n - wish.n);
	return end.p[-1] == '.' && slice_equal_nocase(wish, end);
}

/* "#CHANNEL/HOST", "#zone/NAME"; "#HOST" in any channel. */
static bool
etrn_means_queue(struct slice name, const struct thread *thread)
{
	size_t cut = slice_find(name, '/');
	struct slice channel = slice_first(name, cut), host =
	    slice_from(name, cut + 1);

	if (cut == name.n)
		return glob_match(name, slice_of(thread->host));
	if (slice_is(channel, "zone"))
		return thread->zone[0] != '\0' &&
		    glob_match(host, slice_of(thread->zone));
	return glob_match(channel, slice_of(thread->channel)) &&
	    glob_match(host, slice_of(thread->host));
}

static bool
etrn_means_thread(const struct act *act, const struct thread *thread)
{
	struct slice wish = slice_of(act->request.host);

	if (slice_starts(wish, "#"))
		return etrn_means_queue(slice_from(wish, 1), thread);
	return etrn_means_host(wish, slice_of(thread->host));
}

/* ---- destinations ------------------------------------------------ */

/* A vertex of a thread that is meant, which waits in the plan. */
static void
etrn_kick_waiting(struct act *act, struct vertex *vertex)
{
	if (vertex->state != VERTEX_WAIT || vertex->park == PARK_HELD ||
	    !etrn_means_thread(act, vertex->thread))
		return;
	act_hasten(vertex);
	plan_ready(&act->queue->plan, vertex);
}

static void
etrn_thread(struct act *act, struct thread *thread)
{
	uint64_t mail = thread->ready_count + thread->wait_count +
	    thread->flight_count;

	if (mail == 0 || !etrn_means_thread(act, thread))
		return;
	act->count.destinations++;
	act->count.messages += mail;
	if (thread->is_suspended)
		act->count.unchanged += mail;
	act->etrn.has_waiting = act->etrn.has_waiting ||
	    thread->wait_count > 0;
	if (!act->request.is_dry && !thread->is_suspended)
		plan_wake(&act->queue->plan, thread);
}

/* The job whose vertices were left in the middle; else the next one; NULL:
 * there is none, or *budget is 0.  Another block of it has other vertices:
 * those that are due by now are not due again. */
static struct job *
etrn_job_next(struct act *act, unsigned *budget)
{
	const struct job_table *jobs = &act->queue->jobs;
	struct job *job = act->etrn.inode == 0 ? NULL :
	    job_table_find(jobs, act->etrn.inode);

	if (job == NULL)
		job = job_walk_next(&act->etrn.jobs, jobs, budget);
	else if (act->serial == jobs->serial)
		return job;
	act->vertex = 0;
	act->serial = jobs->serial;
	act->etrn.inode = job == NULL ? 0 : job->inode;
	return job;
}

/* Everything of the threads that are meant which waits, some a step.  True:
 * it is due now. */
static bool
etrn_kick_jobs(struct act *act)
{
	unsigned budget = ACT_SLOTS;
	struct job *job;

	while (budget > 0 && (job = etrn_job_next(act, &budget)) != NULL) {
		for (; budget > 0 && act->vertex < job->vertex_count; budget--)
			etrn_kick_waiting(act,
			    &job->vertices[act->vertex++]);
		if (act->vertex >= job->vertex_count)
			act->etrn.inode = 0;
	}
	return act->etrn.inode == 0 && act->etrn.jobs.is_over;
}

/* The destinations that are meant, in steps.  True: they had their turn. */
static bool
etrn_kick_threads(struct act *act)
{
	unsigned budget = ACT_LOOKS;
	struct thread *thread;

	if (!act->is_given) {
		act->is_given = true;
		thread_walk_init(&act->threads, &act->queue->threads);
		job_walk_init(&act->etrn.jobs, &act->queue->jobs);
	}
	while (!act->threads.is_over && (thread = thread_walk_next(
	    &act->threads, &act->queue->threads, &budget)) != NULL)
		etrn_thread(act, thread);
	return act->threads.is_over && (!act->etrn.has_waiting ||
	    act->request.is_dry || etrn_kick_jobs(act));
}

/* ---- recipients -------------------------------------------------- */

/* Of an address as the queue or its sender wrote it. */
static bool
etrn_means_address(struct slice wish, struct slice address)
{
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	return at > 0 && etrn_means_host(wish, slice_from(address, at));
}

static bool
etrn_means_rcpt(struct slice wish, const struct control_rcpt *rcpt)
{
	return etrn_means_address(wish, rcpt->user) ||
	    etrn_means_address(wish, rcpt->given) ||
	    etrn_means_address(wish, rcpt->orcpt);
}

static void
etrn_kick_vertex(struct act *act, struct vertex *vertex)
{
	struct planner *plan = &act->queue->plan;

	if (act->request.is_dry || vertex->thread->is_suspended)
		return;
	if (vertex->state == VERTEX_WAIT && vertex->park != PARK_HELD) {
		act_hasten(vertex);
		plan_ready(plan, vertex);
	}
	if (vertex->state == VERTEX_READY && vertex->thread->wake_ms != 0)
		plan_wake(plan, vertex->thread);
}

/* A vertex of recipients of the domain; those of the destination's name had
 * their turn.  act->vertex: after the one that was counted last. */
static void
etrn_rcpt(struct act *act, const struct control_rcpt *rcpt)
{
	struct slice wish = slice_of(act->request.host);
	struct vertex *vertex = rcpt->is_final ? NULL :
	    visit_vertex(&act->visit, rcpt->offset);
	size_t number;

	if (vertex == NULL || vertex->state == VERTEX_DONE)
		return;
	number = (size_t)(vertex - vertex->job->vertices) + 1;
	if (number == act->vertex || !etrn_means_rcpt(wish, rcpt) ||
	    etrn_means_thread(act, vertex->thread))
		return;
	act->vertex = number;
	act->count.messages++;
	if (vertex->thread->is_suspended)
		act->count.unchanged++;
	etrn_kick_vertex(act, vertex);
}

/* The open message, as far as the budget goes. */
static void
etrn_message(struct act *act, unsigned *budget)
{
	const struct control_group *group;
	const struct control_rcpt *rcpt;

	while ((rcpt = act_rcpt_next(act, &group, budget)) != NULL)
		etrn_rcpt(act, rcpt);
	if (act_page_is_over(act))
		act_page_end(act);
	else
		visit_keep(&act->visit);
}

/* ---- the act ----------------------------------------------------- */

static enum act_step
etrn_end(struct act *act, struct str *out)
{
	act_done(act, out);
	json_number(out, "destinations", (int64_t)act->count.destinations);
	json_number(out, "messages", (int64_t)act->count.messages);
	json_number(out, "suspended", (int64_t)act->count.unchanged);
	json_bool(out, "known", act->count.messages > 0);
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}

/* The messages that are read, for the domains of their recipients. */
static enum act_step
etrn_messages(struct act *act, struct str *out)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES, rcpts = ACT_RCPTS;
	struct job *job;

	/* one that went meanwhile has nothing more to start */
	if (act->page.is_open && !visit_resume(&act->visit))
		act_page_end(act);
	if (visit_is_reading(&act->visit))
		return ACT_SYNC;
	if (act->page.is_open)
		etrn_message(act, &rcpts);
	while (files > 0 && rcpts > 0 && !act->page.is_open &&
	    (job = visit_next(&act->visit, &looks)) != NULL) {
		files--;
		if (!visit_open(&act->visit, job, false))
			continue;
		act_page_begin(act);
		act->vertex = 0;
		etrn_message(act, &rcpts);
	}
	return act_has_more(act) ? act_more(act) : etrn_end(act, out);
}

enum act_step
act_etrn(struct act *act, struct str *out)
{
	enum act_step step;

	if (!act->is_begun && !etrn_kick_threads(act))
		return ACT_MORE;
	if (act->request.host[0] == '#')
		return etrn_end(act, out);
	if (!act_begin(act, out, &step))
		return step;
	act_may_wait(act);
	/* whoever may say this may start everybody's mail */
	act->visit.user = NULL;
	return etrn_messages(act, out);
}
