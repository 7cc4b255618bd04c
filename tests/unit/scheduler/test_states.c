/* test_states.c - what operators order: each state, there and back
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "scheduler/control/control.h"
#include "tests/unit/scheduler/asker.h"

static struct yard yard;
static struct asker asker;

static void
open_all(void)
{
	asker_yard_open(&asker, &yard,
	    "schedule */* { retry 10m; parallel 4; warn 0 }");
}

/* Quiet, but for what stays in line. */
static bool
yard_is_at_rest(struct yard *y, void *arg)
{
	const struct scheduler *scheduler = &y->scheduler;
	struct thread *thread = NULL;
	size_t bucket = 0;
	unsigned ready = 0;

	while (thread_next(&scheduler->queue.threads, &bucket, &thread))
		if (!thread->is_suspended && thread->wake_ms == 0)
			ready += thread->ready_count;
	return scheduler->intake.count == 0 &&
	    scheduler->queue.jobs.count == yard_count(y, "transport") &&
	    scheduler->queue.plan.flight_count == 0 &&
	    scheduler->queue.jobs.lists[JOB_REPORT].count == 0 &&
	    scheduler->reporter.batch == NULL &&
	    scheduler->queue.jobs.lists[JOB_DIRTY].count == 0 &&
	    scheduler->group.parts_left == 0 &&
	    scheduler->queue.jobs.lists[JOB_FINISHED].count == 0 &&
	    scheduler->queue.jobs.lists[JOB_ENDING].count == 0 && (ready == 0 ||
	    scheduler->queue.orders.is_draining);
}

static void
restart(void)
{
	asker_yard_restart(&asker);
	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
}

/* One message to rcpts; returns when nothing moves any more. */
static ino_t
mail_in(const char *rcpts, char id[SPOOL_ID_BYTES])
{
	ino_t inode = yard_message(&yard, "a@src.test", rcpts, id);

	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
	return inode;
}

static void
expect_state(const char *state)
{
	asker_ask(&asker, "{\"v\":1,\"op\":\"list\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "state"), state, "%s",
	    asker.text.buf);
}

static unsigned
attempts(void)
{
	return yard.shared->jobs;
}

static void
hours(unsigned count)
{
	asker_close(&asker);
	yard_clock(&yard, count * 3600);
	yard_settle(&yard, 20);
	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
	asker_open(&asker, &yard);	/* nobody stays for hours */
}

#define ORDER(op, more) \
	asker_ask(&asker, "{\"v\":1,\"op\":\"" op "\",\"select\":\"all\"" \
	    more "}")

Test(states, held_mail_is_never_tried_until_it_is_released)
{
	char id[SPOOL_ID_BYTES];
	unsigned before;

	open_all();
	mail_in("smtp/x.test/defer@x.test", id);
	asker_ask(&asker, "{\"v\":1,\"op\":\"hold\",\"ids\":[\"%s\"],"
	    "\"who\":\"alice\",\"reason\":\"looks odd\"}", id);
	cr_expect_eq(asker_last(&asker, "messages"), 1, "%s",
	    asker.text.buf);
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	expect_state("held");
	cr_expect_str_eq(asker_text(&asker, 0, "reason"), "looks odd");
	cr_expect_not_null(strstr(asker_text(&asker, 0, "by"), "alice("));
	before = attempts();
	hours(200);
	cr_expect_eq(attempts(), before);
	restart();
	expect_state("held");
	hours(1);
	cr_expect_eq(attempts(), before);
	ORDER("release", "");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
	cr_expect_eq(attempts(), before + 1);
	ORDER("release", "");
	cr_expect_eq(asker_last(&asker, "unchanged"), 1,
	    "its life stood still: %s", asker.text.buf);
	hours(200);
	ORDER("release", "");
	cr_expect_eq(asker_last(&asker, "unchanged"), 0,
	    "now it is too old, and is gone: %s", asker.text.buf);
	asker_yard_close(&asker);
}

