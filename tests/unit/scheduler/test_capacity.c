/* test_capacity.c - shared limits of agents against a model that counts anew
 *
 * Worlds of rings in two channels and two zones, with limits of their own,
 * of the channel, of the zone and of all; agents come, work, rest and go by
 * random.  The model knows agents as a list and counts it for each question.
 * An agent has no socket here, so agent_lose leaves it alone: the model ends
 * it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "scheduler/agents/capacity.h"

enum {
	RINGS = 6, AGENTS = 64, EVENTS = 20000, WORLDS = 8,
	OWN_MOST = 4, CHANNEL_MOST = 6, ZONE_MOST = 3, TOTAL_MOST = 9
};

static struct {
	struct queue queue;
	struct agents pool;
	struct conf	 conf;
	struct ring	 rings[RINGS];
	struct thread	 threads[RINGS];	/* one a ring */
	struct agent	 agents[AGENTS];
	int		 of[AGENTS];	/* its ring; -1: it is not there */
	bool		 is_busy[AGENTS];
	bool		 has_work[RINGS], is_served[RINGS];
	uint64_t	 seed;
} w;

static uint32_t
dice(uint32_t sides)
{
	w.seed = w.seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w.seed >> 33) % sides;
}

static void
world_make(unsigned mode)
{
	memset(&w, 0, sizeof(w));
	w.seed = mode + 1;
	w.conf.limits.agents = mode & 1 ? TOTAL_MOST : 1000;
	w.queue.conf = &w.conf;
	w.pool.queue = &w.queue;
	w.pool.fd_budget = 1 << 20;
	TAILQ_INIT(&w.queue.threads.rings);
	for (int i = 0; i < RINGS; i++) {
		struct ring *ring = &w.rings[i];

		ring->channel = i % 2 ? "smtp" : "lmtp";
		ring->zone = i % 3 ? "" : "news";
		ring->clause.agents = OWN_MOST;
		ring->clause.channel_agents = mode & 2 ? CHANNEL_MOST : 0;
		ring->zone_agents = (mode & 4) && i % 3 == 0 ? ZONE_MOST : 0;
		TAILQ_INIT(&ring->runnable);
		TAILQ_INIT(&ring->bulk);
		TAILQ_INIT(&ring->idle);
		TAILQ_INIT(&ring->busy);
		TAILQ_INSERT_TAIL(&w.queue.threads.rings, ring, entry);
	}
	for (int i = 0; i < AGENTS; i++) {
		w.agents[i].socket = -1;
		w.of[i] = -1;
	}
}

/* ---- the model: counts over the list ----------------------------------- */

static unsigned
agents_like(const struct ring *ring, const char *channel, const char *zone)
{
	unsigned count = 0;

	for (int i = 0; i < AGENTS; i++) {
		const struct ring *of = w.of[i] < 0 ? NULL : &w.rings[w.of[i]];

		count += of != NULL && (ring == NULL || of == ring) &&
		    (channel == NULL || strcmp(of->channel, channel) == 0) &&
		    (zone == NULL || strcmp(of->zone, zone) == 0);
	}
	return count;
}

static bool
is_idle_at(int ring)
{
	for (int i = 0; i < AGENTS; i++)
		if (w.of[i] == ring && !w.is_busy[i])
			return true;
	return false;
}

static bool
model_shared_is_full(const struct ring *ring, bool *channel, bool *zone)
{
	*channel = ring->clause.channel_agents > 0 &&
	    agents_like(NULL, ring->channel, NULL) >= CHANNEL_MOST;
	*zone = ring->zone_agents > 0 &&
	    agents_like(NULL, NULL, ring->zone) >= ZONE_MOST;
	return *channel || *zone ||
	    agents_like(NULL, NULL, NULL) >= w.conf.limits.agents;
}

static bool
model_may_start(const struct ring *ring)
{
	bool channel, zone;

	return agents_like(ring, NULL, NULL) < OWN_MOST &&
	    !model_shared_is_full(ring, &channel, &zone);
}

static bool
model_is_needed(int i)
{
	const struct ring *ring = &w.rings[i];
	bool channel, zone;

	return w.has_work[i] && !is_idle_at(i) &&
	    agents_like(ring, NULL, NULL) < OWN_MOST &&
	    model_shared_is_full(ring, &channel, &zone) &&
	    (agents_like(ring, NULL, NULL) == 0 || !w.is_served[i]);
}

/* An agent of `from` that goes makes room for `needy`. */
static bool
model_helps(int needy, int from)
{
	const struct ring *ring = &w.rings[needy], *other = &w.rings[from];
	bool channel, zone;

	model_shared_is_full(ring, &channel, &zone);
	if (needy == from || (channel && strcmp(ring->channel,
	    other->channel) != 0) ||
	    (zone && strcmp(ring->zone, other->zone) != 0))
		return false;
	return agents_like(ring, NULL, NULL) == 0 || !w.has_work[from] ||
	    w.is_served[from];
}

