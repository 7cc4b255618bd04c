/* test_plan.c - the plan against a model that is too simple to be wrong
 *
 * The model keeps, for each vertex, its state, its moment and a number that
 * says when it became ready; every question is answered by looking at all.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scheduler/plan.h"
#include "scheduler/thread.h"

enum { VERTICES = 60, THREADS = 7, EVENTS = 300000, PARALLEL = 6 };

struct shadow {
	enum vertex_state state;
	int64_t		 due_ms;
	uint64_t	 order;		/* of becoming ready */
};

static struct {
	struct plan	plan;
	struct ring	ring;
	struct thread	threads[THREADS];
	struct job	*jobs[VERTICES];	/* one vertex each */
	struct shadow	shadows[VERTICES];
	int64_t		held_ms[THREADS];	/* 0: not held */
	unsigned	limits[THREADS], troubles[THREADS];
	int64_t		now_ms;
	uint64_t	order;
	uint64_t	seed;
} w;

static uint32_t
dice(uint32_t sides)
{
	w.seed = w.seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w.seed >> 33) % sides;
}

static void
world_make(uint64_t seed)
{
	memset(&w, 0, sizeof(w));
	w.seed = seed;
	w.now_ms = 1000;
	plan_init(&w.plan);
	TAILQ_INIT(&w.ring.runnable);
	w.ring.clause.parallel = PARALLEL;
	w.ring.clause.overfeed = 5;
	for (size_t i = 0; i < THREADS; i++) {
		w.threads[i].ring = &w.ring;
		w.threads[i].limit = w.limits[i] = 3;
		w.threads[i].heap_index = HEAP_NONE;
		TAILQ_INIT(&w.threads[i].ready);
	}
	for (size_t i = 0; i < VERTICES; i++) {
		w.jobs[i] = job_new(1, 1);
		w.jobs[i]->inode = i + 1;
		w.jobs[i]->vertices[0].thread = &w.threads[i % THREADS];
		w.jobs[i]->vertices[0].rcpt_count = 1;
	}
}

static void
world_end(void)
{
	for (size_t i = 0; i < VERTICES; i++) {
		plan_forget(&w.plan, &w.jobs[i]->vertices[0]);
		job_free(&w.jobs[i]);
	}
	plan_release(&w.plan);
}

static size_t
number_of(const struct vertex *vertex)
{
	return vertex->job->inode - 1;
}

/* ---- the model's answers -------------------- */

/* The ready vertex of a thread that has waited longest; -1: none. */
static int
first_ready(size_t thread)
{
	int best = -1;

	for (int i = 0; i < VERTICES; i++)
		if (w.shadows[i].state == VERTEX_READY &&
		    (size_t)i % THREADS == thread && (best < 0 ||
		    w.shadows[i].order < w.shadows[best].order))
			best = i;
	return best;
}

static int64_t
next_moment(void)
{
	int64_t next_ms = INT64_MAX;

	for (int i = 0; i < VERTICES; i++)
		if (w.shadows[i].state == VERTEX_WAIT &&
		    w.shadows[i].due_ms < next_ms)
			next_ms = w.shadows[i].due_ms;
	for (int i = 0; i < THREADS; i++)
		if (w.held_ms[i] != 0 && w.held_ms[i] < next_ms)
			next_ms = w.held_ms[i];
	return next_ms;
}

static void
check_thread(size_t i)
{
	unsigned counts[5] = { 0 };
	const struct thread *thread = &w.threads[i];

	for (size_t k = i; k < VERTICES; k += THREADS)
		counts[w.shadows[k].state]++;
	cr_assert_eq(thread->ready_count, counts[VERTEX_READY]);
	cr_assert_eq(thread->wait_count, counts[VERTEX_WAIT]);
	cr_assert_eq(thread->flight_count, counts[VERTEX_FLIGHT]);
	cr_assert_eq(thread->wake_ms, w.held_ms[i]);
	cr_assert_eq(thread->limit, w.limits[i]);
	cr_assert_eq(thread->trouble_count, w.troubles[i]);
	cr_assert_eq(thread->is_runnable,
	    counts[VERTEX_READY] > 0 && w.held_ms[i] == 0);
}

