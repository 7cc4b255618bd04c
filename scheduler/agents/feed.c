/* feed.c - which agent gets what, decided once a turn
 *
 * In     threads with ready work, agents of their rings
 * Out    vertices in agents' queues, job lines on their sockets
 * Holds  nothing
 * Trusts plan.c for who is next
 * Spec   doc/protocol/agent.md; DESIGN section 4 (threads, rings)
 *
 * A job's two descriptors are opened when it is given to an agent (or are
 * open since the intake), the body is closed once all lines are sent, the
 * control file when nothing of the job is in flight.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "mail/control_file/control_file.h"
#include "scheduler/agents/agents.h"
#include "scheduler/sharing/sharing.h"
#include "scheduler/intake/intake.h"
#include "scheduler/agents/capacity.h"
#include "scheduler/outcome/results.h"

#include "base/banned.h"

enum { JOBS_A_SEND = IPC_FDS_MAX / 2 };

/* ---- sending ----------------------------------------------------- */

static void
vertex_add_line(struct agents *agents, const struct vertex *vertex,
    struct str *out)
{
	uint32_t offsets[VERTEX_RCPTS_MAX];
	struct rcpt *rcpts = vertex_rcpts(vertex);
	char name[SPOOL_NAME_BYTES];
	size_t count = 0;

	for (size_t i = 0; i < vertex->rcpt_count; i++)
		if (!(rcpts[i].flags & RCPT_FINAL))
			offsets[count++] = rcpts[i].offset;
	spool_hashed_name(agents->queue->spool, vertex->job->inode, name);
	control_job_add(out, name, vertex->job->id,
	    slice_of(vertex->thread->host), vertex->sender_offset,
	    vertex->header_offset, vertex->tries, offsets, count);
	str_addc(out, '\n');
}

/* All lines that need the body are on the socket. */
static void
vertex_sent(struct vertex *vertex)
{
	struct job *job = vertex->job;

	if (--job->unsent > 0 || job->body_fd < 0)
		return;
	close(job->body_fd);
	job->body_fd = -1;
}

/* A send failed.  Of one that is gone the last words are read first: its
 * descriptor is ready for that, and agent_ready loses it after them.  Returns
 * -1: there is nothing more to be sent. */
static int
agent_send_failed(struct agents *agents, struct agent *agent)
{
	if (errno == EPIPE || errno == ECONNRESET)
		watch_set(agent->watch, LOOP_READ);
	else
		agent_lose(agents, agent, NULL);
	return -1;
}

/* What is left of a send that was cut short.  1: it is out; 0: the socket is
 * full; -1: the agent is gone, or lost. */
static int
agent_send_rest(struct agents *agents, struct agent *agent)
{
	ssize_t n;

	if (agent->rest.len == 0)
		return 1;
	n = ipc_send(agent->socket, str_slice(&agent->rest), NULL, 0);
	if (n < 0)
		return agent_send_failed(agents, agent);
	str_consume(&agent->rest, (size_t)n);
	return agent->rest.len == 0;
}

/* One message of at most JOBS_A_SEND jobs.  returns 1 sent, 0 the socket is
 * full, -1 the agent is gone, or lost. */
static int
agent_send_batch(struct agents *agents, struct agent *agent)
{
	static struct str text = STR_INIT;
	struct vertex *vertex = agent->unsent, *end;
	int fds[IPC_FDS_MAX];
	size_t count = 0;
	ssize_t n;

	str_reset(&text);
	for (; vertex != NULL && count < 2 * JOBS_A_SEND;
	    vertex = TAILQ_NEXT(vertex, entry)) {
		vertex_add_line(agents, vertex, &text);
		fds[count++] = vertex->job->body_fd;
		fds[count++] = vertex->job->control_fd;
	}
	end = vertex;
	n = ipc_send(agent->socket, str_slice(&text), fds, count);
	if (n == 0)
		return 0;
	if (n < 0)
		return agent_send_failed(agents, agent);
	/* the descriptors went with the first byte */
	while (agent->unsent != end) {
		vertex = agent->unsent;
		agent->unsent = TAILQ_NEXT(vertex, entry);
		agent->sent_count++;
		vertex_sent(vertex);
	}
	if ((size_t)n < text.len)
		str_add_slice(&agent->rest,
		    slice_from(str_slice(&text), (size_t)n));
	return (size_t)n == text.len;
}