Test(states, a_hold_can_end_by_itself)
{
	unsigned before;

	open_all();
	mail_in("smtp/x.test/defer@x.test", NULL);
	before = attempts();
	ORDER("hold", ",\"until\":\"+2h\"");
	hours(1);
	cr_expect_eq(attempts(), before);
	restart();
	expect_state("held");
	hours(2);
	cr_expect_eq(attempts(), before + 1);
	expect_state("waiting");
	asker_yard_close(&asker);
}

Test(states, one_recipient_is_held_and_the_others_go)
{
	open_all();
	mail_in("smtp/x.test/grey1@x.test smtp/x.test/grey2@x.test", NULL);
	asker_ask(&asker, "{\"v\":1,\"op\":\"hold\",\"rcpt\":"
	    "\"grey2@*\"}");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	hours(1);
	cr_expect_eq(yard.shared->delivered, 1);
	ORDER("release", "");
	cr_expect_eq(asker_last(&asker, "final"), 1, "%s", asker.text.buf);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 2);
	asker_yard_close(&asker);
}

Test(states, what_is_at_an_agent_is_held_when_it_comes_back)
{
	unsigned before;

	open_all();
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", NULL);
	while (yard.scheduler.queue.plan.flight_count == 0)
		yard_turns(&yard, 1);
	ORDER("hold", "");
	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
	before = attempts();
	expect_state("held");
	hours(5);
	cr_expect_eq(attempts(), before);
	asker_yard_close(&asker);
}

Test(states, thaw_gives_fresh_retries_and_a_fresh_life)
{
	struct control_file control;
	ino_t inode;
	unsigned before;

	open_all();
	inode = mail_in("smtp/x.test/defer@x.test", NULL);
	hours(1);
	ORDER("freeze", "");
	expect_state("frozen");
	before = attempts();
	hours(24 * 30);
	cr_expect_eq(attempts(), before);
	restart();
	expect_state("frozen");
	ORDER("thaw", ",\"reason\":\"their disk is mended\"");
	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
	cr_expect_eq(attempts(), before + 1);
	cr_assert(yard_control(&yard, inode, &control));
	cr_expect_eq(control.groups[0].rcpts[0].tries, 1);
	expect_state("waiting");
	hours(24 * 4);
	expect_state("waiting");
	hours(24 * 2);
	cr_expect_eq(yard_count(&yard, "transport"), 0, "given up after the "
	    "clause's five days from the thaw");
	asker_yard_close(&asker);
}

Test(states, exhausted_mail_is_frozen_where_the_clause_says_so)
{
	unsigned before;

	yard_open(&yard, "schedule */* { retry 10m; warn 0; expire 1h; "
	    "on-exhaust freeze }");
	asker_serve(&yard);
	asker_open(&asker, &yard);
	mail_in("smtp/x.test/defer@x.test", NULL);
	hours(2);
	expect_state("frozen");
	cr_expect_not_null(strstr(asker_text(&asker, 0, "reason"),
	    "exhausted"));
	cr_expect_eq(yard_count(&yard, "router"), 0, "nobody is told");
	before = attempts();
	restart();
	hours(48);
	cr_expect_eq(attempts(), before);
	expect_state("frozen");
	ORDER("thaw", "");
	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
	expect_state("waiting");
	hours(2);
	expect_state("frozen");
	asker_yard_close(&asker);
}

Test(states, a_suspended_destination_waits_and_is_resumed)
{
	open_all();
	asker_ask(&asker, "{\"v\":1,\"op\":\"suspend\",\"host\":"
	    "\"*.x.test\",\"reason\":\"their storm\"}");
	cr_assert_str_eq(asker_text(&asker, 0, "done"), "true", "%s",
	    asker.text.buf);
	mail_in("smtp/mx.x.test/ok@x.test", NULL);
	mail_in("smtp/y.test/ok@y.test", NULL);
	cr_expect_eq(yard.shared->delivered, 1);
	expect_state("suspended");
	restart();
	hours(3);
	cr_expect_eq(yard.shared->delivered, 1);
	asker_ask(&asker, "{\"v\":1,\"op\":\"orders\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "reason"), "their storm");
	asker_ask(&asker, "{\"v\":1,\"op\":\"resume\",\"host\":"
	    "\"*.x.test\"}");
	cr_expect_eq(asker_last(&asker, "orders"), 1);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 2);
	asker_yard_close(&asker);
}

