/* test_core.c - whole lives of messages: delivered, deferred, reported, gone
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "mail/terms.h"
#include "tests/unit/scheduler/yard.h"

static struct yard yard;

Test(core, a_message_is_delivered_and_gone)
{
	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1);
	cr_expect_eq(yard_count(&yard, "router"), 0);
	yard_close(&yard);
}

Test(core, mail_that_lies_there_at_the_start_is_found)
{
	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	for (int i = 0; i < 50; i++)
		yard_message(&yard, "a@src.test", "local//ok", NULL);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 50);
	yard_close(&yard);
}

static bool
knows_x_test(void)
{
	const struct thread_way way = { SLICE("smtp"), SLICE("x.test"),
	    SLICE("") };

	return thread_find(&yard.scheduler.queue.threads, way) != NULL;
}

/* list and orders ask for it, also of a recipient that is done. */
Test(core, a_destination_stays_known_while_a_recipient_has_it, .timeout = 900)
{
	unsigned one = 1;

	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test "
	    "smtp/y.test/defer@y.test", NULL);
	cr_assert(yard_until(&yard, yard_has_delivered, &one));
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 7200);
	yard_settle(&yard, 20);
	cr_expect(knows_x_test());
	yard_clock(&yard, 6 * 86400);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_clock(&yard, 7200);
	yard_settle(&yard, 20);
	cr_expect_not(knows_x_test(), "nothing lies there any more");
	yard_close(&yard);
}

/* A piece a turn, whatever it is: many agents, each of whom waits to be told
 * while nothing comes from outside. */
Test(core, turns_without_time_deliver_all_the_same)
{
	unsigned want = 0;

	yard_open(&yard, "schedule */* { retry 10m }");
	loop_limit_turns(yard.loop, 1);
	for (char host = 'a'; host <= 'h'; host++)
		for (int i = 0; i < 8; i++, want++)
			yard_message(&yard, "a@src.test",
			    (char[]){ 's', 'm', 't', 'p', '/', host, '.', 't',
			    'e', 's', 't', '/', 'o', 'k', '@', host, '\0' },
			    NULL);
	cr_expect(yard_until(&yard, yard_has_delivered, &want));
	cr_expect(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
}

Test(core, two_fates_make_one_report)
{
	struct str text = STR_INIT;
	char id[SPOOL_ID_BYTES], want[64];

	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test",
	    "smtp/x.test/ok@x.test smtp/y.test/fail@y.test", id);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_only_file(&yard, "router", &text);
	snprintf(want, sizeof(want), "report-of %s", id);
	cr_expect(yard_says(&text, want), "%s", text.buf);
	cr_expect(yard_says(&text, "channel error\n"));
	cr_expect(yard_says(&text, "550 5.1.1 no such user"));
	cr_expect(yard_says(&text, "Final-Recipient: rfc822; fail@y.test"));
	cr_expect(yard_says(&text, "Action: failed"));
	cr_expect(yard_says(&text, "\nThe body.\n"));
	cr_expect_not(yard_says(&text, "ok@x.test"));
	cr_expect_eq(strncmp(text.buf, "complete ", 9), 0);
	str_release(&text);
	yard_close(&yard);
}

static bool
somebody_owes(struct yard *y, void *arg)
{
	return y->scheduler.queue.jobs.lists[JOB_OWING].count == *(size_t *)arg;
}

static bool
has_left(struct yard *y, void *arg)
{
	return yard_count(y, "transport") == *(size_t *)arg;
}

/* Once a rate is lifted nobody waits for the moment that it had set; one that
 * is higher sets another. */
Test(core, a_rate_that_is_lifted_holds_nobody)
{
	size_t left = 3;

	yard_open(&yard, "schedule smtp/x.test { rate 1/24h }");
	for (size_t i = 0; i < 4; i++)
		yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test",
		    NULL);
	cr_assert(yard_until(&yard, has_left, &left));
	yard_reload(&yard, "schedule smtp/x.test { rate 1/1h }");
	yard_clock(&yard, 61 * 60);
	left = 2;
	cr_assert(yard_until(&yard, has_left, &left));
	yard_settle(&yard, 20);
	cr_expect(has_left(&yard, &left), "one an hour");
	yard_reload(&yard, "");
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
}

