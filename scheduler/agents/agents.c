/* agents.c - the pool of transport agents, a pool a ring
 *
 * In     exit notices of the launcher, time
 * Out    agents started, ended, killed; jobs that come back from them
 * Holds  one socket an agent; its jobs in the order they were given
 * Trusts no agent to end in good order: its jobs go to another one
 * Spec   doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/agents/agents.h"
#include "scheduler/outcome/outcome.h"

#include "base/banned.h"

enum {
	FD_RESERVE = 256,	/* for everything but jobs */
	FD_BUDGET_MIN = 128,
	BACKOFF_FIRST_MS = 1000,
	IDLE_SAY_MS = 1000,	/* without work, then #idle */
	LAST_WORDS_READS = 64	/* from the socket of a dead agent */
};

/* ---- birth ------------------------------------------------------- */

/* Those that were started before, and fail while we wait, count once with the
 * first of them. */
static void
ring_back_off(struct ring *ring)
{
	unsigned shift = ring->start_failures < 6 ? ring->start_failures : 6;
	int64_t wait_ms = (int64_t)BACKOFF_FIRST_MS << shift;

	if (clock_steady_ms() < ring->start_after_ms)
		return;
	if (wait_ms > AGENT_BACKOFF_MAX_MS)
		wait_ms = AGENT_BACKOFF_MAX_MS;
	ring->start_failures++;
	ring->start_after_ms = clock_steady_ms() + wait_ms;
}

/* Our end of an agent's socket in ends[0]; the launcher has the other. */
static int
agent_open_socket(struct agents *agents, struct ring *ring, int ends[2],
    struct err *err)
{
	int result;

	if (ipc_pair(ends, err) < 0)
		return -1;
	result = agents->start(ring->clause_index, ring->channel, ends[1],
	    agents->token + 1, err);
	close(ends[1]);
	if (result < 0)
		close(ends[0]);
	else
		(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	return result;
}

struct agent *
agent_new(struct agents *agents, struct ring *ring)
{
	struct agent *agent;
	struct err err;
	int ends[2];

	if (agent_open_socket(agents, ring, ends, &err) < 0) {
		warning("no agent for %s: %s", ring->channel, err.text);
		ring_back_off(ring);
		return NULL;
	}
	agent = mem_alloc(1, sizeof(*agent));
	agent->agents = agents;
	agent->ring = ring;
	agent->token = ++agents->token;
	agent->socket = ends[0];
	agent->heard_ms = agent->idle_ms = clock_steady_ms();
	agent->inbox = mem_alloc(1, sizeof(*agent->inbox));
	ipc_inbox_init(agent->inbox);
	str_init(&agent->rest);
	if (ring->zone[0] != '\0')	/* before its first job */
		str_addf(&agent->rest, "#zone %s\n", ring->zone);
	TAILQ_INIT(&agent->jobs);
	TAILQ_INSERT_HEAD(&ring->idle, agent, entry);
	TAILQ_INSERT_TAIL(&agents->all, agent, all_entry);
	ring->agent_count++;
	agents->count++;
	agent->watch = loop_watch(agents->queue->loop, agent->socket, LOOP_READ,
	    agent_ready, agent);
	event(EV_AGENT_START, NULL, "channel", slice_of(ring->channel),
	    "child", event_number(agent->token), NULL);
	return agent;
}

/* ---- end --------------------------------------------------------- */

static void
agent_leave_thread(struct agent *agent)
{
	if (agent->thread != NULL)
		plan_leave(agent->thread);
	agent->thread = NULL;
}

void
agent_rest(struct agents *agents, struct agent *agent)
{
	struct thread *thread = agent->thread;

	agent_leave_thread(agent);
	/* its connection may be what the host has too many of */
	agent->is_surplus = thread != NULL &&
	    thread->serving >= pace_limit(thread);
	agent->idle_ms = clock_steady_ms();
	TAILQ_REMOVE(&agent->ring->busy, agent, entry);
	TAILQ_INSERT_HEAD(&agent->ring->idle, agent, entry);
}

/* The oldest rest at the end: those that were used last stay. */
void
agents_shed(const struct thread *thread)
{
	unsigned kept = thread->serving, most = plan_sessions(thread);
	struct agent *agent;

	TAILQ_FOREACH(agent, &thread->ring->idle, entry)
		if (agent->last_hash == thread->hash && kept++ >= most)
			agent->is_surplus = true;
}

/* Whether it is at the first job in hand: it was hungry after each one that
 * is done.  Else it is still busy with the last of those. */
static bool
agent_is_at_first(const struct agent *agent)
{
	const struct vertex *vertex;
	unsigned done_count = agent->sent_count;

	TAILQ_FOREACH(vertex, &agent->jobs, entry) {
		if (vertex == agent->unsent)
			break;
		done_count--;
	}
	return agent->hungry_count > done_count;
}

/* The jobs in hand go back.  The first unanswered one is what the agent was
 * at: it bears the blame, if there is one. */
static void
agent_return_jobs(struct agents *agents, struct agent *agent,
    const char *reason)
{
	struct vertex *vertex;
	bool is_sent = true;

	if (!agent_is_at_first(agent))
		reason = NULL;
	while ((vertex = TAILQ_FIRST(&agent->jobs)) != NULL) {
		TAILQ_REMOVE(&agent->jobs, vertex, entry);
		agent->job_count--;
		if (vertex == agent->unsent)
			is_sent = false;
		if (!is_sent)
			vertex->job->unsent--;
		outcome_lost(agents->outcome, vertex, is_sent && reason != NULL,
		    reason);
		reason = NULL;
	}
	agent->unsent = NULL;
}

static void
agent_close(struct agents *agents, struct agent *agent)
{
	watch_free(&agent->watch);
	close(agent->socket);
	agent->socket = -1;
	ipc_inbox_release(agent->inbox);
	mem_free(&agent->inbox);
	str_release(&agent->rest);
	agent_disconnect(agent);
	TAILQ_REMOVE(&agents->all, agent, all_entry);
	agent->ring->agent_count--;
	agents->count--;
}

void
agent_lose(struct agents *agents, struct agent *agent,
    const char *reason)
{
	struct ring *ring = agent->ring;

	if (agent->socket < 0)
		return;
	agent->lost_count = agent->job_count;
	if (agent->job_count > 0)
		TAILQ_REMOVE(&ring->busy, agent, entry);
	else
		TAILQ_REMOVE(&ring->idle, agent, entry);
	if (agent->is_bystander)
		reason = NULL;
	else if (agent->hungry_count == 0) {
		reason = NULL;		/* it never came to work */
		ring_back_off(ring);
	}
	agent_leave_thread(agent);
	agent_close(agents, agent);
	TAILQ_INSERT_TAIL(&agents->gone, agent, entry);
	agent_return_jobs(agents, agent, reason);
	agent->ring = NULL;
	ring_release_stale(&agents->queue->threads, ring);
}

/* What others in its process were at is no try of theirs. */
static void
agent_excuse_others(struct agents *agents, const struct agent *agent)
{
	struct agent *other;

	TAILQ_FOREACH(other, &agents->all, all_entry)
		if (other != agent && other->pid == agent->pid &&
		    agent->pid != 0)
			other->is_bystander = true;
}

void
agent_kill(struct agents *agents, struct agent *agent,
    const char *reason)
{
	struct err err;

	agent_excuse_others(agents, agent);
	if (agents->kill(agent->token, &err) < 0)
		warning("agent %u: %s", agent->token, err.text);
	agent_lose(agents, agent, reason);
}

static struct agent *
agents_find(const struct agents *agents, unsigned token)
{
	struct agent *agent;
	struct ring *ring;

	TAILQ_FOREACH(agent, &agents->gone, entry)
		if (agent->token == token)
			return agent;
	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry) {
		TAILQ_FOREACH(agent, &ring->busy, entry)
			if (agent->token == token)
				return agent;
		TAILQ_FOREACH(agent, &ring->idle, entry)
			if (agent->token == token)
				return agent;
	}
	return NULL;
}

