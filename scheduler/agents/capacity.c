/* capacity.c - agents that rings have in common
 *
 * In     rings, their agents, the limits of configuration and clauses
 * Out    whether one may start; which idle one may go for others
 * Holds  nothing
 * Trusts counts of agents.c
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "scheduler/agents/agents.h"
#include "scheduler/agents/capacity.h"

#include "base/banned.h"

enum {
	FILES_A_JOB = 2,
	FILES_JOBS_SHARE = 4	/* a part of so many is for jobs alone: agents
				 * that idle must not keep work from others */
};

unsigned
capacity_files(const struct agents *agents)
{
	return agents->count +
	    FILES_A_JOB * (unsigned)agents->queue->plan.open_jobs;
}

bool
capacity_files_are_used_up(const struct agents *agents)
{
	return capacity_files(agents) + FILES_A_JOB > agents->fd_budget;
}

/* An agent more, and its job. */
static bool
capacity_has_socket(const struct agents *agents)
{
	unsigned jobs = (unsigned)agents->queue->plan.open_jobs + 1;
	unsigned least = agents->fd_budget / FILES_JOBS_SHARE / FILES_A_JOB;

	return agents->count + 1 + FILES_A_JOB *
	    (jobs > least ? jobs : least) <= agents->fd_budget;
}

/* Agents of all rings of this channel. */
static unsigned
capacity_channel_agents(const struct agents *agents, const struct ring *of)
{
	const struct ring *ring;
	unsigned count = 0;

	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry)
		if (strcmp(ring->channel, of->channel) == 0)
			count += ring->agent_count;
	return count;
}

enum limit {
	LIMIT_TOTAL = 1, LIMIT_CHANNEL = 2, LIMIT_ZONE = 4, LIMIT_FILES = 8
};

/* Which limits that the ring shares with others are reached. */
static unsigned
capacity_limits_reached(const struct agents *agents, const struct ring *ring)
{
	unsigned reached = 0;

	if (agents->count >= agents->queue->conf->limits.agents)
		reached |= LIMIT_TOTAL;
	if (ring->clause.channel_agents > 0 &&
	    capacity_channel_agents(agents,
	    ring) >= ring->clause.channel_agents)
		reached |= LIMIT_CHANNEL;
	if (ring->zone_agents > 0 && ring_zone_agents(&agents->queue->threads,
	    ring) >= ring->zone_agents)
		reached |= LIMIT_ZONE;
	if (!capacity_has_socket(agents))
		reached |= LIMIT_FILES;
	return reached;
}

/* As far as the ring itself goes. */
static bool
ring_may_grow(const struct ring *ring, int64_t now_ms)
{
	return !ring->is_stale && ring->agent_count < ring->clause.agents &&
	    now_ms >= ring->start_after_ms;
}

bool
capacity_is_free(const struct agents *agents, const struct ring *ring,
    int64_t now_ms)
{
	return ring_may_grow(ring, now_ms) &&
	    capacity_limits_reached(agents, ring) == 0;
}

enum capacity_limit
capacity_bound(const struct agents *agents, const struct ring *ring,
    int64_t now_ms, unsigned *out_limit, unsigned *out_used)
{
	unsigned reached = capacity_limits_reached(agents, ring);

	*out_limit = *out_used = 0;
	if (now_ms < ring->start_after_ms)
		return CAPACITY_START;
	if ((reached & LIMIT_ZONE) != 0) {
		*out_limit = ring->zone_agents;
		*out_used = ring_zone_agents(&agents->queue->threads, ring);
		return CAPACITY_ZONE;
	}
	if (ring->agent_count >= ring->clause.agents) {
		*out_limit = ring->clause.agents;
		*out_used = ring->agent_count;
		return CAPACITY_RING;
	}
	if ((reached & LIMIT_CHANNEL) != 0) {
		*out_limit = ring->clause.channel_agents;
		*out_used = capacity_channel_agents(agents, ring);
		return CAPACITY_CHANNEL;
	}
	if (reached == LIMIT_FILES) {
		*out_limit = agents->fd_budget;
		*out_used = capacity_files(agents);
		return CAPACITY_FILES;
	}
	if ((reached & LIMIT_TOTAL) == 0)
		return CAPACITY_FREE;
	*out_limit = agents->queue->conf->limits.agents;
	*out_used = agents->count;
	return CAPACITY_TOTAL;
}

bool
capacity_is_needed(const struct agents *agents, const struct ring *ring,
    int64_t now_ms)
{
	return plan_has_work(ring) && TAILQ_EMPTY(&ring->idle) &&
	    ring_may_grow(ring, now_ms) &&
	    capacity_limits_reached(agents, ring) != 0 &&
	    (ring->agent_count == 0 || plan_starves(&ring->runnable));
}

/* An agent less here is one more that the needy ring may start.  Who has
 * none at all may take it where others wait, too. */
static bool
capacity_may_come_from(const struct agents *agents,
    const struct ring *needy, const struct ring *ring)
{
	unsigned reached = capacity_limits_reached(agents, needy);

	if (ring == needy || ((reached & LIMIT_CHANNEL) &&
	    strcmp(ring->channel, needy->channel) != 0) ||
	    ((reached & LIMIT_ZONE) && strcmp(ring->zone, needy->zone) != 0))
		return false;
	return needy->agent_count == 0 || !plan_starves(&ring->runnable);
}

struct agent *
capacity_pick(const struct agents *agents, const struct ring *needy)
{
	struct ring *ring;

	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry)
		if (!TAILQ_EMPTY(&ring->idle) &&
		    capacity_may_come_from(agents, needy, ring))
			return TAILQ_LAST(&ring->idle, agent_queue);
	return NULL;
}

bool
capacity_is_wanted(const struct agents *agents, const struct ring *ring)
{
	int64_t now_ms = clock_steady_ms();
	const struct ring *needy;

	TAILQ_FOREACH(needy, &agents->queue->threads.rings, entry)
		if (capacity_is_needed(agents, needy, now_ms) &&
		    capacity_may_come_from(agents, needy, ring))
			return true;
	return false;
}