Test(states, a_suspension_can_end_by_itself)
{
	open_all();
	asker_ask(&asker, "{\"v\":1,\"op\":\"suspend\",\"channel\":\"smtp\","
	    "\"until\":\"+90m\"}");
	mail_in("smtp/x.test/ok@x.test", NULL);
	hours(1);
	cr_expect_eq(yard.shared->delivered, 0);
	hours(1);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1);
	asker_yard_close(&asker);
}

Test(states, drain_lets_nothing_new_out)
{
	open_all();
	asker_ask(&asker, "{\"v\":1,\"op\":\"drain\"}");
	cr_expect_eq(asker_last(&asker, "active"), 0);
	mail_in("smtp/x.test/ok@x.test", NULL);
	hours(2);
	restart();
	hours(2);
	cr_expect_eq(yard.shared->delivered, 0);
	asker_ask(&asker, "{\"v\":1,\"op\":\"count\"}");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	asker_ask(&asker, "{\"v\":1,\"op\":\"undrain\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "was"), "true");
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1);
	asker_yard_close(&asker);
}

static bool
is_at_work(struct yard *y, void *arg)
{
	return y->scheduler.queue.plan.flight_count == 1;
}

/* What runs is waited for, but not for ever, and is left to run. */
Test(states, drain_answers_when_its_time_is_over)
{
	int64_t begun_ms;

	open_all();
	yard_message(&yard, "a@src.test", "smtp/x.test/hang@x.test", NULL);
	cr_assert(yard_until(&yard, is_at_work, NULL));
	begun_ms = clock_steady_ms();
	asker_ask(&asker, "{\"v\":1,\"op\":\"drain\",\"timeout_s\":1}");
	cr_expect_geq(clock_steady_ms() - begun_ms, 1000, "it waited");
	cr_expect_eq(asker_last(&asker, "active"), 1);
	cr_expect_eq(yard.scheduler.queue.plan.flight_count, 1);
	asker_yard_close(&asker);
}

Test(states, deleted_mail_lies_in_trash_and_comes_back)
{
	char id[SPOOL_ID_BYTES];
	ino_t inode;

	open_all();
	inode = mail_in("smtp/x.test/grey@x.test smtp/y.test/ok@y.test", id);
	ORDER("delete", ",\"reason\":\"wrong list\"");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	cr_expect_eq(asker_last(&asker, "final"), 1);
	cr_expect_eq(yard_count(&yard, "transport"), 0);
	cr_expect(yard_has(&yard, "trash", inode, ".queue-deleted"));
	cr_expect(yard_has(&yard, "trash", inode, ".queue-deleted.control"));
	cr_expect_eq(yard_count(&yard, "router"), 0, "nobody is told");
	hours(2);
	asker_ask(&asker, "{\"v\":1,\"op\":\"undelete\",\"ids\":[\"%s\"]}",
	    id);
	cr_expect_eq(asker_last(&asker, "messages"), 1, "%s",
	    asker.text.buf);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 2);
	cr_expect_eq(yard_count(&yard, "trash"), 0);
	asker_ask(&asker, "{\"v\":1,\"op\":\"undelete\",\"ids\":[\"%s\"]}",
	    id);
	cr_expect_str_eq(asker_text(&asker, 0, "code"), "no-such");
	asker_yard_close(&asker);
}

