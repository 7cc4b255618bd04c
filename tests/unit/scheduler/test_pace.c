/* test_pace.c - sessions and pace against hosts that have a limit
 *
 * Hosts are simulated: a message takes 100 ms, time goes in milliseconds.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/plan/lanes.h"
#include "scheduler/plan/shaping/pace.h"
#include "scheduler/plan/thread.h"

enum { TAKES_MS = 100, SESSIONS = 20, FAR_SESSIONS = 100, RUN_MS = 120000 };

struct host {
	unsigned	sessions;	/* more at a time are refused */
	unsigned	per_second;	/* more messages are refused */
	unsigned	at_once;	/* it works on so many; 0: on all */
};

static struct {
	struct ring	ring;
	struct thread	thread;
	int64_t		begun_ms[FAR_SESSIONS];	/* of each session; 0: free */
	int64_t		free_ms;	/* nothing goes before */
	unsigned	second, in_second;
	unsigned	good, refused;
} s;

static void
sim_open(void)
{
	memset(&s, 0, sizeof(s));
	s.ring.clause.parallel = SESSIONS;
	s.ring.clause.has_feedback = true;
	s.thread.ring = &s.ring;
	lanes_init(&s.thread.lanes);
	pace_init(&s.thread);
}

static unsigned
busy(void)
{
	unsigned count = 0;

	for (int i = 0; i < FAR_SESSIONS; i++)
		count += s.begun_ms[i] != 0;
	return count;
}

static void
answer(const struct host *host, int64_t begun_ms, int64_t now_ms)
{
	if (s.second != now_ms / 1000)
		s.in_second = 0;
	s.second = (unsigned)(now_ms / 1000);
	if (busy() + 1 > host->sessions || ++s.in_second > host->per_second) {
		s.refused++;
		pace_less(&s.thread, begun_ms, now_ms);
		if (busy() + 1 <= host->sessions)
			pace_slow(&s.thread, begun_ms, now_ms);
	} else {
		s.good++;
		pace_good(&s.thread, begun_ms, now_ms);
		pace_worked(&s.thread, begun_ms, now_ms - begun_ms, now_ms);
	}
}

static void
step(const struct host *host, int64_t now_ms)
{
	unsigned work = busy();
	int64_t takes_ms = host->at_once > 0 && work > host->at_once ?
	    TAKES_MS * work / host->at_once : TAKES_MS;

	s.thread.serving = work;
	for (int i = 0; i < FAR_SESSIONS; i++) {
		int64_t begun_ms = s.begun_ms[i];

		if (begun_ms == 0 || now_ms - begun_ms < takes_ms)
			continue;
		s.begun_ms[i] = 0;
		answer(host, begun_ms, now_ms);
	}
	for (int i = 0; i < FAR_SESSIONS && busy() < pace_limit(&s.thread) &&
	    now_ms >= s.free_ms; i++)
		if (s.begun_ms[i] == 0) {
			s.begun_ms[i] = now_ms;
			s.free_ms = pace_taken(&s.thread, now_ms);
		}
}

static void
run(const struct host *host, int64_t *now_ms, int64_t for_ms)
{
	s.good = s.refused = 0;
	for (int64_t end_ms = *now_ms + for_ms; *now_ms < end_ms; ++*now_ms)
		step(host, *now_ms);
}

Test(pace, a_host_that_takes_everything_gets_all_sessions)
{
	const struct host host = { 1000, 100000, 0 };
	int64_t now_ms = 1000000;

	sim_open();
	cr_expect_eq(pace_limit(&s.thread), THREAD_LIMIT_START);
	run(&host, &now_ms, 2000);
	cr_expect_eq(pace_limit(&s.thread), SESSIONS);
	cr_expect_eq(s.refused, 0);
}

/* Near what it takes, with few refusals. */
Test(pace, sessions_settle_below_what_is_refused)
{
	const struct host host = { 6, 100000, 0 };
	int64_t now_ms = 1000000;

	sim_open();
	run(&host, &now_ms, 5000);
	run(&host, &now_ms, RUN_MS);
	cr_expect_gt(s.good, RUN_MS / TAKES_MS * 3, "%u", s.good);
	cr_expect_lt(s.refused * 10, s.good, "%u of %u", s.refused, s.good);
}

Test(pace, the_pace_settles_near_the_rate)
{
	static const unsigned rates[] = { 100, 30, 5, 1 };

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		const struct host host = { 1000, rates[i], 0 };
		int64_t now_ms = 1000000;
		unsigned most = RUN_MS / 1000 * rates[i];

		sim_open();
		run(&host, &now_ms, 30000);
		run(&host, &now_ms, RUN_MS);
		cr_expect_gt(s.good * 2, most, "%u/s: %u of %u", rates[i],
		    s.good, most);
		cr_expect_lt(s.refused * 4, s.good, "%u/s: %u refused, %u "
		    "not", rates[i], s.refused, s.good);
	}
}

