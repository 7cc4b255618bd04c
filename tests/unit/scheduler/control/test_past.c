/* test_past.c - the history as the scheduler writes and tells it
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "journal/event.h"
#include "scheduler/control/act/act.h"
#include "scheduler/control/control.h"
#include "scheduler/control/sampler.h"
#include "tests/unit/scheduler/asker.h"
#include "tests/unit/scheduler/yard.h"

static struct yard yard;
static struct asker asker;

static void
begin(void)
{
	yard_open(&yard, yard_quick);
	asker_serve(&yard);
	asker_open(&asker, &yard);
	sampler_open(&yard.scheduler.sampler, &yard.scheduler.agents,
	    event_dir());
}

static void
end(void)
{
	asker_close(&asker);
	control_free(&yard.scheduler.control);
	yard_close(&yard);
}

TestSuite(past, .init = begin, .fini = end);

/* What an agent says; those of a yard count nothing. */
static void
agent_counts(enum event_kind kind)
{
	event(kind, NULL, "to", SLICE("b@x.test"), "channel", SLICE("smtp"),
	    NULL);
	event_flush();
}

/* The sum of a member over all points. */
static int64_t
told(const char *key)
{
	struct slice rest = str_slice(&asker.text), line;
	int64_t sum = 0;

	while (slice_cut(&rest, '\n', &line))
		sum += json_get_number(line, key);
	return sum;
}

static bool
is_recorded(struct yard *y, void *arg)
{
	const int64_t *want_s = arg;

	yard_clock(y, 1);
	asker_ask(&asker, "{\"v\":1,\"op\":\"history\"}");
	return told("covered_s") >= *want_s;
}

static void
expect_recorded(int64_t seconds)
{
	cr_assert(yard_until(&yard, is_recorded, &seconds), "%s",
	    asker.text.buf);
}

Test(past, tells_what_came_and_what_waits)
{
	unsigned one = 1;

	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", NULL);
	cr_assert(yard_until(&yard, yard_has_delivered, &one));
	agent_counts(EV_RCPT_OK);
	agent_counts(EV_RCPT_DEFER);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	expect_recorded(20);
	cr_expect_eq(told("delivered"), 1);
	cr_expect_eq(told("deferred"), 1);
	cr_expect_eq(told("failed"), 0);
	cr_expect_gt(told("waiting_most"), 0);
	cr_expect_eq(asker_last(&asker, "step_s"), 30);
	cr_expect_eq(asker_last(&asker, "until") - asker_last(&asker, "from"),
	    3600);
	asker_ask(&asker, "{\"v\":1,\"op\":\"history\",\"span_s\":2678400,"
	    "\"points\":31}");
	cr_expect_eq(asker_last(&asker, "step_s"), 86400);
	cr_expect_eq(told("delivered"), 1);
	asker_ask(&asker, "{\"v\":1,\"op\":\"history\",\"span_s\":63244800,"
	    "\"points\":1}");
	cr_expect_eq(told("delivered"), 1, "%s", asker.text.buf);
}

/* What the last scheduler wrote is there; the time between is not covered,
 * and what others counted meanwhile is not put on the first step. */
Test(past, goes_on_after_a_stop)
{
	int64_t before_s;

	agent_counts(EV_RCPT_OK);
	asker_close(&asker);
	control_free(&yard.scheduler.control);
	yard_stop(&yard);	/* the last sample, before its time */
	yard_clock(&yard, 600);
	agent_counts(EV_RCPT_OK);
	yard_start(&yard);
	asker_serve(&yard);
	asker_open(&asker, &yard);
	sampler_open(&yard.scheduler.sampler, &yard.scheduler.agents,
	    event_dir());
	asker_ask(&asker, "{\"v\":1,\"op\":\"history\"}");
	before_s = told("covered_s");
	cr_expect_eq(told("delivered"), 1);
	cr_expect_lt(before_s, 600);
	expect_recorded(before_s + 10);
	cr_expect_eq(told("delivered"), 1);
	cr_expect_lt(told("covered_s"), 600);
}

Test(past, without_a_history_it_says_so)
{
	char path[200];
	int fd;

	sampler_close(&yard.scheduler.sampler);
	snprintf(path, sizeof(path), "%s/log/history", yard.dir);
	fd = open(path, O_WRONLY | O_TRUNC);
	cr_assert_eq(write(fd, "foreign\n", 8), 8);
	close(fd);
	sampler_open(&yard.scheduler.sampler, &yard.scheduler.agents,
	    event_dir());
	asker_ask(&asker, "{\"v\":1,\"op\":\"history\"}");
	cr_expect(yard_says(&asker.text, "\"code\":\"trouble\""), "%s",
	    asker.text.buf);
	cr_expect(yard_says(&asker.text, "no history is kept"));
}

/* A page of 1,000 points of a day is made in bounded steps. */
Test(past, is_told_in_steps)
{
	struct history_record sample = { .counts = { 1 } };
	int64_t now_s = clock_wall_s();
	struct answer_sum sum;

	for (int64_t i = 0; i < 8640; i++)
		history_add(yard.scheduler.queue.history, now_s - i * 10, 10,
		    &sample);
	answer_whole(&yard, "{\"v\":1,\"op\":\"history\",\"span_s\":86000,"
	    "\"points\":1000}", &sum);
	cr_expect_geq(sum.lines, 950, "%zu", sum.lines);
	cr_expect_gt(sum.steps, 5);
	cr_expect_lt(sum.most, ACT_OUT_BYTES);
	str_release(&sum.text);
}

static const struct {
	const char	*line, *words;
} refused[] = {
	{ "{\"v\":1,\"op\":\"history\",\"points\":1001}", "points" },
	{ "{\"v\":1,\"op\":\"history\",\"points\":-1}", "points" },
	{ "{\"v\":1,\"op\":\"history\",\"span_s\":63244801}", "span_s" },
	{ "{\"v\":1,\"op\":\"history\",\"until\":\"yesterday\"}", "until" },
	{ "{\"v\":1,\"op\":\"history\",\"host\":\"x\"}", "host" },
};

Test(past, what_makes_no_sense_is_refused)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		asker_ask(&asker, "%s", refused[i].line);
		cr_expect(yard_says(&asker.text, "bad-request") &&
		    yard_says(&asker.text, refused[i].words), "%zu: %s", i,
		    asker.text.buf);
	}
	/* far away there is nothing */
	asker_ask(&asker, "{\"v\":1,\"op\":\"history\",\"until\":"
	    "9223372036854775}");
	cr_expect_eq(asker_last(&asker, "points"), 0, "%s", asker.text.buf);
	asker_ask(&asker, "{\"v\":1,\"op\":\"history\",\"until\":1}");
	cr_expect_eq(asker_last(&asker, "points"), 0, "%s", asker.text.buf);
}