void
agent_send(struct agents *agents, struct agent *agent)
{
	int got = agent_send_rest(agents, agent);

	while (agent->unsent != NULL && got == 1)
		got = agent_send_batch(agents, agent);
	if (got < 0)
		return;
	watch_set(agent->watch, got == 1 ? LOOP_READ : LOOP_READ | LOOP_WRITE);
}

/* ---- giving ------------------------------------------------------ */

/* The job cannot be given: its body is gone, or the machine is in trouble.
 * It is looked at again from the start. */
static void
vertex_refuse(struct agents *agents, struct vertex *vertex,
    const char *name, int got, const struct err *err)
{
	struct job *job = vertex->job;

	if (got < 0)
		event(EV_SPOOL_TROUBLE, job->id, "file", slice_of(name),
		    "call", SLICE("open"), "reason", slice_of(err->text),
		    NULL);
	plan_forget(&agents->queue->plan, vertex);
	if (job->flight_count == 0)
		intake_orphan(agents->intake, job);
	else
		job->flags |= JOB_RELOAD;
}

/* Both descriptors.  A control file that waits for its barrier may change
 * descriptors: it is the file that is synced.  True, or the vertex is out of
 * the plan: take the next one. */
static bool
vertex_open(struct agents *agents, struct vertex *vertex)
{
	struct job *job = vertex->job;
	char name[SPOOL_NAME_BYTES];
	int control, body, got;
	struct err err;

	job_list_remove(&agents->queue->jobs, JOB_FRESH, job);
	if (job->body_fd >= 0 && job->control_fd >= 0)
		return true;
	spool_hashed_name(agents->queue->spool, job->inode, name);
	got = spool_open_queued(agents->queue->spool, name, &control, &body,
	    &err);
	if (got < 1) {
		vertex_refuse(agents, vertex, name, got, &err);
		return false;
	}
	job_close(job);
	job->control_fd = control;
	job->body_fd = body;
	return true;
}

/* This turn's time is over: others are to be heard first. */
static bool
feed_is_over(struct agents *agents)
{
	if (!agents->is_cut)
		agents->is_cut = clock_real_us() >= agents->feed_end_us;
	return agents->is_cut;
}

/* The site's script has a say first: then the vertex waits for it. */
static bool
vertex_asks(struct agents *agents, struct vertex *vertex)
{
	bool is_allowed = vertex->is_allowed || !agents->queue->plan.is_asking;

	vertex->is_allowed = false;
	if (!is_allowed) {
		results_ask(agents->outcome->results, agents->queue, vertex);
		job_rest(vertex->job);
	}
	return !is_allowed;
}

/* The thread's next vertex to this agent.  False: there was none. */
static bool
agent_give(struct agents *agents, struct agent *agent,
    struct thread *thread)
{
	int64_t now_ms = clock_steady_ms();
	struct vertex *vertex;