static void
check_all(void)
{
	const struct thread *thread;
	unsigned runnable = 0, want = 0;

	cr_assert_eq(plan_next_ms(&w.plan), next_moment());
	for (size_t i = 0; i < THREADS; i++) {
		check_thread(i);
		want += w.threads[i].is_runnable;
	}
	TAILQ_FOREACH(thread, &w.ring.runnable, run_entry)
		runnable++;
	cr_assert_eq(runnable, want);
	cr_assert_eq(w.ring.runnable_count, want);
}

/* ---- events -------------------- */

static void
event_take(size_t t)
{
	struct vertex *vertex = plan_take(&w.plan, &w.threads[t], w.now_ms);
	int want = w.held_ms[t] != 0 ? -1 : first_ready(t);

	if (want < 0) {
		cr_assert_null(vertex);
		return;
	}
	cr_assert_not_null(vertex);
	cr_assert_eq(number_of(vertex), (size_t)want, "not first in, first "
	    "out");
	cr_assert_eq(vertex->moment_ms, w.now_ms);
	w.shadows[want].state = VERTEX_FLIGHT;
}

static void
event_move(size_t i)
{
	struct vertex *vertex = &w.jobs[i]->vertices[0];
	struct shadow *shadow = &w.shadows[i];

	switch (dice(4)) {
	case 0:
		if (shadow->state == VERTEX_READY)
			return;
		plan_ready(&w.plan, vertex);
		shadow->state = VERTEX_READY;
		shadow->order = ++w.order;
		break;
	case 1:
	case 2:
		shadow->due_ms = w.now_ms + dice(2000);
		plan_wait(&w.plan, vertex, shadow->due_ms);
		shadow->state = VERTEX_WAIT;
		break;
	default:
		plan_forget(&w.plan, vertex);
		shadow->state = VERTEX_IDLE;
	}
}

static void
event_success(size_t t)
{
	plan_success(&w.plan, &w.threads[t]);
	if (w.troubles[t] > 0 && w.limits[t] < THREAD_LIMIT_REOPEN)
		w.limits[t] = THREAD_LIMIT_REOPEN;
	else if (w.limits[t] < PARALLEL)
		w.limits[t]++;
	w.troubles[t] = 0;
	w.held_ms[t] = 0;
}

static void
event_trouble(size_t t)
{
	int64_t delay_ms = 1 + dice(3000);
	bool is_new = plan_trouble(&w.plan, &w.threads[t], w.now_ms, delay_ms);

	cr_assert_eq(is_new, w.held_ms[t] == 0);
	if (!is_new)
		return;
	w.held_ms[t] = w.now_ms + delay_ms;
	w.limits[t] = 1;
	w.troubles[t]++;
}

static void
event_time(void)
{
	struct vertex *vertex;
	struct thread *thread;

	w.now_ms += dice(300);
	while ((vertex = plan_due(&w.plan, w.now_ms)) != NULL) {
		struct shadow *shadow = &w.shadows[number_of(vertex)];

		cr_assert_eq(shadow->state, VERTEX_WAIT);
		cr_assert_leq(shadow->due_ms, w.now_ms);
		shadow->state = VERTEX_IDLE;
	}
	while ((thread = plan_unhold(&w.plan, w.now_ms)) != NULL) {
		size_t t = (size_t)(thread - w.threads);

		cr_assert_neq(w.held_ms[t], 0);
		cr_assert_leq(w.held_ms[t], w.now_ms);
		w.held_ms[t] = 0;
	}
	cr_assert_gt(next_moment(), w.now_ms, "something was left behind");
}

