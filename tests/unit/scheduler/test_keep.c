/* test_keep.c - `keep failed`: what failed waits for a person, then is told
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "scheduler/control/control.h"
#include "tests/unit/scheduler/asker.h"

#define CONF "schedule */* { retry 10m; parallel 4; warn 0; expire 1d }\n"

static struct yard yard;
static struct asker asker;

/* Nothing moves, and nothing is about to be told. */
static bool
yard_is_at_rest(struct yard *y, void *arg)
{
	const struct scheduler *scheduler = &y->scheduler;
	const struct job_list *lists = scheduler->queue.jobs.lists;

	for (enum job_list_name name = JOB_DIRTY; name < JOB_LISTS; name++)
		if (name != JOB_KEPT && lists[name].count > 0)
			return false;
	return scheduler->queue.plan.flight_count == 0 &&
	    scheduler->queue.plan.ready_count == 0 &&
	    scheduler->reporter.batch == NULL &&
	    scheduler->intake.count == 0 && scheduler->group.parts_left == 0 &&
	    scheduler->queue.jobs.count == yard_count(y, "transport");
}

static void
rest(void)
{
	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
}

static void
restart(void)
{
	asker_yard_restart(&asker);
	rest();
}

static ino_t
mail_in(const char *sender, const char *rcpts)
{
	ino_t inode = yard_message(&yard, sender, rcpts, NULL);

	rest();
	return inode;
}

static void
minutes(int count)
{
	asker_close(&asker);
	yard_clock(&yard, count * 60);
	yard_settle(&yard, 20);
	rest();
	asker_open(&asker, &yard);
}

/* Of the recipient whose address begins so, by `list`. */
static void
expect_state(const char *user, const char *state)
{
	asker_ask(&asker, "{\"v\":1,\"op\":\"list\",\"select\":\"to:%s*\"}",
	    user);
	cr_expect_str_eq(asker_text(&asker, 0, "state"), state, "%s: %s",
	    user, asker.text.buf);
}

#define ORDER(op, select) \
	asker_ask(&asker, "{\"v\":1,\"op\":\"" op "\",\"select\":\"" select \
	    "\",\"reason\":\"said so\"}")

static void
expect_reports(unsigned count)
{
	cr_expect_eq(yard_count(&yard, "router"), count, "%u reports",
	    yard_count(&yard, "router"));
}

Test(keep, a_failure_is_told_once_when_its_span_ends)
{
	struct control_file control;
	struct str report = STR_INIT;
	ino_t inode;

	asker_yard_open(&asker, &yard, CONF "keep failed 1h");
	inode = mail_in("a@src.test", "smtp/x.test/fail@x.test");
	expect_state("fail", "failed");
	expect_reports(0);
	restart();
	expect_state("fail", "failed");
	minutes(30);
	expect_state("fail", "failed");
	restart();
	minutes(28);
	expect_reports(0);
	cr_assert(yard_control(&yard, inode, &control));
	cr_expect_not(control.groups[0].rcpts[0].is_reported);
	minutes(4);
	expect_reports(1);
	cr_expect_eq(yard_count(&yard, "transport"), 0);
	yard_only_file(&yard, "router", &report);
	cr_expect(yard_says(&report, "550 5.1.1 no such user"));
	cr_expect_eq(yard.shared->jobs, 1);
	restart();
	expect_reports(1);
	str_release(&report);
	asker_yard_close(&asker);
}

Test(keep, one_is_tried_again_alone_and_its_success_tells_nobody)
{
	struct str report = STR_INIT;

	asker_yard_open(&asker, &yard, CONF "keep failed 1h");
	yard.shared->is_down = 1;
	mail_in("a@src.test", "smtp/x.test/refuse@x.test "
	    "smtp/y.test/fail@y.test smtp/z.test/ok@z.test");
	expect_state("refuse", "failed");
	expect_state("fail", "failed");
	expect_state("ok", "done");
	yard.shared->is_down = 0;
	ORDER("retry", "all");
	cr_expect_eq(asker_last(&asker, "recipients"), 0, "a retry is for "
	    "what waits");
	cr_expect_gt(asker_last(&asker, "final"), 0);
	ORDER("retry-failed", "to:refuse@x.test");
	cr_expect_eq(asker_last(&asker, "recipients"), 1, "%s",
	    asker.text.buf);
	rest();
	cr_expect_eq(yard.shared->delivered, 2);
	expect_state("refuse", "done");
	expect_state("fail", "failed");
	restart();
	minutes(62);
	expect_reports(1);
	yard_only_file(&yard, "router", &report);
	cr_expect(yard_says(&report, "fail@y.test"));
	cr_expect_not(yard_says(&report, "Final-Recipient: "
	    "rfc822;refuse@x.test"));
	cr_expect_eq(yard_count(&yard, "transport"), 0);
	cr_expect_eq(yard.shared->delivered, 2);
	str_release(&report);
	asker_yard_close(&asker);
}

/* Before its second failure is a new life: tries, and the span. */
Test(keep, a_second_failure_is_kept_anew)
{
	asker_yard_open(&asker, &yard, CONF "keep failed 1h");
	mail_in("a@src.test", "smtp/x.test/fail@x.test");
	minutes(50);
	ORDER("retry-failed", "all");
	rest();
	cr_expect_eq(yard.shared->jobs, 2);
	cr_expect_eq(yard.shared->tries_most, 0);
	expect_state("fail", "failed");
	minutes(50);
	expect_reports(0);
	minutes(12);
	expect_reports(1);
	asker_yard_close(&asker);
}

