/* test_plan.c - the plan against a model that is too simple to be wrong
 *
 * A run has PLAN_EVENTS events (environment; preset EVENTS).  `make model`
 * makes a million a world.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/scheduler/plan_model.h"

enum { EVENTS = 30000 };

/* ---- is everything as the model says -------------------- */

static void
check_thread(size_t i)
{
	unsigned counts[5] = { 0 };
	const struct thread *thread = &w.threads[i];
	bool should;

	for (size_t k = i; k < VERTICES; k += THREADS)
		counts[w.shadows[k].state]++;
	cr_assert_eq(thread->ready_count, counts[VERTEX_READY]);
	cr_assert_eq(thread->wait_count, counts[VERTEX_WAIT]);
	cr_assert_eq(thread->flight_count, counts[VERTEX_FLIGHT]);
	cr_assert_eq(thread->wake_ms, w.t[i].held_ms);
	cr_assert_eq(thread->limit, w.t[i].limit);
	cr_assert_eq(thread->trouble_count, w.t[i].troubles);
	should = counts[VERTEX_READY] > 0 && w.t[i].held_ms == 0 &&
	    thread->paced_ms == 0;
	cr_assert_eq(thread->is_runnable, should && !thread->is_blocked);
	cr_assert(should || !thread->is_blocked);
	cr_assert(!thread->is_blocked || thread->provider->serving > 0,
	    "it waits for nobody");
}

/* In no span of RATE_PER_MS more than the rate and a second's worth. */
static void
check_rate(size_t i)
{
	const struct shadow_thread *t = &w.t[i];
	unsigned count = 0;

	for (size_t k = t->take_count; k-- > 0 && k + TAKES > t->take_count &&
	    t->takes[k % TAKES] > w.now_ms - RATE_PER_MS;)
		count++;
	if (w.ring.clause.rate_count > 0)
		cr_assert_leq(count, 2 * RATE_COUNT);
}

static void
check_all(void)
{
	unsigned in_queues = 0, want = 0, serving[3] = { 0 };
	const struct thread *thread;

	cr_assert_eq(w.plan.due.count + w.plan.held.count +
	    w.plan.paced.count > 0, next_moment() != INT64_MAX);
	cr_assert_eq(plan_next_ms(&w.plan), next_moment());
	for (size_t i = 0; i < THREADS; i++) {
		check_thread(i);
		check_rate(i);
		want += w.threads[i].is_runnable;
		serving[w.t[i].provider] += w.threads[i].serving;
	}
	TAILQ_FOREACH(thread, &w.ring.runnable, run_entry) {
		cr_assert(lanes_have_quick(thread));
		in_queues++;
	}
	TAILQ_FOREACH(thread, &w.ring.bulk, run_entry) {
		cr_assert_not(lanes_have_quick(thread));
		in_queues++;
	}
	cr_assert_eq(in_queues, want);
	cr_assert_eq(w.ring.runnable_count + w.ring.bulk_count, want);
	for (size_t i = 0; i < THREADS && w.t[i].provider > 0; i++) {
		const struct provider *provider = w.threads[i].provider;

		cr_assert_eq(provider->serving, serving[w.t[i].provider]);
		cr_assert_str_eq(provider->name,
		    provider_names[w.t[i].provider - 1]);
	}
	cr_assert_leq(w.providers.count, 2, "one without a thread is kept");
}

/* ---- events -------------------- */

static void
event_take(size_t t)
{
	bool is_shut = w.t[t].held_ms != 0 || w.threads[t].paced_ms != 0;
	struct vertex *vertex = plan_take(&w.plan, &w.threads[t], w.now_ms);
	int want = is_shut ? -1 : next_ready(t);

	if (want < 0) {
		cr_assert_null(vertex);
		return;
	}
	cr_assert_not_null(vertex);
	if (w.ring.clause.is_by_age)	/* equal ages in any order */
		cr_assert_eq(vertex->job->born_ms,
		    w.jobs[want]->born_ms);
	else
		cr_assert_eq(number_of(vertex), (size_t)want);
	cr_assert_eq(vertex->moment_ms, w.now_ms);
	w.shadows[number_of(vertex)].state = VERTEX_FLIGHT;
	turns_leave(number_of(vertex));
	w.t[t].takes[w.t[t].take_count++ % TAKES] = w.now_ms;
}

