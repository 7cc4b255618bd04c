/* test_verdicts.c - a client waits for the next hop's word
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/ipc.h"
#include "mail/spool_id.h"
#include "scheduler/verdicts/verdicts.h"
#include "tests/unit/scheduler/yard.h"

static struct yard yard;
static int ours = -1;		/* our end of a connection */
static struct str heard = STR_INIT;
static char id[SPOOL_ID_BYTES];

static int
desk_connect(void)
{
	int ends[2];
	struct err err;

	cr_assert_eq(ipc_pair(ends, &err), 0, "%s", err.text);
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	verdicts_take(yard.scheduler.verdicts, ends[1]);
	return ends[0];
}

static void
desk_open(void)
{
	struct err err;
	int fd;

	fd = verdicts_bind(yard.conf->run_dir, &err);
	cr_assert_geq(fd, 0, "%s", err.text);
	yard.scheduler.verdicts = verdicts_new(&yard.scheduler.queue, fd);
	ours = desk_connect();
	str_reset(&heard);
}

static void
desk_close(void)
{
	verdicts_free(&yard.scheduler.verdicts);
	close(ours);
}

static void
open_all(void)
{
	yard_open(&yard, yard_quick);
	desk_open();
}

static void
close_all(void)
{
	desk_close();
	yard_close(&yard);
	str_release(&heard);
}

static void
say(int fd, const char *word, int token)
{
	char line[100];
	int n = snprintf(line, sizeof(line), "%d %s %s\n", token, word, id);

	cr_assert_eq(write(fd, line, (size_t)n), n);
}

/* Has a line begun with this token come? */
static bool
has_heard(struct yard *y, void *arg)
{
	char wanted[16], bytes[4096];
	ssize_t n;

	while ((n = read(ours, bytes, sizeof(bytes))) > 0)
		str_add(&heard, bytes, (size_t)n);
	snprintf(wanted, sizeof(wanted), "%d ", *(int *)arg);
	return strncmp(heard.buf, wanted, strlen(wanted)) == 0 ||
	    (snprintf(wanted, sizeof(wanted), "\n%d ", *(int *)arg) > 0 &&
	    strstr(heard.buf, wanted) != NULL);
}

static void
expect_answer(int token, const char *words)
{
	char wanted[400];

	cr_assert(yard_until(&yard, has_heard, &token), "%d: %s", token,
	    words);
	snprintf(wanted, sizeof(wanted), "%d %s", token, words);
	cr_expect(yard_says(&heard, wanted), "wanted %s, heard %s", wanted,
	    heard.buf);
}

/* A message that is announced before the scheduler's loop has seen it. */
static void
announce(const char *rcpts)
{
	yard_message(&yard, "a@src.test", rcpts, id);
	say(ours, "expect", 1);
	say(ours, "wait", 2);
	expect_answer(1, "ok yes");
}

static void
expect_reports(unsigned count)
{
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard_count(&yard, "router"), count);
}

/* ---- what the client hears ----------------------------------------- */

