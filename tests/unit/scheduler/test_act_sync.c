/* test_act_sync.c - what waits for the disk, beside the loop
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/scheduler/asker.h"

static struct yard yard;

static bool
report_is_begun(struct yard *y, void *arg)
{
	return y->scheduler.reporter.batch != NULL;
}

static bool
file_has(const char *name, const char *words)
{
	char path[128], text[4096];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", yard.dir, name);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	return strstr(text, words) != NULL;
}

/* It is not answered, and does not count, before it is on the disk; and
 * nobody else's is written meanwhile. */
Test(act_sync, an_order_counts_when_it_is_durable)
{
	static const char words[] =
	    "{\"v\":1,\"op\":\"suspend\",\"host\":\"x.test\"}";
	const struct orders *orders = &yard.scheduler.queue.orders;
	struct str out = STR_INIT, other_out = STR_INIT;
	struct act *act, *other;

	yard_open(&yard, "schedule */* { retry 10m }");
	act = act_begun(&yard, words);
	other = act_begun(&yard,
	    "{\"v\":1,\"op\":\"suspend\",\"host\":\"y.test\"}");
	cr_assert_eq(act_step(act, &out), ACT_SYNC);
	cr_expect_eq(out.len, 0);
	cr_expect_eq(orders->count, 0);
	cr_assert_eq(act_step(other, &other_out), ACT_WAIT);
	syncer_settle(yard.scheduler.group.syncer);
	cr_expect_eq(orders->count, 1);
	cr_expect(file_has("spool/transport/.orders", "x.test"));
	cr_assert_eq(act_step(act, &out), ACT_DONE);
	cr_expect(yard_says(&out, "\"done\":true"), "%s", out.buf);
	cr_assert_eq(act_stepped(&yard, other, &other_out), ACT_MORE);
	cr_assert_eq(act_step(other, &other_out), ACT_DONE);
	cr_expect_eq(orders->count, 2);
	act_free(&act);
	act_free(&other);
	str_release(&out);
	str_release(&other_out);
	yard_close(&yard);
}

/* Whoever asked has gone: the file has it, so it counts. */
Test(act_sync, an_order_counts_though_its_giver_left)
{
	struct str out = STR_INIT;
	struct act *act;

	yard_open(&yard, "schedule */* { retry 10m }");
	act = act_begun(&yard,
	    "{\"v\":1,\"op\":\"suspend\",\"host\":\"x.test\"}");
	cr_assert_eq(act_step(act, &out), ACT_SYNC);
	act_free(&act);
	syncer_settle(yard.scheduler.group.syncer);
	cr_expect_eq(yard.scheduler.queue.orders.count, 1);
	cr_expect_not(yard.scheduler.queue.orders.is_changing);
	str_release(&out);
	yard_close(&yard);
}

/* The disk refuses: nothing changed, and the next one is tried. */
Test(act_sync, an_order_that_cannot_be_written_changes_nothing)
{
	struct str out = STR_INIT;
	struct act *act;
	char path[128];

	yard_open(&yard, "schedule */* { retry 10m }");
	snprintf(path, sizeof(path), "%s/spool/transport/.orders.new",
	    yard.dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	for (int i = 0; i < 2; i++) {
		act = act_begun(&yard,
		    "{\"v\":1,\"op\":\"suspend\",\"host\":\"x.test\"}");
		str_reset(&out);
		cr_assert_eq(act_stepped(&yard, act, &out), ACT_MORE);
		cr_assert_eq(act_step(act, &out), ACT_DONE);
		cr_expect(yard_says(&out, i == 0 ? "\"code\":\"trouble\"" :
		    "\"done\":true"), "%s", out.buf);
		cr_expect_eq(yard.scheduler.queue.orders.count, (size_t)i);
		act_free(&act);
		(void)rmdir(path);
	}
	str_release(&out);
	yard_close(&yard);
}

/* The client hears of a hold when its records are durable. */
Test(act_sync, a_change_is_answered_when_it_is_durable)
{
	struct str out = STR_INIT;
	struct act *act;
	enum act_step step;

	yard_open(&yard, "schedule */* { queue-only yes; retry 10m }");
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	act = act_begun(&yard, "{\"v\":1,\"op\":\"hold\",\"select\":\"all\"}");
	while ((step = act_step(act, &out)) == ACT_MORE)
		;
	cr_assert_eq(step, ACT_SYNC);
	cr_expect_eq(out.len, 0, "%s", out.buf);
	syncer_settle(yard.scheduler.group.syncer);
	while ((step = act_step(act, &out)) == ACT_MORE)
		;
	cr_assert_eq(step, ACT_DONE);
	cr_expect(yard_says(&out, "\"recipients\":1"), "%s", out.buf);
	act_free(&act);
	str_release(&out);
	yard_close(&yard);
}

/* A report is on its way to the disk: its recipients are not reopened, the
 * message is neither dropped nor told again, and what fails by then has a
 * report of its own. */
Test(act_sync, a_report_is_written_while_the_loop_goes_on)
{
	const unsigned one = 1;
	struct answer_sum sum;
	struct job *job;
	ino_t inode;

	yard_open(&yard, "schedule */* { retry 10m }");
	inode = yard_message(&yard, "a@src.test", "smtp/x.test/fail@x.test",
	    NULL);
	cr_assert(yard_until(&yard, report_is_begun, NULL));
	job = job_table_find(&yard.scheduler.queue.jobs, inode);
	cr_assert_not_null(job);
	cr_expect(job->flags & JOB_WRITING);
	cr_expect_eq(yard_count(&yard, "router"), 0);
	answer_whole(&yard, "{\"v\":1,\"op\":\"retry-failed\","
	    "\"select\":\"all\"}", &sum);
	cr_expect(yard_says(&sum.text, "\"active\":1"), "%s", sum.text.buf);
	str_release(&sum.text);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_assert(yard_until(&yard, yard_router_has, (void *)&one));
	cr_expect_eq(yard_count(&yard, "router"), 1);
	yard_close(&yard);
}

/* The scheduler stops: what is under way is sent, once. */
Test(act_sync, a_report_under_way_is_sent_before_the_end)
{
	yard_open(&yard, "schedule */* { retry 10m }");
	yard_message(&yard, "a@src.test", "smtp/x.test/fail@x.test", NULL);
	cr_assert(yard_until(&yard, report_is_begun, NULL));
	yard_stop(&yard);
	cr_expect_eq(yard_count(&yard, "router"), 1);
	cr_expect_eq(yard_count(&yard, "public"), 0);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard_count(&yard, "router"), 1);
	yard_close(&yard);
}