static void
event_move(size_t i)
{
	struct vertex *vertex = vertex_of(i);
	struct shadow *shadow = &w.shadows[i];
	bool was_ready = shadow->state == VERTEX_READY;

	switch (dice(4)) {
	case 0:
		if (was_ready)
			return;
		plan_ready(&w.plan, vertex);
		shadow->state = VERTEX_READY;
		shadow->order = ++w.order;
		turns_enter(i);
		return;
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
	if (was_ready)
		turns_leave(i);
}

static void
model_grow(struct shadow_thread *t)
{
	if (!w.ring.clause.has_feedback) {
		t->limit = PARALLEL;
	} else if (t->limit < PARALLEL) {
		if (t->limit >= t->threshold && t->credit + 1 < t->limit) {
			t->credit++;
		} else {
			t->credit = 0;
			t->limit++;
		}
	}
}

static int64_t
begun(void)
{
	return w.now_ms - dice(400);
}

static void
event_success(size_t i)
{
	struct shadow_thread *t = &w.t[i];
	int64_t begun_ms = begun();

	plan_success(&w.plan, &w.threads[i], begun_ms, w.now_ms);
	t->troubles = t->failures = 0;
	t->good_ms = w.now_ms;
	if (t->reduced_ms == 0 || begun_ms > t->reduced_ms)
		model_grow(t);
	if (!t->is_firm)
		t->held_ms = 0;
}

static void
model_less(struct shadow_thread *t, int64_t begun_ms)
{
	if (t->reduced_ms != 0 && begun_ms <= t->reduced_ms)
		return;
	t->limit = t->limit > 1 ? t->limit / 2 : 1;
	t->threshold = t->limit;
	t->credit = 0;
	t->reduced_ms = w.now_ms;
}

static bool
model_is_down(struct shadow_thread *t, int64_t begun_ms)
{
	if (!w.ring.clause.has_feedback || t->good_ms == 0 ||
	    w.now_ms - t->good_ms >= 10000)
		return true;
	t->failures++;
	model_less(t, begun_ms);
	return t->failures > t->limit;
}

static void
event_trouble(size_t i)
{
	struct shadow_thread *t = &w.t[i];
	int64_t delay_ms = 1 + dice(3000), begun_ms = begun();
	enum plan_trouble got = plan_trouble(&w.plan, &w.threads[i],
	    begun_ms, w.now_ms, delay_ms);

	if (t->held_ms != 0) {
		cr_assert_eq(got, PLAN_TROUBLE_OLD);
		return;
	}
	if (!model_is_down(t, begun_ms)) {
		cr_assert_eq(got, PLAN_TROUBLE_LESS);
		return;
	}
	cr_assert_eq(got, PLAN_TROUBLE_DOWN);
	if (t->limit > 1)
		t->threshold = t->limit > 3 ? t->limit / 2 : 2;
	t->held_ms = w.now_ms + delay_ms;
	t->limit = 1;
	t->credit = t->failures = 0;
	t->good_ms = 0;
	t->reduced_ms = w.now_ms;
	t->troubles++;
}

static void
event_hold(size_t i)
{
	int64_t until_ms = w.now_ms + 1 + dice(3000);

	plan_hold(&w.plan, &w.threads[i], until_ms);
	w.t[i].is_firm = true;
	if (w.t[i].held_ms < until_ms)
		w.t[i].held_ms = until_ms;
}

/* What the feeder does with a runnable thread, and agents that end. */
static void
event_serve(size_t i)
{
	struct thread *thread = &w.threads[i];
	enum plan_step step = plan_step(thread, true, true, false);
	unsigned serving = thread->provider != NULL ?
	    thread->provider->serving : 0;

	if (dice(3) == 0) {
		if (thread->serving > 0)
			plan_leave(thread);
		return;
	}
	if (!thread->is_runnable)
		return;
	if (step == PLAN_BLOCK) {
		cr_assert_eq(thread->serving, 0);
		cr_assert_geq(serving, PROVIDER_MOST);
		plan_block(thread);
	} else if (step == PLAN_IDLE) {
		cr_assert_lt(thread->serving, w.t[i].troubles > 0 ? 1 :
		    w.t[i].limit);
		cr_assert(w.ring.clause.provider == 0 ||
		    serving < PROVIDER_MOST);
		plan_serve(thread);
	}
}

/* What an agent that serves the thread says of its MX hosts. */
static void
event_join(size_t i)
{
	unsigned which = dice(2);

	if (w.t[i].provider == 0 || w.threads[i].serving == 0)
		return;
	plan_join(&w.providers, &w.threads[i],
	    slice_of(provider_names[which]));
	w.t[i].provider = 1 + which;
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

		cr_assert_neq(w.t[t].held_ms, 0);
		cr_assert_leq(w.t[t].held_ms, w.now_ms);
		w.t[t].held_ms = 0;
		w.t[t].is_firm = false;
	}
	while (plan_unpace(&w.plan, w.now_ms) != NULL)
		;
	cr_assert_gt(next_moment(), w.now_ms, "something was left behind");
}

static void
event_any(void)
{
	uint32_t what = dice(100);

	if (what < 50)
		event_move(dice(VERTICES));
	else if (what < 70)
		event_take(dice(THREADS));
	else if (what < 76)
		event_success(dice(THREADS));
	else if (what < 80)
		event_trouble(dice(THREADS));
	else if (what < 81)
		event_hold(dice(THREADS));
	else if (what < 89)
		event_serve(dice(THREADS));
	else if (what < 90)
		event_join(dice(THREADS));
	else
		event_time();
}