static void
event_any(void)
{
	uint32_t what = dice(100);

	if (what < 55)
		event_move(dice(VERTICES));
	else if (what < 80)
		event_take(dice(THREADS));
	else if (what < 85)
		event_success(dice(THREADS));
	else if (what < 90)
		event_trouble(dice(THREADS));
	else
		event_time();
}

Test(plan, agrees_with_a_naive_model)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		world_make(seed);
		for (int i = 0; i < EVENTS / 3; i++) {
			event_any();
			check_all();
		}
		world_end();
	}
}

Test(plan, a_success_after_trouble_opens_everything_at_once)
{
	struct thread *thread = &w.threads[0];

	world_make(9);
	for (size_t i = 0; i < VERTICES; i += THREADS)
		plan_ready(&w.plan, &w.jobs[i]->vertices[0]);
	cr_assert(plan_trouble(&w.plan, thread, w.now_ms, 500));
	cr_expect_eq(plan_step(thread, true, true, false), PLAN_NOTHING);
	cr_assert_eq(plan_unhold(&w.plan, w.now_ms + 500), thread);
	cr_expect_eq(plan_step(thread, true, true, false), PLAN_IDLE);
	cr_expect_eq(plan_share(thread), 1, "a probe");
	thread->serving = 1;
	cr_expect_eq(plan_step(thread, true, true, false), PLAN_NOTHING);
	plan_success(&w.plan, thread);
	cr_expect_eq(plan_step(thread, true, true, false), PLAN_IDLE);
	cr_expect_eq(plan_step(thread, false, true, false), PLAN_START);
	cr_expect_eq(plan_step(thread, false, false, false), PLAN_MORE);
	cr_expect_eq(plan_step(thread, false, false, true), PLAN_NOTHING);
	cr_expect_eq(plan_share(thread), 5, "the clause's overfeed");
	thread->serving = 3;
	cr_expect_eq(plan_share(thread), 3, "an even share of nine");
	thread->serving = 0;
	world_end();
}

/* ---- the table of jobs -------------------- */

Test(queue, the_table_finds_what_was_put_in)
{
	enum { INODES = 5000 };
	static struct job *all[INODES];
	struct job_table table;
	size_t cursor = 0, count = 0, seen = 0;

	w.seed = 3;
	job_table_init(&table);
	for (int i = 0; i < 200000; i++) {
		uint32_t n = dice(INODES);

		cr_assert_eq(job_table_find(&table, n + 1), all[n]);
		if (all[n] == NULL) {
			all[n] = job_new(0, 0);
			all[n]->inode = n + 1;
			job_table_add(&table, all[n]);
			count++;
		} else if (dice(2) == 0) {
			job_table_remove(&table, n + 1);
			job_free(&all[n]);
			count--;
		}
		cr_assert_eq(table.count, count);
	}
	while (job_table_next(&table, &cursor) != NULL)
		seen++;
	cr_expect_eq(seen, count);
	for (int i = 0; i < INODES; i++)
		job_free(&all[i]);
	job_table_release(&table);
}

Test(queue, a_recipient_is_found_by_its_offset)
{
	struct job *job = job_new(2, 150);
	struct vertex *vertex = &job->vertices[1];

	for (uint32_t i = 0; i < 150; i++)
		job->rcpts[i].offset = 100 + i * 10;
	vertex->rcpt_first = 100;
	vertex->rcpt_count = 50;
	cr_expect_eq(vertex_rcpt(vertex, 1100), &job->rcpts[100]);
	cr_expect_eq(vertex_rcpt(vertex, 1590), &job->rcpts[149]);
	cr_expect_null(vertex_rcpt(vertex, 1090), "of the other vertex");
	cr_expect_null(vertex_rcpt(vertex, 1105));
	cr_expect_null(vertex_rcpt(vertex, 0));
	cr_expect_null(vertex_rcpt(vertex, UINT32_MAX));
	job_free(&job);
}