Test(keep, of_a_message_that_waits_what_failed_is_kept_and_told)
{
	asker_yard_open(&asker, &yard, CONF "keep failed 1h");
	mail_in("a@src.test", "smtp/x.test/fail@x.test "
	    "smtp/y.test/defer@y.test");
	minutes(6);
	expect_state("fail", "failed");
	expect_state("defer", "waiting");
	expect_reports(0);
	minutes(57);
	expect_reports(1);
	expect_state("fail", "done");
	ORDER("retry-failed", "all");
	cr_expect_eq(asker_last(&asker, "recipients"), 0, "it was told");
	minutes(120);
	expect_reports(1);
	restart();
	expect_reports(1);
	asker_yard_close(&asker);
}

Test(keep, a_person_ends_it_with_a_report_or_without)
{
	struct str report = STR_INIT;

	asker_yard_open(&asker, &yard, CONF "keep failed 1d");
	mail_in("a@src.test", "smtp/x.test/fail1@x.test");
	ORDER("hold", "all");
	cr_expect_eq(asker_last(&asker, "recipients"), 0);
	cr_expect_eq(asker_last(&asker, "final"), 1);
	ORDER("bounce", "to:fail1@x.test");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	rest();
	expect_reports(1);
	yard_only_file(&yard, "router", &report);
	cr_expect(yard_says(&report, "550 5.1.1 no such user"));
	mail_in("a@src.test", "smtp/x.test/fail2@x.test");
	ORDER("delete", "to:fail2@x.test");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	rest();
	expect_reports(1);
	cr_expect_eq(yard_count(&yard, "trash"), 2, "message, control file");
	mail_in("a@src.test", "smtp/x.test/defer@x.test");
	ORDER("bounce", "to:defer@x.test");
	rest();
	expect_reports(2);
	str_release(&report);
	asker_yard_close(&asker);
}

Test(keep, it_is_routed_again_whole_or_in_part)
{
	asker_yard_open(&asker, &yard, CONF "keep failed 1d");
	mail_in("a@src.test", "smtp/x.test/fail@x.test");
	ORDER("reroute", "all");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	rest();
	expect_reports(1);		/* the message itself */
	cr_expect_eq(yard_count(&yard, "transport"), 0);
	mail_in("a@src.test", "smtp/x.test/fail@x.test "
	    "smtp/y.test/fail@y.test");
	ORDER("reroute", "to:fail@y.test");
	cr_expect_eq(asker_last(&asker, "recipients"), 1, "%s",
	    asker.text.buf);
	rest();
	expect_reports(2);
	expect_state("fail@x", "failed");
	expect_state("fail@y", "done");
	minutes(24 * 60 + 2);
	expect_reports(3);
	cr_expect_eq(yard_count(&yard, "transport"), 0);
	asker_yard_close(&asker);
}

Test(keep, without_the_setting_all_is_told)
{
	asker_yard_open(&asker, &yard, CONF "keep failed 1d");
	mail_in("a@src.test", "smtp/x.test/fail@x.test");
	expect_reports(0);
	yard_reload(&yard, CONF "keep failed 2d");
	rest();
	minutes(25 * 60);
	expect_reports(0);
	yard_reload(&yard, CONF);
	rest();
	expect_reports(1);
	cr_expect_eq(yard_count(&yard, "transport"), 0);
	asker_yard_close(&asker);
}

/* Whom nobody is told of is kept, too, and then goes as ever. */
Test(keep, nobody_is_told_of_what_nobody_wants_to_hear)
{
	asker_yard_open(&asker, &yard, CONF "keep failed 1h");
	yard.shared->is_down = 1;
	mail_in("a@src.test", "smtp/x.test/fail@x.test;NOTIFY=NEVER");
	expect_state("fail", "failed");
	mail_in("", "smtp/x.test/refuse1@x.test");
	mail_in("", "smtp/x.test/refuse2@x.test");
	expect_state("refuse1", "failed");
	cr_expect_eq(yard_count(&yard, "postman"), 0);
	restart();
	cr_expect_eq(yard_count(&yard, "transport"), 3);
	yard.shared->is_down = 0;
	ORDER("retry-failed", "to:refuse2@x.test");
	rest();
	minutes(62);
	expect_reports(0);
	cr_expect_eq(yard_count(&yard, "transport"), 0);
	cr_expect_geq(yard_count(&yard, "postman"), 1);
	asker_yard_close(&asker);
}

/* The disk took no record of it: the scheduler writes it. */
Test(keep, an_answer_without_a_record_is_kept)
{
	struct control_file control;
	ino_t inode;

	asker_yard_open(&asker, &yard, CONF "keep failed 1h");
	inode = mail_in("a@src.test", "smtp/x.test/unrecorded-fail@x.test");
	cr_assert(yard_control(&yard, inode, &control));
	cr_expect(control_rcpt_is_failed(&control.groups[0].rcpts[0]));
	restart();
	expect_state("unrecorded", "failed");
	cr_expect_eq(yard.shared->jobs, 1);
	asker_yard_close(&asker);
}

Test(keep, mail_that_was_given_up_gets_a_new_life)
{
	asker_yard_open(&asker, &yard,
	    "schedule */* { retry 10m; warn 0; expire 1h }\nkeep failed 1d");
	mail_in("a@src.test", "smtp/x.test/defer@x.test");
	minutes(125);
	expect_state("defer", "failed");
	expect_reports(0);
	restart();
	ORDER("retry-failed", "all");
	rest();
	expect_state("defer", "waiting");
	minutes(30);
	expect_state("defer", "waiting");
	minutes(95);
	expect_state("defer", "failed");
	expect_reports(0);
	asker_yard_close(&asker);
}