/* A job that waits with its report for its other recipients, and is gone when
 * the wait would be over: it was freed and still looked at, five minutes
 * later. */
Test(core, who_waited_with_a_report_is_forgotten_with_its_job)
{
	size_t owing = 3;

	yard_open(&yard, "schedule smtp/x.test { rate 30/1h }");
	for (size_t i = 0; i < owing + 1; i++)	/* the first goes at once */
		yard_message(&yard, "a@src.test",
		    "smtp/y.test/fail@y.test smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, somebody_owes, &owing));
	for (size_t i = 0; i < owing; i++) {	/* each before its five */
		yard_clock(&yard, 121);
		yard_settle(&yard, 20);
	}
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard_count(&yard, "router"), 4, "one report each");
	for (int i = 0; i < 3; i++) {
		yard_clock(&yard, 6 * 60);
		yard_settle(&yard, 20);
	}
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL), "it goes on");
	cr_expect_eq(yard_count(&yard, "router"), 4, "no report twice");
	yard_close(&yard);
}

Test(core, a_deferred_recipient_is_tried_again_in_time)
{
	struct control_file control;
	ino_t inode;

	yard_open(&yard, yard_quick);
	inode = yard_message(&yard, "a@src.test",
	    "smtp/x.test/grey@x.test smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_assert(yard_control(&yard, inode, &control));
	cr_expect_eq(control.final_total, 1);
	cr_expect_eq(yard.shared->jobs, 1);
	yard_clock(&yard, 8 * 60);
	yard_settle(&yard, 20);
	cr_expect_eq(yard.shared->jobs, 1, "too early");
	yard_clock(&yard, 4 * 60);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->jobs, 2);
	cr_expect_eq(yard.shared->rcpts, 3, "the delivered one not again");
	cr_expect_eq(yard.shared->tries_most, 1);
	cr_expect_eq(yard_count(&yard, "router"), 0);
	yard_close(&yard);
}

Test(core, a_notice_of_delay_comes_once_then_the_end)
{
	struct str text = STR_INIT;
	unsigned one = 1, two = 2;

	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test",
	    "smtp/x.test/defer1@x.test "
	    "smtp/x.test/defer2@x.test;NOTIFY=FAILURE", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 4 * 3600 + 60);
	cr_assert(yard_until(&yard, yard_router_has, &one));
	yard_only_file(&yard, "router", &text);
	cr_expect(yard_says(&text, "Action: delayed"));
	cr_expect(yard_says(&text, "Will-Retry-Until: "));
	cr_expect(yard_says(&text, "defer1@x.test"));
	cr_expect_not(yard_says(&text, "defer2@x.test"), "no DELAY asked for");
	cr_expect_not(yard_says(&text, "The body."));
	yard_clock(&yard, 3600);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_settle(&yard, 30);
	cr_expect_eq(yard_count(&yard, "router"), 1, "noticed once");
	yard_clock(&yard, 5 * 86400);
	cr_assert(yard_until(&yard, yard_router_has, &two));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	str_release(&text);
	yard_close(&yard);
}

Test(core, expiry_keeps_the_last_words)
{
	struct str text = STR_INIT;

	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test",
	    "smtp/x.test/defer@x.test;NOTIFY=FAILURE", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 5 * 86400 + 7200);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_only_file(&yard, "router", &text);
	cr_expect(yard_says(&text, "Status: 5.4.7"), "%s", text.buf);
	cr_expect(yard_says(&text, "delivery time expired after 5d"));
	cr_expect(yard_says(&text, "last: 451 4.7.1 come back later"));
	cr_expect(yard_says(&text, "mx.test[192.0.2.1]:25"));
	str_release(&text);
	yard_close(&yard);
}

Test(core, a_long_stop_expires_nothing_untried)
{
	ino_t inode;

	yard_open(&yard, yard_quick);
	inode = yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test",
	    NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_stop(&yard);
	yard_clock(&yard, 20 * 86400);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->jobs, 2, "once more before it is given up");
	cr_expect_eq(yard_count(&yard, "router"), 1);
	cr_expect_not(yard_has(&yard, "queue", inode, ""));
	yard_close(&yard);
}