	if (capacity_files_are_used_up(agents) ||
	    !queue_admits(agents->queue, thread))
		return false;
	do {
		vertex = plan_take(&agents->queue->plan, thread, now_ms);
		if (vertex == NULL)
			return false;
	} while (!queue_fits(agents->queue, vertex) ||
	    !vertex_open(agents, vertex) || vertex_asks(agents, vertex));
	for (size_t i = 0; i < vertex->rcpt_count; i++)
		vertex_rcpts(vertex)[i].flags &= RCPT_FINAL;
	vertex->job->unsent++;
	queue_spend(agents->queue, vertex);
	if (agent->thread != thread) {
		agent->thread = thread;
		agent->last_hash = thread->hash;
		agent->is_surplus = false;
		plan_serve(thread);
	}
	if (agent->job_count++ == 0) {
		agent->heard_ms = agent->done_ms = now_ms;
		TAILQ_REMOVE(&agent->ring->idle, agent, entry);
		TAILQ_INSERT_TAIL(&agent->ring->busy, agent, entry);
	}
	agent->fed_ms = now_ms;
	TAILQ_INSERT_TAIL(&agent->jobs, vertex, entry);
	if (agent->unsent == NULL)
		agent->unsent = vertex;
	agent->is_told_idle = false;
	agent->has_news = agents->has_news = true;
	return true;
}

/* ---- choosing ---------------------------------------------------- */

/* One that served this host last keeps its connection; else the one that
 * was used last, so that the others may end. */
static struct agent *
ring_pick_idle(const struct ring *ring, const struct thread *thread)
{
	struct agent *agent;

	TAILQ_FOREACH(agent, &ring->idle, entry)
		if (agent->last_hash == thread->hash)
			return agent;
	return TAILQ_FIRST(&ring->idle);
}

/* Nothing is fed after a job of bulk: others may want the agent by then. */
static bool
agent_has_bulk(const struct agent *agent)
{
	const struct vertex *last = TAILQ_LAST(&agent->jobs, vertex_queue);

	return last != NULL && vertex_is_bulk(last);
}

/* Fill up those who serve the thread and have come down to half of their
 * share: many lines in one send, instead of one by one.  Where there are more
 * than its host takes by now, those that began first run dry, and rest. */
static void
thread_feed_more(struct agents *agents, struct thread *thread)
{
	unsigned share = plan_share(thread), most = plan_sessions(thread);
	unsigned surplus = thread->serving > most ? thread->serving - most : 0;
	struct agent *agent;

	TAILQ_FOREACH(agent, &thread->ring->busy, entry) {
		if (agent->thread != thread)
			continue;
		if (surplus > 0) {
			surplus--;
			continue;
		}
		if (agent->is_closing || agent->job_count > share / 2)
			continue;
		while (agent->job_count < share && !agent_has_bulk(agent))
			if (feed_is_over(agents) ||
			    !agent_give(agents, agent, thread))
				return;
	}
}

/* What plan_step says, done.  True: an agent more works for the thread. */
static bool
thread_feed(struct agents *agents, struct ring *ring,
    struct thread *thread, enum plan_step step)
{
	struct agent *agent;

	switch (step) {
	case PLAN_START:
		agent = agent_new(agents, ring);
		return agent != NULL && agent_give(agents, agent, thread);
	case PLAN_IDLE:
		return agent_give(agents, ring_pick_idle(ring, thread), thread);
	case PLAN_BLOCK:
		plan_block(thread);
		break;
	case PLAN_MORE:
		thread_feed_more(agents, thread);
		break;
	case PLAN_NOTHING:
		break;
	}
	return false;
}

enum { BULK_TURN = 3 };		/* slots to the others, then one to bulk */

static unsigned
ring_bulk_agents(const struct ring *ring)
{
	const struct agent *agent;
	unsigned count = 0;

	TAILQ_FOREACH(agent, &ring->busy, entry)
		count += agent_has_bulk(agent);
	return count;
}

/* While bulk has an agent nobody waits for more of it.  When it has none
 * any more, those who waited go first, each as if it had one agent. */
static void
ring_look_at_bulk(struct ring *ring)
{
	unsigned waiting;

	ring->has_bulk = !TAILQ_EMPTY(&ring->bulk) && ring_bulk_agents(ring) >
	    0;
	if (!ring->has_bulk)
		return;
	waiting = ring->runnable_count / ring->agent_count;
	ring->quick_due = waiting > BULK_TURN ? waiting : BULK_TURN;
}

