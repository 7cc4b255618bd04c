/* test_core.c - whole lives of messages, with agents good and bad
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "scheduler/agents.h"
#include "scheduler/intake.h"
#include "tests/unit/scheduler/yard.h"

static const char quick[] = "group 50ms\n"
    "schedule */* { retry 10m 1h; warn 4h; expire 5d; parallel 4; agents 8;"
    " overfeed 10; idle 30s }";

static struct yard yard;

static bool
has(const struct str *text, const char *what)
{
	return strstr(text->buf, what) != NULL;
}

Test(core, a_message_is_delivered_and_gone)
{
	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1);
	cr_expect_eq(yard_count(&yard, "router"), 0);
	yard_close(&yard);
}

Test(core, mail_that_lies_there_at_the_start_is_found)
{
	yard_open(&yard, quick);
	yard_stop(&yard);
	for (int i = 0; i < 50; i++)
		yard_message(&yard, "a@src.test", "local//ok", NULL);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 50);
	yard_close(&yard);
}

Test(core, two_fates_make_one_report)
{
	struct str text = STR_INIT;
	char id[SPOOL_ID_BYTES], want[64];

	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test",
	    "smtp/x.test/ok@x.test smtp/y.test/fail@y.test", id);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_only_file(&yard, "router", &text);
	snprintf(want, sizeof(want), "report-of %s", id);
	cr_expect(has(&text, want), "%s", text.buf);
	cr_expect(has(&text, "channel error\n"));
	cr_expect(has(&text, "550 5.1.1 no such user"));
	cr_expect(has(&text, "Final-Recipient: rfc822; fail@y.test"));
	cr_expect(has(&text, "Action: failed"));
	cr_expect(has(&text, "\nThe body.\n"));
	cr_expect_not(has(&text, "ok@x.test"));
	cr_expect_eq(strncmp(text.buf, "complete ", 9), 0);
	str_release(&text);
	yard_close(&yard);
}

Test(core, a_deferred_recipient_is_tried_again_in_time)
{
	struct work work;
	ino_t inode;

	yard_open(&yard, quick);
	inode = yard_message(&yard, "a@src.test",
	    "smtp/x.test/grey@x.test smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_assert(yard_work(&yard, inode, &work));
	cr_expect_eq(work.final_total, 1);
	cr_expect_eq(yard.shared->jobs, 1);
	yard_clock(&yard, 8 * 60);
	yard_turns(&yard, 20);
	cr_expect_eq(yard.shared->jobs, 1, "too early");
	yard_clock(&yard, 4 * 60);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->jobs, 2);
	cr_expect_eq(yard.shared->rcpts, 3, "the delivered one not again");
	cr_expect_eq(yard.shared->tries_most, 1);
	cr_expect_eq(yard_count(&yard, "router"), 0);
	yard_close(&yard);
}

Test(core, an_agent_may_say_when)
{
	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/soon@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 50);
	yard_turns(&yard, 20);
	cr_expect_eq(yard.shared->jobs, 1);
	yard_clock(&yard, 12);
	yard_turns(&yard, 50);
	cr_expect_eq(yard.shared->jobs, 2);
	yard_close(&yard);
}

static bool
router_has_mail(struct yard *y, void *arg)
{
	return yard_count(y, "router") >= *(unsigned *)arg;
}

Test(core, a_notice_of_delay_comes_once_then_the_end)
{
	struct str text = STR_INIT;
	unsigned one = 1, two = 2;

	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test",
	    "smtp/x.test/defer1@x.test "
	    "smtp/x.test/defer2@x.test;NOTIFY=FAILURE", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 4 * 3600 + 60);
	cr_assert(yard_until(&yard, router_has_mail, &one));
	yard_only_file(&yard, "router", &text);
	cr_expect(has(&text, "Action: delayed"));
	cr_expect(has(&text, "Will-Retry-Until: "));
	cr_expect(has(&text, "defer1@x.test"));
	cr_expect_not(has(&text, "defer2@x.test"), "no DELAY asked for");
	cr_expect_not(has(&text, "The body."));
	yard_clock(&yard, 3600);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_turns(&yard, 30);
	cr_expect_eq(yard_count(&yard, "router"), 1, "noticed once");
	yard_clock(&yard, 5 * 86400);
	cr_assert(yard_until(&yard, router_has_mail, &two));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	str_release(&text);
	yard_close(&yard);
}