/* ---- questions ----------------------------------------------------------- */

static void
check_all(void)
{
	int64_t now_ms = clock_steady_ms();

	for (int i = 0; i < RINGS; i++) {
		bool is_wanted = false;

		cr_assert_eq(capacity_is_free(&w.pool, &w.rings[i], now_ms),
		    model_may_start(&w.rings[i]));
		cr_assert_eq(capacity_is_needed(&w.pool, &w.rings[i],
		    now_ms), model_is_needed(i));
		for (int k = 0; k < RINGS; k++)
			is_wanted |= model_is_needed(k) && model_helps(k, i);
		cr_assert_eq(capacity_is_wanted(&w.pool, &w.rings[i]),
		    is_wanted);
		cr_assert_leq(agents_like(&w.rings[i], NULL, NULL), OWN_MOST);
		if (w.rings[i].clause.channel_agents > 0)
			cr_assert_leq(agents_like(NULL, w.rings[i].channel,
			    NULL), CHANNEL_MOST);
		if (w.rings[i].zone_agents > 0)
			cr_assert_leq(agents_like(NULL, NULL,
			    w.rings[i].zone), ZONE_MOST);
	}
	cr_assert_leq(agents_like(NULL, NULL, NULL), w.conf.limits.agents);
}

/* ---- events -------------------------------------------------------------- */

static void
agent_end(int i)
{
	struct ring *ring = &w.rings[w.of[i]];

	if (w.is_busy[i])
		TAILQ_REMOVE(&ring->busy, &w.agents[i], entry);
	else
		TAILQ_REMOVE(&ring->idle, &w.agents[i], entry);
	ring->agent_count--;
	w.pool.count--;
	w.of[i] = -1;
}

static void
event_start(int ring)
{
	int i = 0;

	if (!capacity_is_free(&w.pool, &w.rings[ring], clock_steady_ms()))
		return;
	while (w.of[i] >= 0)
		cr_assert_lt(++i, AGENTS);
	w.of[i] = ring;
	w.is_busy[i] = true;
	TAILQ_INSERT_HEAD(&w.rings[ring].busy, &w.agents[i], entry);
	w.rings[ring].agent_count++;
	w.pool.count++;
}

static void
event_turn(int i)
{
	struct ring *ring;

	if (w.of[i] < 0)
		return;
	ring = &w.rings[w.of[i]];
	if (w.is_busy[i]) {
		TAILQ_REMOVE(&ring->busy, &w.agents[i], entry);
		TAILQ_INSERT_HEAD(&ring->idle, &w.agents[i], entry);
	} else {
		TAILQ_REMOVE(&ring->idle, &w.agents[i], entry);
		TAILQ_INSERT_HEAD(&ring->busy, &w.agents[i], entry);
	}
	w.is_busy[i] = !w.is_busy[i];
}

/* Work for the ring's only destination comes, is served, or ends. */
static void
event_work(int i)
{
	struct ring *ring = &w.rings[i];
	bool had = w.has_work[i];

	w.has_work[i] = dice(2);
	w.is_served[i] = dice(2);
	w.threads[i].serving = w.is_served[i];
	if (w.has_work[i] && !had) {
		TAILQ_INSERT_TAIL(&ring->runnable, &w.threads[i], run_entry);
		ring->runnable_count++;
	} else if (!w.has_work[i] && had) {
		TAILQ_REMOVE(&ring->runnable, &w.threads[i], run_entry);
		ring->runnable_count--;
	}
}

/* Who is needy gets room exactly when an idle one elsewhere helps. */
static void
event_make(int needy)
{
	int found = -1;

	if (!model_is_needed(needy))
		return;
	for (int i = 0; i < AGENTS && found < 0; i++)
		if (w.of[i] >= 0 && !w.is_busy[i] &&
		    model_helps(needy, w.of[i]))
			found = i;
	cr_assert_eq(capacity_pick(&w.pool, &w.rings[needy]) != NULL,
	    found >= 0);
	if (found >= 0)
		agent_end(found);
}

Test(capacity, agrees_with_a_model_that_counts, .timeout = 3600)
{
	const char *asked = getenv("PLAN_EVENTS");
	uint64_t events = EVENTS;

	if (asked != NULL)
		cr_assert(slice_number(slice_of(asked), 1, UINT32_MAX,
		    &events));
	for (unsigned mode = 0; mode < WORLDS; mode++) {
		world_make(mode);
		for (uint64_t i = 0; i < events; i++) {
			uint32_t what = dice(100);

			if (what < 30)
				event_start((int)dice(RINGS));
			else if (what < 60)
				event_turn((int)dice(AGENTS));
			else if (what < 75)
				event_work((int)dice(RINGS));
			else if (what < 90)
				event_make((int)dice(RINGS));
			else if (w.of[what % AGENTS] >= 0)
				agent_end((int)(what % AGENTS));
			check_all();
		}
	}
}