/* Whose turn of both queues it is; each thread is seen once a pass. */
static struct thread_queue *
ring_pick_queue(struct ring *ring, unsigned *quick_left, unsigned *bulk_left)
{
	bool has_quick = *quick_left > 0 && !TAILQ_EMPTY(&ring->runnable);
	bool has_bulk = *bulk_left > 0 && !TAILQ_EMPTY(&ring->bulk);

	if (has_bulk && (!has_quick ||
	    (!ring->has_bulk && ring->quick_due == 0))) {
		--*bulk_left;
		return &ring->bulk;
	}
	if (!has_quick)
		return NULL;
	--*quick_left;
	return &ring->runnable;
}

/* An agent more went to a thread of this queue. */
static void
ring_count_turn(struct ring *ring, const struct thread_queue *queue)
{
	if (queue == &ring->bulk) {
		ring->has_bulk = true;
		ring->quick_due = BULK_TURN;
	} else if (ring->quick_due > 0) {
		ring->quick_due--;
	}
}

/* One pass over the ring's runnable threads; each gets one agent more, or
 * its agents more work.  The first one is served however late it is: an
 * agent that was started, or taken from others, for it would go back to them
 * without a job.  True: agents were found, look again. */
static bool
ring_pass(struct agents *agents, struct ring *ring, bool is_starving,
    unsigned *started)
{
	int64_t now_ms = clock_steady_ms();
	unsigned quick_left = ring->runnable_count;
	unsigned bulk_left = ring->bulk_count;
	struct thread_queue *queue;
	bool was_given = false;

	ring_look_at_bulk(ring);
	while ((queue = ring_pick_queue(ring, &quick_left, &bulk_left)) !=
	    NULL) {
		struct thread *thread = TAILQ_FIRST(queue);
		bool has_idle = !TAILQ_EMPTY(&ring->idle);
		bool may = *started < AGENT_STARTS_A_TURN &&
		    capacity_is_free(agents, ring, now_ms);
		enum plan_step step;

		if (is_starving && !has_idle && !may)
			break;		/* nobody to give to */
		/* to the end: the others come first next time */
		TAILQ_REMOVE(queue, thread, run_entry);
		TAILQ_INSERT_TAIL(queue, thread, run_entry);
		step = plan_step(thread, has_idle, may, is_starving);
		*started += step == PLAN_START;
		if (thread_feed(agents, ring, thread, step)) {
			was_given = true;
			ring_count_turn(ring, queue);
		}
		if (feed_is_over(agents))
			return false;
	}
	return was_given;
}

/* First everybody who waits gets an agent, as far as there are some; only
 * when nobody starves, here or (is_wanted) in another ring that wants our
 * agents, those who work are fed ahead. */
static void
ring_feed(struct agents *agents, struct ring *ring, bool is_wanted)
{
	unsigned started = 0;

	if (!plan_has_work(ring))
		return;
	while (ring_pass(agents, ring, true, &started))
		;
	if (!is_wanted && !feed_is_over(agents) &&
	    !plan_starves(&ring->runnable) && !plan_starves(&ring->bulk))
		ring_pass(agents, ring, false, &started);
}

/* Before those who have agents get more work for them: else an agent that
 * has always more to do would never be free for another ring.  True: some
 * ring still waits for one. */
static bool
rings_feed_needy(struct agents *agents)
{
	int64_t now_ms = clock_steady_ms();
	bool is_left = false;
	struct agent *idle;
	struct ring *ring;

	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry) {
		while (!feed_is_over(agents) &&
		    capacity_is_needed(agents, ring, now_ms) &&
		    (idle = capacity_pick(agents, ring)) != NULL) {
			agent_lose(agents, idle, NULL);
			ring_feed(agents, ring, false);
		}
		is_left |= capacity_is_needed(agents, ring, now_ms);
	}
	return is_left;
}

