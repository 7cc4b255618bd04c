/* test_count.c - what is counted where it lies is what is in the files
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "scheduler/control/act/act.h"
#include "tests/unit/scheduler/asker.h"

enum { PADDED = 20000, STRANGE_INODE = 1 << 30 };

static struct yard yard;
static struct asker asker;

static const char *const keys[] = { "state", "host", "channel",
	"channel-state" };

static bool
count_is_at_rest(struct yard *y, void *arg)
{
	const struct scheduler *scheduler = &y->scheduler;

	return scheduler->intake.count == 0 &&
	    scheduler->queue.jobs.count == yard_count(y, "transport") &&
	    scheduler->queue.plan.flight_count == 0 &&
	    scheduler->queue.jobs.lists[JOB_REPORT].count == 0 &&
	    scheduler->reporter.batch == NULL &&
	    scheduler->queue.jobs.lists[JOB_DIRTY].count == 0 &&
	    scheduler->group.parts_left == 0 &&
	    scheduler->queue.jobs.lists[JOB_FINISHED].count == 0 &&
	    scheduler->queue.jobs.lists[JOB_ENDING].count == 0;
}

/* A selector that takes all mail is asked of each file, in order. */
static void
expect_same(const char *when, int64_t messages)
{
	struct str walked = STR_INIT;

	cr_assert(yard_until(&yard, count_is_at_rest, NULL), "%s", when);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		asker_ask(&asker, "{\"v\":1,\"op\":\"count\",\"by\":\"%s\"}",
		    keys[i]);
		cr_expect_eq(asker_last(&asker, "messages"), messages,
		    "%s: %s", when, asker.text.buf);
		str_reset(&walked);
		str_add_slice(&walked, str_slice(&asker.text));
		asker_ask(&asker, "{\"v\":1,\"op\":\"count\",\"by\":\"%s\","
		    "\"select\":\"all\"}", keys[i]);
		cr_expect_str_eq(walked.buf, asker.text.buf, "%s, by %s", when,
		    keys[i]);
	}
	str_release(&walked);
}

Test(count, by_the_table_is_as_by_the_files)
{
	char held[SPOOL_ID_BYTES], gone[SPOOL_ID_BYTES];

	asker_yard_open(&asker, &yard,
	    "schedule */* { retry 10m; parallel 4; warn 0 }");
	expect_same("nothing", 0);
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", held);
	expect_same("one is deferred", 1);
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test "
	    "smtp/y.test/defer@y.test smtp/x.test/defer@x.test", NULL);
	expect_same("one of three is delivered", 2);
	yard_message(&yard, "a@src.test", "smtp/z.test/defer1@z.test "
	    "smtp/z.test/defer2@z.test", gone);
	expect_same("two of one message", 3);
	asker_ask(&asker, "{\"v\":1,\"op\":\"hold\",\"ids\":[\"%s\"]}", held);
	expect_same("one is held", 3);
	asker_ask(&asker, "{\"v\":1,\"op\":\"freeze\",\"select\":\"all\","
	    "\"rcpt\":\"defer2@*\"}");
	expect_same("a recipient is frozen", 3);
	asker_ask(&asker, "{\"v\":1,\"op\":\"suspend\",\"channel\":\"*\","
	    "\"host\":\"y.test\"}");
	expect_same("a destination is suspended", 3);
	asker_ask(&asker, "{\"v\":1,\"op\":\"delete\",\"ids\":[\"%s\"],"
	    "\"reason\":\"no\"}", gone);
	expect_same("one is deleted", 2);
	asker_ask(&asker, "{\"v\":1,\"op\":\"release\",\"select\":\"all\"}");
	expect_same("it is released", 2);
	asker_yard_restart(&asker);
	expect_same("a new scheduler has read it", 2);
	asker_yard_close(&asker);
}

/* Messages of no recipients, that nobody knows but the table. */
static void
pad(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		struct job *job = job_new(0, 0);

		job->inode = STRANGE_INODE + i;
		snprintf(job->id, sizeof(job->id), "pad%u", i);
		job_table_add(&yard.scheduler.queue.jobs, job);
	}
}

static void
unpad(unsigned to)
{
	struct job_table *jobs = &yard.scheduler.queue.jobs;

	for (unsigned i = 0; i < to; i++) {
		struct job *job = job_table_find(jobs, STRANGE_INODE + i);

		job_table_remove(jobs, job->inode);
		job_free(&job);
	}
}

/* Between two pieces the table grows, and all is looked at again. */
Test(count, that_starts_again_counts_nothing_twice)
{
	static const char line[] = "{\"v\":1,\"op\":\"count\"}";
	struct str out = STR_INIT;
	enum act_step step;
	unsigned steps = 0;
	struct act *act;

	asker_yard_open(&asker, &yard,
	    "schedule */* { retry 10m; parallel 4; warn 0 }");
	for (int i = 0; i < 30; i++)
		yard_message(&yard, "a@src.test",
		    "smtp/x.test/defer@x.test smtp/y.test/defer@y.test", NULL);
	cr_assert(yard_until(&yard, count_is_at_rest, NULL));
	pad(0, PADDED);
	act = act_begun(&yard, line);
	do {
		step = act_stepped(&yard, act, &out);
		if (++steps == 1)
			pad(PADDED, 4 * PADDED);
	} while (step == ACT_MORE);
	cr_expect_eq(step, ACT_DONE);
	cr_expect_geq(steps, 6, "%u", steps);
	cr_expect_not_null(strstr(out.buf, "\"messages\":30,"
	    "\"recipients\":60,\"oldest_s\""), "%s", out.buf);
	act_free(&act);
	str_release(&out);
	unpad(4 * PADDED);
	asker_yard_close(&asker);
}
