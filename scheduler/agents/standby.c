/* standby.c - connections that are kept open without mail (`warm N`)
 *
 * In     clauses that name one host; time; what agents say to #warm
 * Out    agents started, asked now and then to open or keep a connection
 * Holds  in each ring how often that went wrong, and not before when it is
 *        tried again
 * Trusts no agent to answer: one that does not is not asked again
 * Spec   doc/protocol/agent.md
 *
 * Mail comes first: an agent on standby goes to whoever needs one, and a new
 * one is started only when all limits leave room.
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/agents/capacity.h"

#include "base/banned.h"

enum { STANDBY_FIRST_MS = 1000, STANDBY_MAX_MS = 300000 };

/* Nobody is on standby before it is said again. */
static void
standby_clear(struct agents *agents)
{
	struct agent *agent;
	struct ring *ring;

	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry)
		TAILQ_FOREACH(agent, &ring->idle, entry)
			agent->is_standby = false;
}

/* So many of the idle ones, those that were used last, that with the others
 * they are `most`.  How many there are then. */
static unsigned
standby_mark(struct ring *ring, unsigned most)
{
	struct agent *agent;
	unsigned count = 0;

	TAILQ_FOREACH(agent, &ring->busy, entry)
		count++;
	TAILQ_FOREACH(agent, &ring->idle, entry) {
		agent->is_standby = count < most && !agent->is_surplus;
		count += agent->is_standby;
	}
	return count;
}

static bool
standby_is_due(const struct agent *agent, int64_t now_ms)
{
	int64_t since_ms = agent->asked_ms > agent->idle_ms ?
	    agent->asked_ms : agent->idle_ms;

	if (!agent->is_standby || agent->is_asked ||
	    agent->hungry_count != agent->sent_count + 1)
		return false;
	if (agent->connection == NULL)
		return now_ms >= agent->ring->standby_at_ms;
	return now_ms - since_ms >= agent->ring->clause.idle_ms / 2;
}

/* While the host takes none, one at a time knocks. */
static bool
standby_may_open(const struct ring *ring)
{
	const struct agent *agent;

	if (ring->standby_failures == 0)
		return true;
	TAILQ_FOREACH(agent, &ring->idle, entry)
		if (agent->is_asked && agent->connection == NULL)
			return false;
	return true;
}

static void
standby_ask(struct agents *agents, struct ring *ring,
    const struct thread *thread, int64_t now_ms)
{
	struct agent *agent, *next;

	TAILQ_FOREACH_SAFE(agent, &ring->idle, entry, next) {
		if (!standby_is_due(agent, now_ms) ||
		    (agent->connection == NULL && !standby_may_open(ring)))
			continue;
		agent->is_asked = true;
		agent->asked_ms = now_ms;
		agent->last_hash = thread->hash;
		str_addf(&agent->rest, "#warm %s\n", thread->host);
		agent_send(agents, agent);
	}
}

static void
ring_stand_by(struct agents *agents, struct ring *ring,
    struct thread *thread, int64_t now_ms)
{
	unsigned most = ring->clause.warm, sessions = plan_sessions(thread);
	unsigned count;

	if (most > sessions)
		most = sessions;
	count = standby_mark(ring, most);
	if (count < most && now_ms >= ring->standby_at_ms &&
	    (count == 0 || ring->standby_failures == 0) &&
	    capacity_is_free(agents, ring, now_ms))
		(void)agent_new(agents, ring);
	standby_ask(agents, ring, thread, now_ms);
}

/* The destination that the clause names. */
static struct thread *
standby_thread(struct agents *agents, const struct conf_schedule *clause,
    int64_t now_ms)
{
	struct queue *queue = agents->queue;
	struct slice channel = slice_of(clause->channel);
	struct slice host = slice_of(clause->host);
	const struct conf_zone *zone = conf_zone_for(queue->conf, SLICE(""),
	    channel, SLICE(""), host);
	struct thread *thread = thread_get(&queue->threads, queue->conf,
	    (struct thread_way){ channel, host,
	    slice_of(zone != NULL ? zone->name : "") }, now_ms);

	thread->used_ms = now_ms;	/* it stays */
	orders_apply(&queue->orders, thread);
	return thread;
}

static void
standby_tick(struct agents *agents, int64_t now_ms)
{
	const struct conf *conf = agents->queue->conf;

	standby_clear(agents);
	if (agents->is_stopping || agents->queue->orders.is_draining)
		return;
	for (size_t i = 0; i < conf->schedule_count; i++) {
		const struct conf_schedule *clause = &conf->schedules[i];
		struct thread *thread;

		if (clause->warm == 0 || conf_schedule_for(conf, slice_of(
		    clause->channel), slice_of(clause->host)) != clause)
			continue;
		thread = standby_thread(agents, clause, now_ms);
		if (!thread->is_suspended && thread->wake_ms == 0)
			ring_stand_by(agents, thread->ring, thread, now_ms);
	}
}

void
agents_stand_by(void *context)
{
	struct agents *agents = context;
	int64_t now_ms = clock_steady_ms();

	standby_tick(agents, now_ms);
	timer_set(agents->queue->loop, &agents->standby_tick,
	    now_ms + AGENT_TICK_MS, agents_stand_by, agents);
}

/* Longer each time, up to STANDBY_MAX_MS. */
static void
standby_back_off(struct ring *ring, int64_t now_ms)
{
	unsigned shift = ring->standby_failures < 9 ?
	    ring->standby_failures : 9;
	int64_t wait_ms = (int64_t)STANDBY_FIRST_MS << shift;

	if (wait_ms > STANDBY_MAX_MS)
		wait_ms = STANDBY_MAX_MS;
	ring->standby_failures++;
	ring->standby_at_ms = now_ms + wait_ms;
}

bool
agent_take_warm(struct agent *agent, const struct answer *answer)
{
	struct ring *ring = agent->ring;
	int64_t now_ms = clock_steady_ms();

	if (!agent->is_asked)
		return false;
	agent->is_asked = false;
	agent->asked_ms = now_ms;
	agent->talk_count = 0;
	if (answer->is_open) {
		ring->standby_failures = 0;
		ring->standby_at_ms = 0;
		return true;
	}
	standby_back_off(ring, now_ms);
	event(EV_WARM_FAILED, NULL, "channel", slice_of(ring->channel),
	    "host", slice_of(agent_standby_host(agent)), "reason",
	    answer->text, "until", event_number(
	    clock_wall_of_s(ring->standby_at_ms)), NULL);
	return true;
}
