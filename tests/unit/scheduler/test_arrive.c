/* test_arrive.c - spans of arrivals, and what is said by them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/clock.h"
#include "scheduler/plan/arrivals/estimate.h"

enum { NOW_S = 1800000000, SECOND = 1000, MINUTE = 60000, HOUR = 3600000 };

static void
arrive_many(struct arrive *arrive, unsigned count, int64_t span_ms)
{
	while (count-- > 0)
		arrive_add(arrive, span_ms, NOW_S);
}

/* ---- spans ----------------------------------------------------------- */

Test(arrive, says_within_what_a_share_of_them_came)
{
	struct arrive arrive = { .aged_s = 0 };

	arrive_many(&arrive, 4, 300);
	cr_expect_eq(arrive_within_ms(&arrive, 90, 0), -1, "too few");
	arrive_many(&arrive, 86, 300);
	arrive_many(&arrive, 10, 10 * MINUTE);
	cr_expect_eq(arrive_within_ms(&arrive, 90, 0), SECOND);
	cr_expect_eq(arrive_within_ms(&arrive, 91, 0), 12 * MINUTE);
	cr_expect_eq(arrive_within_ms(&arrive, 100, 0), 12 * MINUTE);
}

Test(arrive, who_has_waited_is_like_those_who_waited)
{
	struct arrive arrive = { .aged_s = 0 };

	arrive_many(&arrive, 95, 300);
	arrive_many(&arrive, 5, 4 * MINUTE);
	cr_expect_eq(arrive_within_ms(&arrive, 90, SECOND - 1), SECOND);
	cr_expect_eq(arrive_within_ms(&arrive, 90, SECOND), 5 * MINUTE);
	cr_expect_eq(arrive_within_ms(&arrive, 90, 6 * MINUTE), -1,
	    "nobody waited so long");
	arrive_many(&arrive, 5, (int64_t)20 * 24 * HOUR);
	cr_expect_eq(arrive_within_ms(&arrive, 90, 6 * MINUTE), -1,
	    "longer than can be said");
}

Test(arrive, what_is_new_weighs_more)
{
	struct arrive arrive = { .aged_s = 0 };

	arrive_many(&arrive, 5000, HOUR);
	cr_expect_leq(arrive_count(&arrive), ARRIVE_COUNT_MAX);
	for (int i = 0; i < 3 * ARRIVE_COUNT_MAX; i++)
		arrive_add(&arrive, 300, NOW_S);
	cr_expect_eq(arrive_within_ms(&arrive, 90, 0), SECOND);
	/* each day counts half of the day before */
	memset(&arrive, 0, sizeof(arrive));
	arrive_many(&arrive, 100, HOUR);
	arrive_add(&arrive, 300, NOW_S + ARRIVE_AGE_S);
	cr_expect_eq(arrive_count(&arrive), 51);
	arrive_add(&arrive, 300, NOW_S - HOUR);
	cr_expect_eq(arrive_count(&arrive), 26, "a clock that went back");
}

Test(arrive, tells_how_many_estimates_held)
{
	struct arrive arrive = { .aged_s = 0 };

	for (int i = 0; i < 3000; i++)
		arrive_judge(&arrive, i % 4 != 0, NOW_S);
	cr_expect_leq(arrive.judged, ARRIVE_COUNT_MAX);
	cr_expect(arrive.held * 100 / arrive.judged >= 74 &&
	    arrive.held * 100 / arrive.judged <= 76);
}