Test(core, expiry_keeps_the_last_words)
{
	struct str text = STR_INIT;

	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test",
	    "smtp/x.test/defer@x.test;NOTIFY=FAILURE", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 5 * 86400 + 7200);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_only_file(&yard, "router", &text);
	cr_expect(has(&text, "Status: 5.4.7"), "%s", text.buf);
	cr_expect(has(&text, "delivery time expired after 5d"));
	cr_expect(has(&text, "last: 451 4.7.1 come back later"));
	cr_expect(has(&text, "mx.test[192.0.2.1]:25"));
	str_release(&text);
	yard_close(&yard);
}

Test(core, a_long_stop_expires_nothing_untried)
{
	ino_t inode;

	yard_open(&yard, quick);
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

	yard_open(&yard, quick);
	yard.shared->is_down = 1;
	for (int i = 0; i < 20; i++)
		yard_message(&yard, "a@src.test", "smtp/x.test/down@x.test",
		    NULL);
	yard_turns(&yard, 150);
	before = yard.shared->jobs;
	cr_expect_gt(before, 0);
	for (int i = 0; i < 20; i++)
		yard_message(&yard, "a@src.test", "smtp/x.test/down@x.test",
		    NULL);
	yard_turns(&yard, 100);
	cr_expect_eq(yard.shared->jobs, before, "new mail waits as well");
	yard_clock(&yard, 12 * 60);
	yard_turns(&yard, 100);
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

	yard_open(&yard, quick);
	yard.shared->is_down = 1;
	for (int i = 0; i < 3; i++)
		yard_message(&yard, "a@src.test",
		    "smtp/x.test/down@x.test;NOTIFY=FAILURE", NULL);
	yard_turns(&yard, 100);
	for (int i = 0; i < 3; i++) {
		yard_clock(&yard, 2 * 86400);
		yard_turns(&yard, 100);
	}
	cr_assert(yard_until(&yard, router_has_mail, &want));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
}

/* ---- agents that misbehave --------------------------------------- */

static const struct { const char *user, *words; bool is_blamed; }
bad_agents[] = {
	{ "nonsense@x.test", "broke its protocol", true },
	{ "flood@x.test", "broke its protocol", true },
	{ "foreign@x.test", "broke its protocol", true },
	{ "die@x.test", "died", true },
	{ "mute@x.test", "did not say", true },
};

Test(core, a_bad_agent_costs_its_job_a_try_and_nothing_else)
{
	for (size_t i = 0; i < sizeof(bad_agents) / sizeof(bad_agents[0]);
	    i++) {
		char rcpt[64];
		struct work work;
		unsigned want = 6;
		ino_t inode;

		yard_open(&yard, quick);
		snprintf(rcpt, sizeof(rcpt), "smtp/x.test/%s",
		    bad_agents[i].user);
		yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test",
		    NULL);
		inode = yard_message(&yard, "a@src.test", rcpt, NULL);
		for (int k = 0; k < 5; k++)
			yard_message(&yard, "a@src.test",
			    "smtp/x.test/ok@x.test", NULL);
		cr_assert(yard_until(&yard, yard_has_delivered, &want), "%s",
		    rcpt);
		cr_assert(yard_until(&yard, yard_is_quiet, NULL), "%s", rcpt);
		cr_assert(yard_work(&yard, inode, &work));
		cr_assert_not_null(work.groups[0].rcpts[0].last, "%s", rcpt);
		cr_expect_eq(work.groups[0].rcpts[0].tries, 1);
		cr_expect_not_null(strstr(
		    work.groups[0].rcpts[0].last->verdict.text,
		    bad_agents[i].words), "%s: %s", rcpt,
		    work.groups[0].rcpts[0].last->verdict.text);
		cr_expect_eq(yard.shared->delivered, 6, "no duplicate");
		yard_close(&yard);
	}
}

Test(core, a_silent_agent_is_killed)
{
	struct work work;
	ino_t inode;

	yard_open(&yard, quick);
	inode = yard_message(&yard, "a@src.test", "smtp/x.test/hang@x.test",
	    NULL);
	yard_turns(&yard, 60);
	cr_expect_eq(yard.scheduler.plan.flight_count, 1);
	yard_clock(&yard, AGENT_PATIENCE_MS / 1000 + 2);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_assert(yard_work(&yard, inode, &work));
	cr_assert_not_null(work.groups[0].rcpts[0].last);
	cr_expect_not_null(strstr(work.groups[0].rcpts[0].last->verdict.text,
	    "silent"));
	yard_close(&yard);
}

Test(core, a_record_whose_line_was_never_sent_counts)
{
	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/record@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->jobs, 1, "no second delivery");
	yard_close(&yard);
}

