/* test_kick.c - thousands that are tried again come at a pace, in one order
 * or in several that follow each other
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/control.h"
#include "tests/unit/scheduler/asker.h"

enum { MESSAGES = 1500, BATCH = 1000, A_SECOND = 50, NEAR_MS = 1500 };

static struct yard yard;
static char ids[MESSAGES][SPOOL_ID_BYTES];
static int64_t moments[MESSAGES];

static bool
all_wait(struct yard *y, void *arg)
{
	return y->scheduler.queue.jobs.count == MESSAGES &&
	    y->scheduler.intake.count == 0;
}

static void
open_all(void)
{
	yard_open(&yard, "group 50ms\nschedule */* { queue-only yes; "
	    "retry 4h; jitter 0 }");
	for (int i = 0; i < MESSAGES; i++)
		yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test",
		    ids[i]);
	cr_assert(yard_until(&yard, all_wait, NULL));
}

static int
moment_compare(const void *pa, const void *pb)
{
	const int64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

/* When each is due: sorted. */
static void
moments_take(void)
{
	const struct job *job;
	size_t cursor = 0, count = 0;

	while ((job = job_table_next(&yard.scheduler.queue.jobs, &cursor)) !=
	    NULL)
		moments[count++] = job->vertices[0].state == VERTEX_WAIT ?
		    job->vertices[0].moment_ms : 0;
	cr_assert_eq(count, MESSAGES);
	qsort(moments, count, sizeof(moments[0]), moment_compare);
}

/* An order about messages first to end; its last member `until`. */
static int64_t
retry(size_t first, size_t end, int64_t start_s)
{
	struct str line = STR_INIT;
	struct answer_sum sum;
	int64_t until_s;

	str_addf(&line, "{\"v\":1,\"op\":\"retry\",\"per_second\":%d,"
	    "\"start\":%lld,\"ids\":[", A_SECOND, (long long)start_s);
	for (size_t i = first; i < end; i++)
		str_addf(&line, "%s\"%s\"", i > first ? "," : "", ids[i]);
	str_adds(&line, "]}");
	answer_whole(&yard, line.buf, &sum);
	until_s = json_get_number(str_slice(&sum.text), "until");
	cr_expect_eq(json_get_number(str_slice(&sum.text), "messages"),
	    (int64_t)(end - first));
	str_release(&sum.text);
	str_release(&line);
	return until_s;
}

/* Ten minutes after an order that was given between two moments; these are
 * apart where the machine is busy. */
static void
expect_pace(int64_t before_ms, int64_t after_ms)
{
	moments_take();
	for (int i = 0; i < MESSAGES; i++) {
		int64_t later_ms = 600000 + (int64_t)i * 1000 / A_SECOND;

		cr_assert_geq(moments[i], before_ms + later_ms - NEAR_MS,
		    "%d", i);
		cr_assert_leq(moments[i], after_ms + later_ms + NEAR_MS,
		    "%d", i);
	}
}

/* The tool asks for a thousand at a time; the second batch begins where the
 * first one ends. */
Test(kick, batches_that_follow_each_other_keep_one_pace, .timeout = 900)
{
	int64_t before_ms, after_ms, now_s, until_s;

	open_all();
	before_ms = clock_steady_ms();
	now_s = clock_wall_s();
	after_ms = clock_steady_ms();
	until_s = retry(0, BATCH, now_s + 600);
	cr_expect_geq(until_s, now_s + 600 + BATCH / A_SECOND - 1);
	cr_expect_leq(until_s, now_s + 600 + BATCH / A_SECOND + 1);
	until_s = retry(BATCH, MESSAGES, until_s);
	cr_expect_leq(until_s, now_s + 600 + MESSAGES / A_SECOND + 2);
	expect_pace(before_ms, after_ms);
	yard_close(&yard);
}

/* One order about all is made in steps of the scheduler: one pace, too. */
Test(kick, an_order_of_many_steps_keeps_one_pace, .timeout = 900)
{
	struct answer_sum sum;
	int64_t begun_ms;

	open_all();
	begun_ms = clock_steady_ms();
	answer_whole(&yard, "{\"v\":1,\"op\":\"retry\",\"per_second\":50,"
	    "\"start\":\"+10m\",\"select\":\"tries:0 or tries:9\"}", &sum);
	cr_expect_eq(json_get_number(str_slice(&sum.text), "messages"),
	    MESSAGES, "%s", sum.text.buf);
	cr_expect_gt(sum.steps, 1);
	str_release(&sum.text);
	expect_pace(begun_ms, clock_steady_ms());
	yard_close(&yard);
}

/* So many a second are given to agents, no more. */
Test(kick, no_more_than_that_are_tried, .timeout = 900)
{
	unsigned ten_s = 10 * A_SECOND;
	int64_t begun_ms;

	open_all();
	begun_ms = clock_steady_ms();
	(void)retry(0, BATCH, clock_wall_s());
	yard_clock(&yard, 10);
	cr_assert(yard_until(&yard, yard_has_delivered, &ten_s));
	yard_settle(&yard, 20);
	cr_expect_leq(yard.shared->delivered, (clock_steady_ms() - begun_ms) *
	    A_SECOND / 1000 + 1, "%u", yard.shared->delivered);
	yard_close(&yard);
}