static void
agent_free(struct agents *agents, struct agent *agent)
{
	TAILQ_REMOVE(&agents->gone, agent, entry);
	mem_free(&agent);
}

void
agents_begin(void *context, unsigned token, pid_t pid)
{
	struct agent *agent = agents_find(context, token);

	if (agent != NULL)
		agent->pid = pid;
}

void
agents_exit(void *context, unsigned token, pid_t pid, int status)
{
	struct agents *agents = context;
	struct agent *agent = agents_find(agents, token);
	struct str text = STR_INIT;

	if (agent == NULL)
		return;
	if (WIFSIGNALED(status))
		str_addf(&text, "signal %d", WTERMSIG(status));
	else
		str_addf(&text, "%d", WEXITSTATUS(status));
	/* what it still sent is on the socket: read it first */
	for (int i = 0; i < LAST_WORDS_READS && agent->socket >= 0; i++)
		agent_ready(agent, LOOP_READ);
	if (agent->socket >= 0)
		agent_lose(agents, agent, "the transport agent died");
	if (agent->lost_count > 0 || status != 0)
		event(EV_AGENT_EXIT, NULL, "child", event_number(pid),
		    "status", str_slice(&text), "jobs",
		    event_number(agent->lost_count), NULL);
	str_release(&text);
	agent_free(agents, agent);
}

/* ---- time -------------------------------------------------------- */

/* Tell it to finish: the end of file after what was sent. */
static void
agent_finish(struct agent *agent)
{
	agent->is_closing = true;
	(void)shutdown(agent->socket, SHUT_WR);
}