Test(states, a_cancelled_recipient_keeps_the_message_for_a_day)
{
	char id[SPOOL_ID_BYTES];

	open_all();
	mail_in("smtp/x.test/grey1@x.test smtp/y.test/grey2@y.test", id);
	asker_ask(&asker, "{\"v\":1,\"op\":\"delete\",\"rcpt\":\"@x.test\"}");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	cr_expect_eq(yard_count(&yard, "transport"), 1);
	restart();
	hours(1);
	cr_expect_eq(yard.shared->delivered, 1);
	cr_expect_eq(yard_count(&yard, "trash"), 2);
	asker_ask(&asker, "{\"v\":1,\"op\":\"undelete\",\"id\":\"%s\"}", id);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 2);
	asker_yard_close(&asker);
}

Test(states, bounce_ends_it_with_a_report)
{
	struct str text = STR_INIT;

	open_all();
	mail_in("smtp/x.test/defer@x.test", NULL);
	ORDER("bounce", ",\"reason\":\"she left\"");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_only_file(&yard, "router", &text);
	cr_expect_not_null(strstr(text.buf, "she left"));
	cr_expect_not_null(strstr(text.buf, "Status: 5.0.0"));
	str_release(&text);
	asker_yard_close(&asker);
}

Test(states, a_whole_message_is_routed_again_as_it_came)
{
	ino_t inode;

	open_all();
	inode = mail_in("smtp/x.test/defer@x.test smtp/y.test/defer@y.test",
	    NULL);
	ORDER("reroute", "");
	cr_expect_eq(asker_last(&asker, "recipients"), 2, "%s",
	    asker.text.buf);
	cr_expect(yard_has(&yard, "router", inode, ""));
	cr_expect_eq(yard_count(&yard, "transport"), 0);
	cr_expect_eq(yard_count(&yard, "queue"), 0);
	asker_yard_close(&asker);
}

Test(states, what_is_left_of_a_message_is_routed_as_a_new_one)
{
	struct str text = STR_INIT;

	open_all();
	mail_in("smtp/x.test/defer@x.test;NOTIFY=DELAY smtp/y.test/ok@y.test",
	    NULL);
	ORDER("reroute", "");
	cr_expect_eq(asker_last(&asker, "recipients"), 1, "%s",
	    asker.text.buf);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_only_file(&yard, "router", &text);
	cr_expect_not_null(strstr(text.buf, "defer@x.test"));
	cr_expect_not_null(strstr(text.buf, "NOTIFY=DELAY"));
	cr_expect_null(strstr(text.buf, "ok@y.test"));
	str_release(&text);
	asker_yard_close(&asker);
}

Test(states, an_operator_says_when)
{
	unsigned before;

	open_all();
	mail_in("smtp/x.test/defer@x.test", NULL);
	before = attempts();
	ORDER("schedule", ",\"next\":\"+5h\",\"expire\":\"+8h\"");
	hours(4);
	cr_expect_eq(attempts(), before);
	restart();
	asker_ask(&asker, "{\"v\":1,\"op\":\"why\",\"id\":\"%s\"}",
	    yard.scheduler.queue.jobs.count == 1 ? (asker_ask(&asker,
	    "{\"v\":1,\"op\":\"list\"}"), asker_text(&asker, 0, "id")) : "");
	cr_expect_str_eq(asker_text(&asker, 0, "code"), "scheduled", "%s",
	    asker.text.buf);
	hours(2);
	cr_expect_gt(attempts(), before);
	hours(3);
	cr_expect_eq(yard_count(&yard, "transport"), 0, "given up");
	cr_expect_eq(yard_count(&yard, "router"), 1, "and told");
	asker_yard_close(&asker);
}

Test(states, retry_is_paced)
{
	unsigned before;

	open_all();
	for (int i = 0; i < 6; i++)
		mail_in("smtp/x.test/defer@x.test", NULL);
	before = attempts();
	ORDER("retry", ",\"per_second\":1");
	cr_expect_eq(asker_last(&asker, "messages"), 6, "%s",
	    asker.text.buf);
	cr_expect_geq(asker_last(&asker, "until"), clock_wall_s() + 3);
	yard_settle(&yard, 20);
	cr_expect_leq(attempts(), before + 3);
	yard_clock(&yard, 10);
	yard_turns(&yard, 10);
	cr_assert(yard_until(&yard, yard_is_at_rest, NULL));
	cr_expect_eq(attempts(), before + 6);
	asker_yard_close(&asker);
}