Test(arrive, is_read_back_as_it_was_written)
{
	struct arrive arrive = { .aged_s = 0 }, again;
	struct str text = STR_INIT;
	static const char *const bad[] = { "", "1", "1\t2", "1\t2\t3\t1",
		"1\t1001\t0\t1", "-1\t0\t0\t1", "1\t0\t0\t1001",
		"1\t0\t0\t600,600", "1\t0\t0\tx",
		("1\t0\t0\t0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
		",0,0,0,0,0,7") };

	arrive_many(&arrive, 7, 300);
	arrive_many(&arrive, 3, (int64_t)20 * 24 * HOUR);
	arrive_judge(&arrive, true, NOW_S);
	arrive_judge(&arrive, false, NOW_S);
	arrive_add_text(&arrive, &text);
	cr_assert(arrive_read(str_slice(&text), &again));
	cr_expect_eq(memcmp(&arrive, &again, sizeof(arrive)), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(arrive_read(slice_of(bad[i]), &again), "%s",
		    bad[i]);
	str_release(&text);
}

/* ---- destinations ---------------------------------------------------- */

static struct {
	struct queue	queue;
	struct ring	ring;
	struct thread	thread;
	struct job	*job;
	struct vertex	*vertex;
	int64_t		now_ms;
} s;

static void
a_waiter(void)
{
	memset(&s, 0, sizeof(s));
	s.now_ms = (int64_t)24 * HOUR;
	arrivals_open(&s.queue.arrivals, "");
	s.thread = (struct thread){ .ring = &s.ring, .channel = "smtp",
	    .host = "far.example", .zone = "" };
	s.job = job_new(1, 1);
	s.job->born_ms = s.now_ms;
	s.vertex = s.job->vertices;
	s.vertex->thread = &s.thread;
	s.vertex->state = VERTEX_READY;
}

static void
no_waiter(void)
{
	s.vertex->state = VERTEX_IDLE;
	job_free(&s.job);
	arrivals_release(&s.queue.arrivals);
}

TestSuite(estimate, .init = a_waiter, .fini = no_waiter);

static void
arrived(const char *host, unsigned count, int64_t span_ms)
{
	struct thread thread = s.thread;

	thread.host = host;
	while (count-- > 0)
		arrivals_took(&s.queue.arrivals, &thread, span_ms, s.now_ms,
		    NOW_S);
}

/* From now, in ms; or what keeps it from being said, negative. */
static int64_t
expected(struct estimate *out)
{
	estimate_vertex(&s.queue, s.vertex, s.now_ms, out);
	return out->kind == ESTIMATE_KNOWN ? out->at_ms - s.now_ms :
	    -(int64_t)out->kind;
}

Test(estimate, is_of_its_destination_else_of_its_channel)
{
	struct estimate estimate;

	cr_expect_eq(expected(&estimate), -ESTIMATE_FEW);
	arrived("near.example", 10, 2 * MINUTE);
	cr_expect_eq(expected(&estimate), 2 * MINUTE);
	cr_expect_not(estimate.is_own);
	arrived("far.example", 10, 300);
	cr_expect_eq(expected(&estimate), SECOND);
	cr_expect(estimate.is_own);
}

Test(estimate, waits_for_the_next_try)
{
	struct estimate estimate;

	arrived("far.example", 90, 300);
	arrived("far.example", 10, 25 * MINUTE);
	s.vertex->state = VERTEX_WAIT;
	s.vertex->tries = 1;
	s.vertex->moment_ms = s.now_ms + 10 * MINUTE;
	cr_expect_eq(expected(&estimate), 30 * MINUTE);
	s.vertex->moment_ms = s.now_ms + HOUR;
	cr_expect_eq(expected(&estimate), -ESTIMATE_FEW,
	    "none of them took so long");
	/* somebody wanted it so: then it goes like any other */
	s.vertex->is_apart = true;
	cr_expect_eq(expected(&estimate), HOUR + SECOND);
}

Test(estimate, waits_for_a_host_that_is_down_and_for_orders)
{
	struct estimate estimate;
	struct order order = { .kind = ORDER_SUSPEND,
	    .channel = (char *)(uintptr_t) "smtp",
	    .host = (char *)(uintptr_t) "*" };

	arrived("far.example", 90, 300);
	arrived("far.example", 10, 25 * MINUTE);
	s.thread.wake_ms = s.now_ms + 10 * MINUTE;
	cr_expect_eq(expected(&estimate), 30 * MINUTE);
	s.thread.wake_ms = 0;
	s.thread.is_suspended = true;
	s.queue.orders.all = &order;
	s.queue.orders.count = 1;
	cr_expect_eq(expected(&estimate), -ESTIMATE_ORDER);
	order.until_s = clock_wall_s() + 3600;
	cr_expect_geq(expected(&estimate), HOUR - 10 * SECOND);
	cr_expect_leq(expected(&estimate), HOUR + 10 * SECOND);
	s.vertex->state = VERTEX_PARKED;
	cr_expect_eq(expected(&estimate), -ESTIMATE_ORDER);
}

Test(estimate, is_not_known_of_a_host_that_nobody_meets)
{
	struct estimate estimate;

	arrived("far.example", 90, 300);
	cr_expect_eq(expected(&estimate), SECOND);
	s.thread.trouble_count = 1;
	cr_expect_eq(expected(&estimate), -ESTIMATE_FEW);
	s.vertex->state = VERTEX_FLIGHT;
	cr_expect_eq(expected(&estimate), SECOND);
}

Test(estimate, is_not_of_the_channel_where_others_wait)
{
	struct estimate estimate;

	arrived("near.example", 10, 300);
	cr_expect_eq(expected(&estimate), SECOND);
	s.thread.wait_count = 1;
	cr_expect_eq(expected(&estimate), -ESTIMATE_FEW);
	arrived("far.example", 10, 300);
	cr_expect_eq(expected(&estimate), SECOND);
}

Test(estimate, asks_for_more_where_too_few_held)
{
	struct estimate estimate;

	arrived("far.example", 92, 300);
	arrived("far.example", 8, 9 * MINUTE);
	cr_expect_eq(expected(&estimate), SECOND);
	for (int i = 0; i < 20; i++)
		arrivals_judge(&s.queue.arrivals, &s.thread, i % 5 != 0,
		    NOW_S);
	cr_expect_eq(expected(&estimate), 12 * MINUTE);
	/* the line grows: when it is over is in nobody's span */
	s.thread.wait_count = 20;
	cr_expect_eq(expected(&estimate), -ESTIMATE_FEW);
}

Test(estimate, has_not_held_when_it_waits_for_longer)
{
	struct estimate estimate;
	const struct arrival *arrival;

	arrived("far.example", 10, 300);
	arrival = arrivals_find(&s.queue.arrivals, "smtp", "far.example");
	(void)expected(&estimate);
	estimate_promise(&s.queue, s.vertex, &estimate, s.now_ms);
	estimate_waits(&s.queue, s.vertex, s.now_ms + SECOND);
	cr_expect_eq(arrival->arrive.judged, 0);
	estimate_waits(&s.queue, s.vertex, s.now_ms + MINUTE);
	estimate_arrived(&s.queue, s.vertex, s.now_ms + MINUTE);
	cr_expect_eq(arrival->arrive.judged, 1, "once");
	cr_expect_eq(arrival->arrive.held, 0);
}

Test(estimate, waits_in_line_at_the_pace_of_the_line)
{
	struct estimate estimate;

	s.thread.ready_count = 600;
	for (int i = 0; i < 50; i++) {
		s.now_ms += SECOND;
		s.job->born_ms = s.now_ms;
		arrived("far.example", 1, 300);
	}
	cr_expect_eq(expected(&estimate), 600 * SECOND);
	s.thread.ready_count = 0;
	cr_expect_eq(expected(&estimate), SECOND);
}

Test(estimate, is_judged_by_the_earliest_moment_that_was_said)
{
	struct estimate estimate;
	const struct arrival *arrival;

	arrived("far.example", 10, 300);
	arrival = arrivals_find(&s.queue.arrivals, "smtp", "far.example");
	(void)expected(&estimate);
	estimate_promise(&s.queue, s.vertex, &estimate, s.now_ms);
	estimate.at_ms += HOUR;		/* later is no excuse */
	estimate_promise(&s.queue, s.vertex, &estimate, s.now_ms);
	estimate_arrived(&s.queue, s.vertex, s.now_ms + SECOND);
	cr_expect_eq(arrival->arrive.judged, 1);
	cr_expect_eq(arrival->arrive.held, 1);
	estimate_arrived(&s.queue, s.vertex, s.now_ms + MINUTE);
	cr_expect_eq(arrival->arrive.judged, 2);
	cr_expect_eq(arrival->arrive.held, 1);
	/* it has passed when the next one is said */
	estimate_promise(&s.queue, s.vertex, &estimate, s.now_ms + MINUTE);
	cr_expect_eq(arrival->arrive.judged, 3);
	estimate_arrived(&s.queue, s.vertex, s.now_ms + MINUTE);
	cr_expect_eq(arrival->arrive.judged, 4);
	cr_expect_eq(arrival->arrive.held, 2);
	arrival = arrivals_find(&s.queue.arrivals, "smtp", "*");
	cr_expect_eq(arrival->arrive.judged, 4, "its channel's, too");
}

Test(estimate, arrivals_are_bounded_and_come_back)
{
	struct arrivals again = { .size = 0 };
	struct str text = STR_INIT, second = STR_INIT;
	char host[32];

	for (int i = 0; i < ARRIVALS_MAX + 100; i++) {
		snprintf(host, sizeof(host), "h%d.example", i);
		arrived(host, 1, 300);
	}
	cr_expect_leq(s.queue.arrivals.count, ARRIVALS_MAX + 1);
	cr_expect_eq(arrive_count(&arrivals_find(&s.queue.arrivals, "smtp",
	    "*")->arrive) > 0, true);
	arrivals_add_lines(&s.queue.arrivals, &text);
	arrivals_open(&again, "");
	arrivals_read(&again, str_slice(&text), NOW_S);
	arrivals_add_lines(&again, &second);
	cr_expect_eq(again.count, ARRIVALS_MAX);
	cr_expect_not_null(strstr(second.buf, "smtp\th1.example\t"));
	arrivals_sweep(&again, NOW_S + ARRIVALS_KEPT_S + 1);
	cr_expect_eq(again.count, 0);
	arrivals_read(&again, SLICE("smtp\n\t\t\nsmtp\tx\ty\t1\t0\t0\t1\n"
	    "# x\n%objective\tx\n\n"), NOW_S);
	cr_expect_eq(again.count, 0, "nonsense");
	arrivals_release(&again);
	str_release(&text);
	str_release(&second);
}