static void
ring_tick_idle(struct agents *agents, struct ring *ring, int64_t now_ms)
{
	bool is_stale = ring->is_stale;	/* it may go with its last agent */
	struct agent *agent, *next;

	TAILQ_FOREACH_SAFE(agent, &ring->idle, entry, next) {
		int64_t idle_for_ms = now_ms - agent->idle_ms;

		if (agent->is_standby && !is_stale)
			continue;
		if (is_stale || agent->is_surplus ||
		    idle_for_ms >= ring->clause.idle_ms) {
			agent_finish(agent);
			agent_lose(agents, agent, NULL);
			if (is_stale)
				return;
		} else if (!agent->is_told_idle &&
		    idle_for_ms >= IDLE_SAY_MS && agent->hungry_count > 0) {
			agent->is_told_idle = true;
			(void)ipc_send(agent->socket, SLICE("#idle\n"), NULL,
			    0);
		}
	}
}

/* True: one was killed; the others of the ring a second later. */
static bool
ring_tick_busy(struct agents *agents, struct ring *ring, int64_t now_ms)
{
	struct agent *agent;

	TAILQ_FOREACH(agent, &ring->busy, entry)
		if (now_ms - agent->heard_ms > AGENT_PATIENCE_MS) {
			agent_kill(agents, agent,
			    "the transport agent was silent for too long");
			return true;
		}
	return false;
}

static void
agents_tick(void *context)
{
	struct agents *agents = context;
	int64_t now_ms = clock_steady_ms();
	struct ring *ring, *next;

	TAILQ_FOREACH_SAFE(ring, &agents->queue->threads.rings, entry, next)
		if (!ring_tick_busy(agents, ring, now_ms))
			ring_tick_idle(agents, ring, now_ms);
	timer_set(agents->queue->loop, &agents->tick,
	    now_ms + AGENT_TICK_MS, agents_tick, agents);
}

void
agents_open(struct agents *agents, agents_start_fn *start,
    agents_kill_fn *kill)
{
	struct rlimit limit;

	agents->start = start;
	agents->kill = kill;
	agents->fd_budget = FD_BUDGET_MIN;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur > FD_RESERVE + FD_BUDGET_MIN)
		agents->fd_budget = limit.rlim_cur > 1 << 20 ? 1 << 20 :
		    (unsigned)(limit.rlim_cur - FD_RESERVE);
	TAILQ_INIT(&agents->all);
	TAILQ_INIT(&agents->gone);
	timer_set(agents->queue->loop, &agents->tick,
	    clock_steady_ms() + AGENT_TICK_MS, agents_tick, agents);
}

void
agents_stop(struct agents *agents)
{
	struct agent *agent;
	struct ring *ring;

	agents_send(agents, true);
	agents->is_stopping = true;
	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry) {
		TAILQ_FOREACH(agent, &ring->busy, entry)
			agent_finish(agent);
		TAILQ_FOREACH(agent, &ring->idle, entry)
			agent_finish(agent);
	}
}

void
agents_rematch(struct agents *agents)
{
	thread_rematch(&agents->queue->threads, agents->queue->conf);
	plan_repace(&agents->queue->plan, clock_steady_ms());
}

unsigned
agents_busy(const struct agents *agents)
{
	struct agent *agent;
	struct ring *ring;
	unsigned count = 0;

	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry)
		TAILQ_FOREACH(agent, &ring->busy, entry)
			count++;
	return count;
}

/* Without giving jobs back: an agent that still works holds its locks, and
 * the next scheduler waits for them. */
static void
agents_drop(struct agents *agents, struct agent_queue *queue)
{
	struct agent *agent;

	while ((agent = TAILQ_FIRST(queue)) != NULL) {
		struct vertex *vertex;

		TAILQ_REMOVE(queue, agent, entry);
		while ((vertex = TAILQ_FIRST(&agent->jobs)) != NULL) {
			TAILQ_REMOVE(&agent->jobs, vertex, entry);
			plan_forget(&agents->queue->plan, vertex);
		}
		agent_leave_thread(agent);
		agent_close(agents, agent);
		TAILQ_INSERT_TAIL(&agents->gone, agent, entry);
	}
}

/* Who stops us is told what we did not wait for. */
static void
agents_note_left(const struct ring *ring)
{
	const struct agent *agent;

	TAILQ_FOREACH(agent, &ring->busy, entry) {
		const struct vertex *vertex = TAILQ_FIRST(&agent->jobs);

		if (vertex == NULL)
			continue;
		event(EV_AGENT_LEFT, vertex->job->id,
		    "channel", slice_of(vertex->thread->channel),
		    "host", slice_of(vertex->thread->host),
		    "child", event_number(agent->pid),
		    "jobs", event_number(agent->job_count), NULL);
	}
}

void
agents_release(struct agents *agents)
{
	struct agent *agent;
	struct ring *ring;

	timer_clear(&agents->tick);
	timer_clear(&agents->standby_tick);
	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry) {
		agents_note_left(ring);
		agents_drop(agents, &ring->busy);
		agents_drop(agents, &ring->idle);
	}
	while ((agent = TAILQ_FIRST(&agents->gone)) != NULL)
		agent_free(agents, agent);
}