/* Whose turn was cut comes after all others next time. */
static void
ring_feed_in_turn(struct agents *agents, struct ring *ring, bool is_wanted)
{
	bool was_cut = agents->is_cut;

	ring_feed(agents, ring, is_wanted);
	if (was_cut || !agents->is_cut)
		return;
	TAILQ_REMOVE(&agents->queue->threads.rings, ring, entry);
	TAILQ_INSERT_TAIL(&agents->queue->threads.rings, ring, entry);
}

/* To all who may have it.  Nothing where jobs of before are not sent: then
 * those have work enough. */
static void
agents_give(struct agents *agents)
{
	struct ring *ring, *next;
	bool has_needy;

	if (agents->has_news || agents->is_stopping ||
	    agents->queue->orders.is_draining ||
	    !sharing_may_deliver(agents->queue->sharing) ||
	    capacity_files_are_used_up(agents))
		return;
	agents->feed_end_us = loop_share_end_us(agents->queue->loop,
	    FEED_TURN_US);
	has_needy = rings_feed_needy(agents);
	TAILQ_FOREACH_SAFE(ring, &agents->queue->threads.rings, entry, next)
		ring_feed_in_turn(agents, ring, has_needy &&
		    capacity_is_wanted(agents, ring));
}

/* Each send wakes an agent, which may have our processor at once. */
static bool
ring_send(struct agents *agents, struct ring *ring, bool is_whole)
{
	struct agent *agent, *next;

	/* the ring may go with an agent that is lost */
	TAILQ_FOREACH_SAFE(agent, &ring->busy, entry, next) {
		if (!agent->has_news)
			continue;
		agent->has_news = false;
		agent_send(agents, agent);
		if (!is_whole && loop_turn_is_over(agents->queue->loop))
			return false;
	}
	return true;
}

void
agents_send(struct agents *agents, bool is_whole)
{
	struct ring *ring, *next;

	if (!agents->has_news)
		return;
	TAILQ_FOREACH_SAFE(ring, &agents->queue->threads.rings, entry, next)
		if (!ring_send(agents, ring, is_whole)) {
			agents->is_cut = true;
			return;
		}
	agents->has_news = false;
}

bool
agents_feed(struct agents *agents)
{
	agents->is_cut = false;
	agents_send(agents, false);
	agents_give(agents);
	agents_send(agents, false);
	return agents->is_cut;
}

/* ---- is it all done? -------------------------------------------------- */

enum { UNFED_LOOK = 8, UNFED_LATE_MS = 1000 };

static bool
queue_has_unfed(const struct thread_queue *queue, bool has_idle, bool may)
{
	const struct thread *thread;
	unsigned looked = 0;

	TAILQ_FOREACH(thread, queue, run_entry) {
		enum plan_step step = plan_step(thread, has_idle, may, true);

		if (step == PLAN_IDLE || step == PLAN_START)
			return true;
		if (++looked == UNFED_LOOK)
			break;
	}
	return false;
}

bool
agents_have_unfed(const struct agents *agents, int64_t now_ms)
{
	const struct queue *queue = agents->queue;
	const struct ring *ring;

	if (agents->is_stopping)
		return false;
	if (queue->plan.due.count > 0 &&
	    queue->plan.due.slots[0].at_ms < now_ms - UNFED_LATE_MS)
		return true;
	if (queue->orders.is_draining || !sharing_may_deliver(queue->sharing) ||
	    capacity_files_are_used_up(agents))
		return false;
	TAILQ_FOREACH(ring, &queue->threads.rings, entry) {
		bool has_idle = !TAILQ_EMPTY(&ring->idle);
		bool may = capacity_is_free(agents, ring, now_ms);

		if ((has_idle || may) &&
		    (queue_has_unfed(&ring->runnable, has_idle, may) ||
		    queue_has_unfed(&ring->bulk, has_idle, may)))
			return true;
	}
	return false;
}
