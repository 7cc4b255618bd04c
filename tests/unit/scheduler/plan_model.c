/* plan_model.c - a model of the plan that is too simple to be wrong
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/scheduler/plan_model.h"

#include <string.h>

#include "base/mem.h"

struct world w;
const char *const provider_names[2] = { "mx.one", "mx.two" };

uint32_t
dice(uint32_t sides)
{
	w.seed = w.seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w.seed >> 33) % sides;
}

struct vertex *
vertex_of(size_t i)
{
	return &w.jobs[i]->vertices[0];
}

static void
job_make(size_t i)
{
	struct job *job = job_new(1, 1);

	job->inode = i + 1;
	job->source = 100 + dice(SOURCES);
	job->priority = (int8_t)(dice(4) == 0 ? 1 : 0);
	job->rcpt_total = dice(4) == 0 ? 5000 : 1;
	job->born_ms = dice(100000);
	job->vertices[0].thread = &w.threads[i % THREADS];
	job->vertices[0].rcpt_count = (uint16_t)(1 + dice(50));
	w.jobs[i] = job;
}

void
world_make(uint64_t seed, unsigned mode)
{
	struct conf_schedule *clause = &w.ring.clause;

	memset(&w, 0, sizeof(w));
	w.seed = seed;
	w.now_ms = 100000;
	plan_init(&w.plan);
	TAILQ_INIT(&w.ring.runnable);
	TAILQ_INIT(&w.ring.bulk);
	clause->parallel = PARALLEL;
	clause->overfeed = 5;
	clause->is_fair = mode & 1;
	clause->is_by_age = mode & 2;
	clause->rate_count = mode & 4 ? RATE_COUNT : 0;
	clause->rate_per_ms = RATE_PER_MS;
	clause->has_feedback = mode & 8;
	clause->provider = mode & 16 ? PROVIDER_MOST : 0;
	for (size_t i = 0; i < THREADS; i++) {
		struct thread *thread = &w.threads[i];

		thread->ring = &w.ring;
		thread->heap_index = HEAP_NONE;
		lanes_init(&thread->lanes);
		pace_init(thread);
		if (mode & 16) {
			w.t[i].provider = 1 + i % 2;
			provider_join(&w.providers, thread,
			    slice_of(provider_names[i % 2]));
		}
		w.t[i].limit = thread->limit;
		w.t[i].threshold = PARALLEL;
	}
	for (size_t i = 0; i < VERTICES; i++)
		job_make(i);
}

void
world_end(void)
{
	for (size_t i = 0; i < VERTICES; i++) {
		plan_forget(&w.plan, vertex_of(i));
		job_free(&w.jobs[i]);
	}
	cr_assert_eq(w.plan.flows.count, 0);
	for (size_t i = 0; i < THREADS; i++) {
		while (w.threads[i].serving > 0)
			plan_leave(&w.threads[i]);
		cr_assert_not(w.threads[i].is_blocked);
		provider_part(&w.threads[i]);
	}
	plan_release(&w.plan);
	provider_table_release(&w.providers);
}

size_t
number_of(const struct vertex *vertex)
{
	return vertex->job->inode - 1;
}

/* ---- the model's answers -------------------- */

static int
lane_of(size_t i)
{
	const struct job *job = w.jobs[i];

	if (job->priority > 0)
		return LANE_URGENT;
	return w.ring.clause.is_fair && job->rcpt_total > 100 ? LANE_BULK :
	    LANE_NORMAL;
}

static int
source_of(size_t i)
{
	return w.ring.clause.is_fair ? (int)w.jobs[i]->source : 0;
}

static bool
is_before(size_t a, size_t b)
{
	if (w.ring.clause.is_by_age)
		return w.jobs[a]->born_ms < w.jobs[b]->born_ms;
	return w.shadows[a].order < w.shadows[b].order;
}

/* The first of a source in a lane of a thread; -1: none. */
static int
first_ready(size_t thread, int lane, int source)
{
	int best = -1;

	for (size_t i = thread; i < VERTICES; i += THREADS)
		if (w.shadows[i].state == VERTEX_READY &&
		    lane_of(i) == lane && source_of(i) == source &&
		    (best < 0 || is_before(i, (size_t)best)))
			best = (int)i;
	return best;
}

void
turns_enter(size_t i)
{
	struct shadow_turns *turns = &w.t[i % THREADS].turns[lane_of(i)];

	for (int k = 0; k < turns->count; k++)
		if (turns->source[k] == source_of(i))
			return;
	turns->source[turns->count] = source_of(i);
	turns->turns[turns->count++] = 0;
}

static void
turns_drop(struct shadow_turns *turns, int at)
{
	turns->count--;
	for (int k = at; k < turns->count; k++) {
		turns->source[k] = turns->source[k + 1];
		turns->turns[k] = turns->turns[k + 1];
	}
}

/* i is no longer ready: its source may have nothing left. */
void
turns_leave(size_t i)
{
	size_t thread = i % THREADS;
	struct shadow_turns *turns = &w.t[thread].turns[lane_of(i)];

	for (int k = 0; k < turns->count; k++)
		if (turns->source[k] == source_of(i) && first_ready(thread,
		    lane_of(i), source_of(i)) < 0) {
			turns_drop(turns, k);
			return;
		}
}

static int
lane_turn(size_t thread)
{
	static const int weights[LANES] = { 8, 4, 1 };
	int best = -1, sum = 0;

	for (int i = 0; i < LANES; i++) {
		int *credit = &w.t[thread].lane_credit[i];

		if (w.t[thread].turns[i].count == 0) {
			*credit = 0;
			continue;
		}
		*credit += weights[i];
		sum += weights[i];
		if (best < 0 || *credit > w.t[thread].lane_credit[best])
			best = i;
	}
	if (best >= 0)
		w.t[thread].lane_credit[best] -= sum;
	return best;
}

int
next_ready(size_t thread)
{
	int lane = lane_turn(thread);
	struct shadow_turns *turns;

	if (lane < 0)
		return -1;
	turns = &w.t[thread].turns[lane];
	if (turns->count == 1)
		turns->turns[0] = 0;
	for (;;) {
		int source = turns->source[0], saved = turns->turns[0] + 1;
		int first = first_ready(thread, lane, source);
		int cost = 1 + vertex_of((size_t)first)->rcpt_count / 10;

		if (turns->count == 1)
			return first;
		turns_drop(turns, 0);
		turns->source[turns->count] = source;
		turns->turns[turns->count] = saved >= cost ? saved - cost :
		    saved;
		turns->count++;
		if (saved >= cost)
			return first;
	}
}

int64_t
next_moment(void)
{
	int64_t next_ms = INT64_MAX;

	for (int i = 0; i < VERTICES; i++)
		if (w.shadows[i].state == VERTEX_WAIT &&
		    w.shadows[i].due_ms < next_ms)
			next_ms = w.shadows[i].due_ms;
	for (int i = 0; i < THREADS; i++) {
		if (w.t[i].held_ms != 0 && w.t[i].held_ms < next_ms)
			next_ms = w.t[i].held_ms;
		/* how long a pause is, the rate's own check says */
		if (w.threads[i].paced_ms != 0 &&
		    w.threads[i].paced_ms < next_ms)
			next_ms = w.threads[i].paced_ms;
	}
	return next_ms;
}