Test(core, a_host_that_is_down_is_not_tried_by_every_message)
{
	unsigned before, all = 40;

	yard_open(&yard, yard_quick);
	yard.shared->is_down = 1;
	for (int i = 0; i < 20; i++)
		yard_message(&yard, "a@src.test", "smtp/x.test/down@x.test",
		    NULL);
	yard_settle(&yard, 150);
	before = yard.shared->jobs;
	cr_expect_gt(before, 0);
	for (int i = 0; i < 20; i++)
		yard_message(&yard, "a@src.test", "smtp/x.test/down@x.test",
		    NULL);
	yard_settle(&yard, 100);
	cr_expect_eq(yard.shared->jobs, before, "new mail waits as well");
	yard_clock(&yard, 12 * 60);
	yard_settle(&yard, 100);
	cr_expect_eq(yard.shared->jobs, before + 1, "one probe, not %u",
	    yard.shared->jobs - before);
	yard.shared->is_down = 0;
	yard_clock(&yard, 70 * 60);
	cr_assert(yard_until(&yard, yard_has_delivered, &all));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
}

Test(core, held_mail_expires_too)
{
	unsigned want = 3;

	yard_open(&yard, yard_quick);
	yard.shared->is_down = 1;
	for (int i = 0; i < 3; i++)
		yard_message(&yard, "a@src.test",
		    "smtp/x.test/down@x.test;NOTIFY=FAILURE", NULL);
	yard_settle(&yard, 100);
	for (int i = 0; i < 3; i++) {
		yard_clock(&yard, 2 * 86400);
		yard_settle(&yard, 100);
	}
	cr_assert(yard_until(&yard, yard_router_has, &want));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
}

/* Minutes of the moved clock, in which every job is looked at. */
static void
minutes(int count)
{
	for (int i = 0; i < count; i++) {
		yard_clock(&yard, 60);
		yard_turns(&yard, 4);
	}
}

static bool
is_known(struct yard *y, void *arg)
{
	return y->scheduler.queue.jobs.count == *(unsigned *)arg;
}

Test(core, what_nobody_tries_ends_later_than_what_was_tried)
{
	unsigned one = 1;

	yard_open(&yard, "group 50ms\nschedule */* { queue-only yes; "
	    "retry 3w; jitter 0; warn 0; expire 1d; expire-untried 12h }");
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, is_known, &one));
	yard_clock(&yard, 30 * 3600);
	minutes(20);
	cr_expect_eq(yard.scheduler.queue.jobs.count, 1,
	    "expire alone is no end");
	cr_expect_eq(yard_count(&yard, "router"), 0);
	yard_clock(&yard, 7 * 3600);
	minutes(20);
	cr_assert(yard_until(&yard, yard_router_has, &one));
	cr_expect_eq(yard.shared->jobs, 0);
	yard_close(&yard);
}

Test(core, waits_of_a_class_are_spread_too)
{
	int64_t first_ms = INT64_MAX, last_ms = 0;
	const struct job *job;
	unsigned ten = 10;
	size_t cursor = 0;

	yard_open(&yard, "group 50ms\nschedule */* { retry 1m; jitter 50%; "
	    "retry on greylist 1h }");
	for (unsigned i = 0; i < ten; i++)
		yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test",
		    NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_assert(yard_until(&yard, is_known, &ten));
	while ((job = job_table_next(&yard.scheduler.queue.jobs, &cursor)) !=
	    NULL) {
		cr_expect_eq(job->vertices[0].state, VERTEX_WAIT);
		if (job->vertices[0].moment_ms < first_ms)
			first_ms = job->vertices[0].moment_ms;
		if (job->vertices[0].moment_ms > last_ms)
			last_ms = job->vertices[0].moment_ms;
	}
	cr_expect_gt(first_ms - clock_steady_ms(), 25 * 60000,
	    "it is the class's list");
	cr_expect_gt(last_ms - first_ms, 2 * 60000);
	yard_close(&yard);
}