Test(plan, agrees_with_a_naive_model, .timeout = 3600)
{
	const char *asked = getenv("PLAN_EVENTS");
	uint64_t events = EVENTS;

	if (asked != NULL)
		cr_assert(slice_number(slice_of(asked), 1, UINT32_MAX,
		    &events));
	for (unsigned mode = 0; mode < 32; mode++) {
		world_make(mode + 1, mode);
		for (uint64_t i = 0; i < events; i++) {
			event_any();
			check_all();
		}
		world_end();
	}
}

/* ---- single facts -------------------- */

Test(plan, a_success_after_trouble_opens_everything_at_once)
{
	struct thread *thread = &w.threads[0];

	world_make(9, 8);
	for (size_t i = 0; i < VERTICES; i += THREADS) {
		w.jobs[i]->rcpt_total = 1;
		plan_ready(&w.plan, vertex_of(i));
	}
	cr_assert_eq(plan_trouble(&w.plan, thread, w.now_ms, w.now_ms, 500),
	    PLAN_TROUBLE_DOWN);
	cr_expect_eq(plan_step(thread, true, true, false), PLAN_NOTHING);
	cr_assert_eq(plan_unhold(&w.plan, w.now_ms + 500), thread);
	cr_expect_eq(plan_step(thread, true, true, false), PLAN_IDLE);
	cr_expect_eq(plan_share(thread), 1, "a probe");
	plan_serve(thread);
	cr_expect_eq(plan_step(thread, true, true, false), PLAN_NOTHING);
	plan_success(&w.plan, thread, w.now_ms + 501, w.now_ms + 502);
	cr_expect_eq(plan_step(thread, true, true, false), PLAN_IDLE);
	cr_expect_eq(plan_step(thread, false, true, false), PLAN_START);
	cr_expect_eq(plan_step(thread, false, false, false), PLAN_MORE);
	cr_expect_eq(plan_step(thread, false, false, true), PLAN_NOTHING);
	cr_expect_eq(plan_share(thread), 5, "the clause's overfeed");
	plan_serve(thread);
	plan_serve(thread);
	cr_expect_eq(plan_share(thread), 3, "an even share of nine");
	world_end();
}

Test(plan, a_probe_that_was_ordered_makes_no_hold_longer)
{
	struct thread *thread = &w.threads[0];

	world_make(9, 1);
	w.jobs[0]->rcpt_total = 1;
	plan_ready(&w.plan, vertex_of(0));
	cr_assert_eq(plan_trouble(&w.plan, thread, w.now_ms, w.now_ms, 500),
	    PLAN_TROUBLE_DOWN);
	for (unsigned i = 1; i < 4; i++) {
		plan_wake(&w.plan, thread);
		cr_expect_eq(thread->wake_ms, 0);
		cr_assert_eq(plan_trouble(&w.plan, thread, w.now_ms + i,
		    w.now_ms + i, 9000), PLAN_TROUBLE_DOWN);
		cr_expect_eq(thread->wake_ms, w.now_ms + 500);
		cr_expect_eq(thread->trouble_count, 1);
	}
	cr_assert_eq(plan_unhold(&w.plan, w.now_ms + 500), thread);
	cr_assert_eq(plan_trouble(&w.plan, thread, w.now_ms + 501,
	    w.now_ms + 501, 9000), PLAN_TROUBLE_DOWN);
	cr_expect_eq(thread->wake_ms, w.now_ms + 9501);
	cr_expect_eq(thread->trouble_count, 2);
	world_end();
}

Test(plan, bulk_is_not_fed_ahead)
{
	struct thread *thread = &w.threads[0];

	world_make(9, 1);
	for (size_t i = 0; i < VERTICES; i += THREADS) {
		w.jobs[i]->rcpt_total = 100000;
		w.jobs[i]->priority = 0;
		plan_ready(&w.plan, vertex_of(i));
	}
	plan_serve(thread);
	cr_expect_eq(plan_share(thread), 1);
	world_end();
}

/* Two destinations, one provider, one session. */
Test(plan, nothing_is_fed_ahead_while_the_provider_keeps_another_waiting)
{
	struct provider_table providers = { .size = 0 };
	struct thread *one = &w.threads[0], *other = &w.threads[1];

	world_make(9, 0);
	w.ring.clause.provider = 1;
	provider_join(&providers, one, SLICE("mx.test"));
	provider_join(&providers, other, SLICE("mx.test"));
	for (size_t i = 0; i < VERTICES; i++)
		if (i % THREADS < 2)
			plan_ready(&w.plan, vertex_of(i));
	plan_serve(one);
	cr_expect_eq(plan_step(one, true, true, false), PLAN_MORE);
	cr_assert_eq(plan_step(other, true, true, false), PLAN_BLOCK);
	plan_block(other);
	cr_expect_eq(plan_step(one, true, true, false), PLAN_NOTHING);
	plan_leave(one);
	cr_expect_eq(plan_step(other, true, true, false), PLAN_IDLE);
	provider_part(one);
	provider_part(other);
	provider_table_release(&providers);
	world_end();
}