Test(pace, it_comes_back_step_by_step)
{
	const struct host narrow = { 1000, 5, 0 }, wide = { 1000, 100000, 0 };
	int64_t now_ms = 1000000, before_us;

	sim_open();
	run(&narrow, &now_ms, 60000);
	before_us = s.thread.pace.slow_us;
	cr_assert_gt(before_us, PACE_SLOW_MIN_US);
	run(&wide, &now_ms, 5000);
	cr_expect_gt(s.thread.pace.slow_us, before_us / 4, "not at once");
	run(&wide, &now_ms, 60000);
	cr_expect_eq(s.thread.pace.slow_us, 0);
	cr_expect_eq(pace_limit(&s.thread), SESSIONS);
}

Test(pace, without_feedback_nothing_is_learned)
{
	const struct host host = { 6, 10, 0 };
	int64_t now_ms = 1000000;

	sim_open();
	s.ring.clause.has_feedback = false;
	pace_init(&s.thread);
	run(&host, &now_ms, 5000);
	cr_expect_eq(pace_limit(&s.thread), SESSIONS);
	cr_expect_eq(s.thread.pace.slow_us, 0);
}

/* The time to answer is what limits. */
Test(pace, a_host_far_away_gets_as_many_as_bring_more)
{
	const struct host host = { 1000, 100000, 0 };
	int64_t now_ms = 1000000;

	sim_open();
	s.ring.clause.parallel = FAR_SESSIONS;
	pace_init(&s.thread);
	run(&host, &now_ms, 5000);
	cr_expect_eq(pace_limit(&s.thread), FAR_SESSIONS, "%u",
	    pace_limit(&s.thread));
	cr_expect_eq(s.refused, 0);
}

struct fed {
	int64_t		end_ms;		/* of what it is at */
	int64_t		heard_ms, turn_ms;	/* of what it was at before */
	unsigned	pair;		/* they end two by two, or one by one */
};

/* What a session is done with by now is heard.  It is fed ahead, and goes on
 * whether we hear of it or not. */
static void
fed_hear(struct fed *fed, int64_t now_ms)
{
	for (; fed->end_ms <= now_ms; fed->end_ms += TAKES_MS * fed->pair)
		for (unsigned i = 0; i < fed->pair; i++) {
			int64_t took_ms = now_ms - fed->heard_ms;

			if (took_ms > 0)
				fed->turn_ms = fed->heard_ms;
			fed->heard_ms = now_ms;
			pace_good(&s.thread, now_ms - TAKES_MS, now_ms);
			pace_worked(&s.thread, fed->turn_ms, took_ms, now_ms);
		}
}

/* For ten seconds, at the beginning of which we are busy, and hear answers only
 * at multiples of gather_ms. */
static void
fed_run(int64_t gather_ms, unsigned pair)
{
	struct fed fed[FAR_SESSIONS];

	for (int64_t ms = 1; ms < 10000; ms++) {
		if (ms < 1500 && ms % gather_ms != 0)
			continue;
		for (unsigned i = 0; i < s.thread.serving; i++)
			fed_hear(&fed[i], ms);
		if (s.thread.serving > pace_limit(&s.thread))
			s.thread.serving = pace_limit(&s.thread);
		while (s.thread.serving < pace_limit(&s.thread))
			fed[s.thread.serving++] = (struct fed){ ms + (1 +
				pair) * TAKES_MS, ms, ms, pair };
	}
}

/* A wave of answers more or less is not what sessions bring. */
Test(pace, answers_that_come_in_waves)
{
	for (unsigned i = 2; i < 800; i++) {
		int64_t gather_ms = i / 2;
		unsigned pair = 1 + i % 2;

		sim_open();
		s.ring.clause.parallel = FAR_SESSIONS;
		pace_init(&s.thread);
		fed_run(gather_ms, pair);
		cr_expect_eq(pace_limit(&s.thread), FAR_SESSIONS,
		    "%d ms, %u at once: %u", (int)gather_ms, pair,
		    pace_limit(&s.thread));
	}
}

/* It refuses nothing, it takes longer. */
Test(pace, a_host_that_slows_down_is_left_in_peace)
{
	const struct host host = { 1000, 100000, 20 };
	unsigned above = 0;
	int64_t now_ms = 1000000;

	sim_open();
	s.ring.clause.parallel = FAR_SESSIONS;
	pace_init(&s.thread);
	for (int i = 0; i < 600; i++) {
		run(&host, &now_ms, 100);
		above += pace_limit(&s.thread) > PACE_NEAR;
		cr_assert_leq(pace_limit(&s.thread), PACE_NEAR * 3 / 2);
	}
	cr_expect_lt(above, 60, "%u of 600", above);
}

/* As near as the answers come, there was nothing to gain by the last step. */
Test(pace, sessions_end_where_they_bring_no_more)
{
	const struct host host = { 1000, 100000, 45 };
	int64_t now_ms = 1000000;

	sim_open();
	s.ring.clause.parallel = FAR_SESSIONS;
	pace_init(&s.thread);
	run(&host, &now_ms, 20000);
	cr_expect_eq(pace_limit(&s.thread), 45, "%u", pace_limit(&s.thread));
}