/* A rule ends it at the first answer of its class: the sender hears the
 * host's own words, final; the others go on. */
Test(core, a_class_that_ends_it_is_final_at_once)
{
	struct str text = STR_INIT;
	unsigned one = 1;

	yard_open(&yard, "group 50ms\nschedule */* { retry 10m; jitter 0; "
	    "warn 0; retry on greylist end }");
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test "
	    "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, yard_router_has, &one));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->rcpts, 2, "nobody was tried again");
	yard_only_file(&yard, "router", &text);
	cr_expect(yard_says(&text, "Status: 5.7.1"), "%s", text.buf);
	cr_expect(yard_says(&text, "451 4.7.1 come back later"));
	cr_expect(yard_says(&text, "by rule"));
	cr_expect_not(yard_says(&text, "ok@x.test"));
	str_release(&text);
	yard_close(&yard);
}

/* The list of a class may end it, too: after its last wait. */
Test(core, a_list_of_a_class_may_stop)
{
	struct str text = STR_INIT;
	unsigned one = 1;

	yard_open(&yard, "group 50ms\nschedule */* { retry 10m; jitter 0; "
	    "warn 0; retry on greylist 5m stop }");
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_expect_eq(yard_count(&yard, "router"), 0, "its list is not over");
	yard_clock(&yard, 6 * 60);
	cr_assert(yard_until(&yard, yard_router_has, &one));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->jobs, 2);
	yard_only_file(&yard, "router", &text);
	cr_expect(yard_says(&text, "no further attempt after 2, by rule"),
	    "%s", text.buf);
	str_release(&text);
	yard_close(&yard);
}

/* A moment that no clock should name: a year is enough. */
Test(core, a_sender_who_asks_for_far_later_gets_a_year)
{
	struct terms terms = { .hold_until_s = clock_wall_s() +
	    40 * 365 * (int64_t)86400 };
	const struct job *job;
	unsigned one = 1;
	size_t cursor = 0;

	yard_open(&yard, yard_quick);
	yard_terms = &terms;
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	yard_terms = NULL;
	cr_assert(yard_until(&yard, is_known, &one));
	job = job_table_next(&yard.scheduler.queue.jobs, &cursor);
	cr_expect_eq(job->vertices[0].state, VERTEX_WAIT);
	cr_expect_leq(job->vertices[0].moment_ms - clock_steady_ms(),
	    366 * (int64_t)86400000);
	yard_close(&yard);
}

/* ---- reports that nobody may get --------------------------------- */