Test(verdicts, each_outcome_has_its_answer, .timeout = 900)
{
	static const struct {
		const char	*rcpts, *answer;
		unsigned	 reports;
	} rows[] = {
		{ "smtp/x.test/ok@x.test", "ok delivered 2.", 0 },
		{ "smtp/x.test/relay@x.test", "ok delivered 2.", 0 },
		{ "smtp/x.test/ok1@x.test smtp/y.test/ok2@y.test",
		    "ok delivered 2.", 0 },
		{ "smtp/x.test/ok@x.test smtp/x.test/fail@x.test",
		    "ok queued some recipients were refused", 1 },
		{ "smtp/x.test/fail@x.test smtp/y.test/ok@y.test",
		    "ok queued some recipients were refused", 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_all();
		announce(rows[i].rcpts);
		expect_answer(2, rows[i].answer);
		expect_reports(rows[i].reports);
		cr_expect_eq(yard.scheduler.queue.hearers.count, 0);
		close_all();
	}
}

Test(verdicts, what_takes_longer_is_queued, .timeout = 900)
{
	static const struct {
		const char	*rcpts, *answer;
	} rows[] = {
		{ "smtp/x.test/defer@x.test", "ok queued it was deferred" },
		{ "smtp/x.test/ok@x.test smtp/x.test/defer@x.test",
		    "ok queued it was deferred" },
		{ "smtp/x.test/die@x.test",
		    "ok queued its transport agent ended" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_all();
		announce(rows[i].rcpts);
		expect_answer(2, rows[i].answer);
		cr_expect_eq(yard.scheduler.queue.jobs.count, 1);
		close_all();
	}
}

Test(verdicts, a_destination_that_is_down_is_not_waited_for, .timeout = 900)
{
	open_all();
	yard.shared->is_down = 1;
	announce("smtp/x.test/down1@x.test");
	expect_answer(2, "ok queued it");
	str_reset(&heard);
	announce("smtp/x.test/down2@x.test");
	expect_answer(2, "ok queued its destination waits");
	close_all();
}

Test(verdicts, an_agent_that_hangs_costs_the_time_alone, .timeout = 900)
{
	open_all();
	announce("smtp/x.test/hang@x.test");
	yard_settle(&yard, 20);
	yard_clock(&yard, 31);
	expect_answer(2, "ok queued the next hop took too long");
	cr_expect_eq(yard.scheduler.queue.jobs.count, 1);
	close_all();
}

/* ---- a refusal ------------------------------------------------------ */

Test(verdicts, a_refusal_that_was_told_ends_without_a_report, .timeout = 900)
{
	static const char *const rows[] = {
		"smtp/x.test/fail@x.test",
		"smtp/x.test/fail1@x.test smtp/y.test/fail2@y.test",
		"smtp/x.test/unrecorded-fail@x.test"
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		open_all();
		announce(rows[i]);
		expect_answer(2, "ok refused 5.1.1 550 ");
		yard_settle(&yard, 20);
		cr_expect_eq(yard_count(&yard, "router"), 0);
		cr_expect_eq(yard.scheduler.queue.jobs.count, 1);
		say(ours, "told", 3);
		expect_answer(3, "ok done");
		expect_reports(0);
		close_all();
	}
}

Test(verdicts, a_refusal_that_nobody_heard_is_reported, .timeout = 900)
{
	enum { SILENT, GONE, CLOSED, ENDED, HOWS };

	for (int how = 0; how < HOWS; how++) {
		open_all();
		announce("smtp/x.test/fail@x.test");
		expect_answer(2, "ok refused 5.1.1 550 ");
		if (how == SILENT) {
			yard_clock(&yard, 11);
		} else if (how == GONE) {
			say(ours, "gone", 3);
		} else if (how == CLOSED) {
			(void)shutdown(ours, SHUT_RDWR);
		} else {	/* the scheduler: rows W1, W2 */
			desk_close();
			yard_stop(&yard);
			cr_expect_eq(yard_count(&yard, "router"), 0);
			yard_start(&yard);
			desk_open();
		}
		expect_reports(1);
		if (how != CLOSED) {
			say(ours, "told", 4);	/* too late */
			expect_answer(4, "trouble ");
		}
		close_all();
	}
}

/* The id of a message that was encoded (row C3) tells the inode of the first
 * file: its end is found all the same. */
Test(verdicts, an_encoded_one_ends_as_the_others, .timeout = 900)
{
	enum { ELSEWHERE = 4711 };

	yard_accepted_as = ELSEWHERE;
	for (int is_told = 0; is_told < 2; is_told++) {
		open_all();
		announce("smtp/x.test/fail@x.test");
		expect_answer(2, "ok refused 5.1.1 550 ");
		say(ours, is_told ? "told" : "gone", 3);
		expect_answer(3, "ok done");
		expect_reports(is_told ? 0 : 1);
		close_all();
	}
	yard_accepted_as = 0;
}

/* Neither the client nor a report tells what may be put back. */
Test(verdicts, a_refusal_that_is_kept_is_not_said, .timeout = 900)
{
	yard_open(&yard, "keep failed 1h\n"
	    "schedule */* { retry 10m; parallel 4; warn 0; expire 1d }\n");
	desk_open();
	announce("smtp/x.test/fail@x.test");
	expect_answer(2, "ok queued what fails is kept");
	say(ours, "told", 3);
	expect_answer(3, "trouble it was not refused");
	yard_settle(&yard, 20);
	cr_expect_eq(yard_count(&yard, "router"), 0);
	cr_expect_eq(yard.scheduler.queue.jobs.count, 1);
	yard_clock(&yard, 3700);
	expect_reports(1);
	close_all();
}

/* ---- who asks ------------------------------------------------------- */

Test(verdicts, a_connection_has_its_own_messages_only, .timeout = 900)
{
	int other;

	open_all();
	announce("smtp/x.test/fail@x.test");
	expect_answer(2, "ok refused 5.1.1 550 ");
	other = ours;
	ours = desk_connect();
	say(ours, "told", 5);
	expect_answer(5, "trouble it is somebody else's");
	say(ours, "expect", 6);
	expect_answer(6, "trouble it is somebody else's");
	close(other);
	expect_reports(1);
	close_all();
}

static bool
is_closed(struct yard *y, void *arg)
{
	char byte;

	return read(ours, &byte, 1) == 0;
}

Test(verdicts, nonsense_is_answered_or_ends_the_connection, .timeout = 900)
{
	static const char *const answered[] = { "7\n", "7 wait\n",
	    "7 wait nothing\n", "7 sing 01jd3x8k2mc4n7\n",
	    "7 expect ../../../etc\n" };
	static const char *const ended[] = { "wait 01jd3x8k2mc4n7\n",
	    "-1 wait 01jd3x8k2mc4n7\n", "\n", "0 wait 01jd3x8k2mc4n7\n" };
	char huge[VERDICTS_LINE_BYTES_MAX + 2];

	for (size_t i = 0; i < sizeof(answered) / sizeof(answered[0]); i++) {
		open_all();
		cr_assert_gt(write(ours, answered[i], strlen(answered[i])),
		    0);
		expect_answer(7, "trouble this is no question");
		close_all();
	}
	for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++) {
		open_all();
		cr_assert_gt(write(ours, ended[i], strlen(ended[i])), 0);
		cr_expect(yard_until(&yard, is_closed, NULL), "%s", ended[i]);
		close_all();
	}
	open_all();
	memset(huge, '7', sizeof(huge));
	cr_assert_gt(write(ours, huge, sizeof(huge)), 0);
	cr_expect(yard_until(&yard, is_closed, NULL));
	close_all();
}

Test(verdicts, there_is_a_bound, .timeout = 900)
{
	struct hearers hearers;
	char text[SPOOL_ID_BYTES];

	hearers_init(&hearers);
	for (unsigned i = 0; i < HEARERS_MAX; i++) {
		snprintf(text, sizeof(text), "%u", i);
		cr_assert_not_null(hearers_add(&hearers, text, NULL));
	}
	cr_expect_null(hearers_add(&hearers, "more", NULL));
	cr_expect_null(hearers_add(&hearers, "7", NULL), "it is there");
	cr_expect_not_null(hearers_find(&hearers, "4095"));
	hearers_release(&hearers);
	cr_expect_eq(hearers.count, 0);
}