/* A full or broken disk: the verdict's line is all there is. */
Test(core, an_outcome_without_a_record_is_still_told)
{
	struct str text = STR_INIT;

	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test",
	    "smtp/x.test/unrecorded1@x.test smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_only_file(&yard, "router", &text);
	cr_expect(has(&text, "unrecorded1@x.test"), "%s", text.buf);
	cr_expect(has(&text, "550 5.1.1 no such user"));
	cr_expect(has(&text, "Status: 5.1.1"));
	str_release(&text);
	yard_close(&yard);
}

static bool
in_postman(struct yard *y, void *arg)
{
	return yard_count(y, "postman") >= *(unsigned *)arg;
}

Test(core, a_job_that_no_agent_understands_is_shelved)
{
	unsigned two = 2;
	ino_t inode;

	yard_open(&yard, quick);
	inode = yard_message(&yard, "a@src.test",
	    "smtp/x.test/resync@x.test", NULL);
	for (int i = 0; i < 6; i++) {
		yard_turns(&yard, 60);
		yard_clock(&yard, 2 * 3600);
	}
	cr_assert(yard_until(&yard, in_postman, &two));
	cr_expect(yard_has(&yard, "postman", inode, ".badcontrol"));
	cr_expect(yard_has(&yard, "postman", inode, ".badcontrol.control"));
	cr_expect_eq(yard_count(&yard, "queue"), 0);
	yard_close(&yard);
}

Test(core, no_agent_at_all_is_no_end)
{
	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test", "broken/x/ok@x.test", NULL);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	yard_turns(&yard, 100);
	cr_expect_eq(yard.shared->delivered, 1);
	cr_expect_eq(yard.scheduler.plan.ready_count, 1);
	yard_close(&yard);
}

/* ---- restart ----------------------------------------------------- */

Test(core, a_restart_knows_tries_and_moments_from_the_files)
{
	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 12 * 60);
	yard_turns(&yard, 60);
	cr_assert_eq(yard.shared->jobs, 2);
	yard_stop(&yard);
	yard_start(&yard);
	yard_turns(&yard, 60);
	cr_expect_eq(yard.shared->jobs, 2, "its hour is not over");
	yard_clock(&yard, 67 * 60);
	yard_turns(&yard, 60);
	cr_expect_eq(yard.shared->jobs, 3);
	cr_expect_eq(yard.shared->tries_most, 2);
	yard_close(&yard);
}

Test(core, a_file_that_an_old_agent_holds_waits)
{
	char path[256], name[SPOOL_NAME_BYTES];
	ino_t inode;
	int fd;

	yard_open(&yard, quick);
	yard_stop(&yard);
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/transport/%s", yard.dir, name);
	fd = open(path, O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_SH), 0);
	yard_start(&yard);
	yard_turns(&yard, 30);
	cr_expect_eq(yard.shared->jobs, 0);
	cr_expect_eq(yard.scheduler.jobs.count, 0);
	close(fd);
	yard_clock(&yard, 2);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1);
	yard_close(&yard);
}

Test(core, killed_between_body_and_control_file_it_ends)
{
	char path[256], name[SPOOL_NAME_BYTES];
	ino_t inode;

	yard_open(&yard, quick);
	yard_stop(&yard);
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/queue/%s", yard.dir, name);
	cr_assert_eq(unlink(path), 0);		/* row F1 */
	yard_start(&yard);
	yard_turns(&yard, 30);
	cr_expect(yard_has(&yard, "transport", inode, ""), "a rescan's grace");
	yard_clock(&yard, INTAKE_RESCAN_MS / 1000 + 1);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->jobs, 0);
	yard_close(&yard);
}

/* queue/N to router/N-1; its spool id gets another last digit of time. */
static ino_t
claimed_message(bool is_other, char path[256], char to[256])
{
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES], text[4096];
	ino_t inode = yard_message(&yard, "a@src.test", "local//ok", id);
	char *at;
	ssize_t n;
	int fd;

	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, 256, "%s/spool/queue/%s", yard.dir, name);
	snprintf(to, 256, "%s/spool/router/%ju-1", yard.dir,
	    (uintmax_t)inode);
	cr_assert_eq(rename(path, to), 0);
	fd = open(to, O_RDWR);
	n = pread(fd, text, sizeof(text) - 1, 0);
	cr_assert_gt(n, 0);
	text[n] = '\0';
	at = strstr(text, id);
	cr_assert_not_null(at);
	if (is_other)
		cr_assert_eq(pwrite(fd, at[9] == '0' ? "1" : "0", 1,
		    at - text + 9), 1);
	close(fd);
	return inode;
}