Test(core, a_null_sender_is_never_answered)
{
	unsigned two = 2;
	ino_t inode;

	yard_open(&yard, yard_quick);
	inode = yard_message(&yard, "", "smtp/x.test/fail@x.test", NULL);
	cr_assert(yard_until(&yard, yard_postman_has, &two));
	cr_expect(yard_has(&yard, "postman", inode, ".doublebounce"));
	cr_expect_eq(yard_count(&yard, "router"), 0);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_message(&yard, "", "smtp/x.test/fail@x.test;NOTIFY=NEVER", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard_count(&yard, "postman"), 2, "nobody wants it");
	yard_message(&yard, "", "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
}

static const struct { const char *rcpt; unsigned reports; } notify_rows[] = {
	{ "local//ok", 0 },
	{ "local//ok;NOTIFY=SUCCESS", 1 },
	{ "local//ok;NOTIFY=FAILURE", 0 },
	{ "smtp/x/relay@x;NOTIFY=SUCCESS", 0 },
	{ "smtp/x/ok@x;NOTIFY=SUCCESS", 1 },
	{ "smtp/x/fail@x", 1 },
	{ "smtp/x/fail@x;NOTIFY=FAILURE,DELAY", 1 },
	{ "smtp/x/fail@x;NOTIFY=SUCCESS", 0 },
	{ "smtp/x/fail@x;NOTIFY=NEVER", 0 },
	{ "smtp/x/fail@x;NOTIFY=NEVER smtp/x/fail2@x", 1 },
};

Test(core, notify_decides_who_is_told)
{
	for (size_t i = 0; i < sizeof(notify_rows) / sizeof(notify_rows[0]);
	    i++) {
		yard_open(&yard, yard_quick);
		yard_message(&yard, "a@src.test", notify_rows[i].rcpt, NULL);
		cr_assert(yard_until(&yard, yard_is_empty, NULL), "%s",
		    notify_rows[i].rcpt);
		cr_expect_eq(yard_count(&yard, "router"),
		    notify_rows[i].reports, "%s", notify_rows[i].rcpt);
		yard_close(&yard);
	}
}

/* ---- many -------------------------------------------------------- */

Test(core, a_big_list_is_split_and_served_in_parallel)
{
	struct str rcpts = STR_INIT;

	yard_open(&yard, yard_quick);
	for (int i = 0; i < 1000; i++)
		str_addf(&rcpts, "smtp/h%d.test/ok%d@h%d.test ", i % 3, i,
		    i % 3);
	yard_message(&yard, "a@src.test", rcpts.buf, NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1000);
	cr_expect_eq(yard.shared->rcpts_most, VERTEX_RCPTS_MAX);
	cr_expect_eq(yard.shared->jobs, 12);
	cr_expect_gt(yard.shared->agents, 2);
	str_release(&rcpts);
	yard_close(&yard);
}

Test(core, limits_of_clause_and_thread_hold)
{
	yard_open(&yard, "group 50ms\nschedule smtp/* { parallel 2; agents 3;"
	    " overfeed 4 }");
	for (int i = 0; i < 60; i++)
		yard_message(&yard, "a@src.test", i % 2 ?
		    "smtp/x.test/ok@x.test" : "smtp/y.test/ok@y.test", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_leq(yard.shared->agents, 3);
	cr_expect_leq(yard.shared->ahead_most, 4);
	cr_expect_eq(yard.shared->delivered, 60);
	yard_close(&yard);
}

Test(core, a_reload_moves_threads_to_their_new_clause)
{
	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_reload(&yard, "group 50ms\nschedule smtp/* { retry 1m; "
	    "parallel 1; agents 1; overfeed 1 }");
	yard_clock(&yard, 12 * 60);
	yard_settle(&yard, 60);
	cr_expect_eq(yard.shared->jobs, 2);
	yard_clock(&yard, 70);
	yard_settle(&yard, 60);
	cr_expect_eq(yard.shared->jobs, 3, "the new interval");
	cr_expect_leq(yard.scheduler.agents.count, 1);
	yard_close(&yard);
}

/* ---- rows F0 to F3 ----------------------------------------------- */

static bool
body_gone(struct yard *y, void *arg)
{
	return yard_count(y, "queue") == 0;
}

Test(core, the_control_file_goes_last_and_with_its_group)
{
	ino_t inode;

	yard_open(&yard, "group 10s");
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, body_gone, NULL));
	cr_expect(yard_has(&yard, "transport", inode, ""), "row F1");
	yard_settle(&yard, 30);
	cr_expect(yard_has(&yard, "transport", inode, ""), "row F1");
	yard_clock(&yard, 11);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
}

static bool
few_wait(struct yard *y, void *arg)
{
	return yard_count(y, "transport") <= 200;
}

Test(core, a_big_group_is_not_waited_for)
{
	unsigned all = 1100;

	yard_open(&yard, "group 1m\nschedule local/* { parallel 2; agents 2;"
	    " overfeed 50 }");
	yard_stop(&yard);
	for (unsigned i = 0; i < all; i++)
		yard_message(&yard, "a@src.test", "local//ok", NULL);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_has_delivered, &all));
	cr_expect(yard_until(&yard, few_wait, NULL));
	yard_close(&yard);
}

Test(core, a_waiting_recipient_costs_little)
{
	size_t bytes = sizeof(struct job) + sizeof(struct vertex) +
	    sizeof(struct rcpt) + 16	/* malloc */ +
	    sizeof(struct plan_slot) * 3 / 2 + sizeof(struct job *) * 8 / 3;

	cr_expect_leq(bytes, 300, "%zu", bytes);
}