Test(states, a_destination_that_is_down_is_probed_when_asked)
{
	open_all();
	yard.shared->is_down = 1;
	mail_in("smtp/x.test/down@x.test", NULL);
	expect_state("down");
	asker_ask(&asker, "{\"v\":1,\"op\":\"etrn\",\"host\":\"z.test\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "known"), "false");
	yard.shared->is_down = 0;
	asker_ask(&asker, "{\"v\":1,\"op\":\"etrn\",\"host\":\"X.test\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "known"), "true");
	cr_expect_eq(asker_last(&asker, "messages"), 1);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	asker_yard_close(&asker);
}

Test(states, a_pin_is_the_limit_whatever_was_learned)
{
	open_all();
	asker_ask(&asker, "{\"v\":1,\"op\":\"pin\",\"host\":\"x.test\","
	    "\"limit\":2}");
	mail_in("smtp/x.test/defer@x.test", NULL);
	restart();
	asker_ask(&asker, "{\"v\":1,\"op\":\"destinations\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "pin"), "2", "%s",
	    asker.text.buf);
	asker_ask(&asker, "{\"v\":1,\"op\":\"pin\",\"host\":\"x.test\","
	    "\"limit\":0}");
	asker_ask(&asker, "{\"v\":1,\"op\":\"orders\"}");
	cr_expect_eq(asker_last(&asker, "orders"), 0);
	asker_yard_close(&asker);
}

Test(states, nothing_is_done_by_a_dry_run_or_without_a_choice)
{
	open_all();
	mail_in("smtp/x.test/defer@x.test", NULL);
	ORDER("delete", ",\"dry_run\":true");
	cr_expect_eq(asker_last(&asker, "recipients"), 1);
	expect_state("waiting");
	asker_ask(&asker, "{\"v\":1,\"op\":\"delete\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "code"), "nothing-selected");
	asker_ask(&asker, "{\"v\":1,\"op\":\"delete\",\"sendr\":\"x\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "code"), "bad-request");
	asker_ask(&asker, "{\"v\":2,\"op\":\"delete\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "code"), "version");
	asker_ask(&asker, "{\"v\":1,\"op\":\"burn\",\"tag\":\"t\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "code"), "unknown-op");
	expect_state("waiting");
	asker_yard_close(&asker);
}

Test(states, pages_come_from_old_to_new)
{
	char ids[5][SPOOL_ID_BYTES], next[SPOOL_ID_BYTES];
	size_t seen = 0;

	open_all();
	for (int i = 0; i < 5; i++)
		mail_in("smtp/x.test/defer@x.test", ids[i]);
	asker_ask(&asker, "{\"v\":1,\"op\":\"list\",\"brief\":true,"
	    "\"limit\":2}");
	while (asker_lines(&asker) > 1) {
		for (size_t i = 0; i + 1 < asker_lines(&asker); i++)
			cr_expect_str_eq(asker_text(&asker, i, "id"),
			    ids[seen++]);
		strlcpy(next, asker_text(&asker, asker_lines(&asker) - 1,
		    "next"), sizeof(next));
		if (next[0] == '\0')
			break;
		asker_ask(&asker, "{\"v\":1,\"op\":\"list\",\"brief\":true,"
		    "\"limit\":2,\"after\":\"%s\"}", next);
	}
	cr_expect_eq(seen, 5);
	asker_ask(&asker, "{\"v\":1,\"op\":\"count\",\"by\":\"host\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "key"), "x.test");
	cr_expect_str_eq(asker_text(&asker, 0, "messages"), "5");
	asker_ask(&asker, "{\"v\":1,\"op\":\"count\",\"by\":\"sender\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "key"), "a@src.test");
	asker_yard_close(&asker);
}