Test(core, a_control_file_whose_message_is_in_the_router_again_goes)
{
	char path[256], to[256];
	ino_t inode;

	yard_open(&yard, quick);
	yard_stop(&yard);
	inode = claimed_message(false, path, to);	/* D8, cut */
	yard_start(&yard);
	yard_turns(&yard, 30);
	cr_expect_not(yard_has(&yard, "transport", inode, ""));
	cr_expect_eq(access(to, F_OK), 0);
	cr_assert_eq(unlink(to), 0);
	yard_close(&yard);
}

/* The number came again while the scheduler was dead: the other message
 * waits for the name, and must not wait for ever. */
static void
number_again(bool is_claimed)
{
	char path[256], to[256], given[256];
	ino_t inode;

	yard_open(&yard, quick);
	yard_stop(&yard);
	inode = claimed_message(true, path, to);
	snprintf(given, sizeof(given), "%s/spool/router/%ju", yard.dir,
	    (uintmax_t)inode);
	if (!is_claimed)
		cr_assert_eq(rename(to, given), 0);
	yard_start(&yard);
	yard_turns(&yard, 30);
	cr_expect(yard_has(&yard, "transport", inode, ""), "grace");
	yard_clock(&yard, INTAKE_RESCAN_MS / 1000 + 1);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_assert_eq(unlink(is_claimed ? to : given), 0, "it stays");
	cr_expect_eq(yard.shared->jobs, 0);
	yard_close(&yard);
}

Test(core, a_control_file_goes_when_another_message_has_its_number)
{
	number_again(false);
}

Test(core, a_control_file_goes_when_another_message_claimed_has_its_number)
{
	number_again(true);
}

Test(core, a_bad_control_file_is_set_aside_and_others_go_on)
{
	char path[256], name[SPOOL_NAME_BYTES];
	unsigned two = 2, one = 1;
	ino_t inode;
	int fd;

	yard_open(&yard, quick);
	yard_stop(&yard);
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/transport/%s", yard.dir, name);
	fd = open(path, O_WRONLY);
	cr_assert_eq(pwrite(fd, "XXXX", 4, 60), 4);
	close(fd);
	yard_start(&yard);
	cr_assert(yard_until(&yard, in_postman, &two));
	cr_assert(yard_until(&yard, yard_has_delivered, &one));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect(yard_has(&yard, "postman", inode, ".badcontrol"));
	yard_close(&yard);
}

/* ---- reports that nobody may get --------------------------------- */

Test(core, a_null_sender_is_never_answered)
{
	unsigned two = 2;
	ino_t inode;

	yard_open(&yard, quick);
	inode = yard_message(&yard, "", "smtp/x.test/fail@x.test", NULL);
	cr_assert(yard_until(&yard, in_postman, &two));
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
		yard_open(&yard, quick);
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

	yard_open(&yard, quick);
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

static bool
agents_gone(struct yard *y, void *arg)
{
	return y->scheduler.agents.count == 0;
}

Test(core, idle_agents_are_told_and_end)
{
	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.scheduler.agents.count, 1);
	yard_clock(&yard, 5);
	yard_turns(&yard, 50);
	cr_expect_eq(yard.shared->idles, 1);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->agents, 1, "it was used again");
	yard_clock(&yard, 40);
	cr_assert(yard_until(&yard, agents_gone, NULL));
	yard_close(&yard);
}

Test(core, a_reload_moves_threads_to_their_new_clause)
{
	yard_open(&yard, quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_reload(&yard, "group 50ms\nschedule smtp/* { retry 1m; "
	    "parallel 1; agents 1; overfeed 1 }");
	yard_clock(&yard, 12 * 60);
	yard_turns(&yard, 60);
	cr_expect_eq(yard.shared->jobs, 2);
	yard_clock(&yard, 70);
	yard_turns(&yard, 60);
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
	yard_turns(&yard, 30);
	cr_expect(yard_has(&yard, "transport", inode, ""), "row F1");
	yard_clock(&yard, 11);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
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
	yard_turns(&yard, 20);
	cr_expect_leq(yard_count(&yard, "transport"), 200);
	yard_close(&yard);
}

Test(core, a_waiting_recipient_costs_little)
{
	size_t bytes = sizeof(struct job) + sizeof(struct vertex) +
	    sizeof(struct rcpt) + 16	/* malloc */ +
	    sizeof(struct plan_slot) * 3 / 2 + sizeof(struct job *) * 8 / 3;

	cr_expect_leq(bytes, 300, "%zu", bytes);
}
