/* test_restart.c - what a scheduler finds when it starts, and makes of it
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "mail/control_file/control_file.h"
#include "scheduler/intake/intake.h"
#include "tests/unit/scheduler/asker.h"

static struct yard yard;

Test(restart, a_restart_knows_tries_and_moments_from_the_files)
{
	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 12 * 60);
	yard_settle(&yard, 60);
	cr_assert_eq(yard.shared->jobs, 2);
	yard_stop(&yard);
	yard_start(&yard);
	yard_settle(&yard, 60);
	cr_expect_eq(yard.shared->jobs, 2, "its hour is not over");
	yard_clock(&yard, 67 * 60);
	yard_settle(&yard, 60);
	cr_expect_eq(yard.shared->jobs, 3);
	cr_expect_eq(yard.shared->tries_most, 2);
	yard_close(&yard);
}

/* The clock was a day ahead until now.  What was deferred waits as long as was
 * planned, and an end that is ordered now is not over because the message is of
 * tomorrow. */
Test(restart, a_clock_that_was_set_back_keeps_nothing_waiting)
{
	struct asker asker;
	unsigned one = 1;

	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/grey@x.test", NULL);
	yard_message(&yard, "a@src.test", "smtp/y.test/defer@y.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_stop(&yard);
	yard_set_clock(&yard, -86400);
	yard_start(&yard);
	asker_serve(&yard);
	asker_open(&asker, &yard);
	yard_settle(&yard, 60);
	asker_ask(&asker, "{\"v\":1,\"op\":\"schedule\",\"rcpt\":"
	    "\"defer@y.test\",\"expire\":\"+1h\"}");
	yard_settle(&yard, 60);
	cr_expect_eq(yard.scheduler.queue.total.failed, 0);
	yard_clock(&yard, 12 * 60);
	cr_expect(yard_until(&yard, yard_has_delivered, &one));
	cr_expect_eq(yard.scheduler.queue.total.failed, 0);
	yard_clock(&yard, 3600);
	cr_expect(yard_until(&yard, yard_router_has, &one), "its end");
	asker_yard_close(&asker);
}

Test(restart, a_file_that_an_old_agent_holds_waits)
{
	char path[256], name[SPOOL_NAME_BYTES];
	ino_t inode;
	int fd;

	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/transport/%s", yard.dir, name);
	fd = open(path, O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_SH), 0);
	yard_start(&yard);
	yard_settle(&yard, 30);
	cr_expect_eq(yard.shared->jobs, 0);
	cr_expect_eq(yard.scheduler.queue.jobs.count, 0);
	close(fd);
	yard_clock(&yard, 2);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1);
	yard_close(&yard);
}

/* The router has not looked at the names: what lay there may yet be renamed. */
Test(restart, what_lay_there_waits_for_its_names)
{
	ino_t old;
	bool is_busy;

	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	old = yard_message(&yard, "a@src.test", "local//ok", NULL);
	yard_names_unread = true;
	yard_start(&yard);
	(void)yard_message(&yard, "a@src.test", "local//ok2", NULL);
	yard_settle(&yard, 30);
	cr_expect_eq(yard.shared->delivered, 1, "who came since");
	cr_expect_eq(yard.scheduler.queue.jobs.count, 0);
	cr_expect_eq(intake_unread(&yard.scheduler.intake), 1);
	cr_expect_null(intake_find(&yard.scheduler.intake, old, &is_busy));
	cr_expect(is_busy, "it is here");
	cr_expect_null(intake_find(&yard.scheduler.intake, old + 100000,
	    &is_busy));
	cr_expect_not(is_busy);
	yard_clock(&yard, INTAKE_RESCAN_MS / 1000 + 1);
	yard_settle(&yard, 30);
	cr_expect_eq(yard.shared->delivered, 1, "nor by a rescan");
	core_begin(&yard.scheduler);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 2);
	yard_close(&yard);
}

static void
pair_rename(ino_t from_number, ino_t to_number)
{
	static const char *const areas[] = { "transport", "queue" };
	char from[256], to[256], name[SPOOL_NAME_BYTES];

	for (int i = 0; i < 2; i++) {
		spool_hashed_name(yard.spool, from_number, name);
		snprintf(from, sizeof(from), "%s/spool/%s/%s", yard.dir,
		    areas[i], name);
		spool_hashed_name(yard.spool, to_number, name);
		snprintf(to, sizeof(to), "%s/spool/%s/%s", yard.dir,
		    areas[i], name);
		cr_assert_eq(rename(from, to), 0);
	}
}

/* A pair that the router gives another name comes by that, once. */
Test(restart, a_pair_that_is_renamed_meanwhile_is_one_message)
{
	ino_t inode;

	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	pair_rename(inode, inode + 1000000);
	yard_names_unread = true;
	yard_start(&yard);
	yard_settle(&yard, 30);
	cr_expect_eq(yard.shared->jobs, 0);
	pair_rename(inode + 1000000, inode);
	core_begin(&yard.scheduler);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 1);
	yard_close(&yard);
}

Test(restart, killed_between_body_and_control_file_it_ends)
{
	char path[256], name[SPOOL_NAME_BYTES];
	ino_t inode;

	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/queue/%s", yard.dir, name);
	cr_assert_eq(unlink(path), 0);		/* row F1 */
	yard_start(&yard);
	yard_settle(&yard, 30);
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

Test(restart, a_control_file_whose_message_is_in_the_router_again_goes)
{
	char path[256], to[256];
	ino_t inode;

	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	inode = claimed_message(false, path, to);	/* D8, cut */
	yard_start(&yard);
	yard_settle(&yard, 30);
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

	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	inode = claimed_message(true, path, to);
	snprintf(given, sizeof(given), "%s/spool/router/%ju", yard.dir,
	    (uintmax_t)inode);
	if (!is_claimed)
		cr_assert_eq(rename(to, given), 0);
	yard_start(&yard);
	yard_settle(&yard, 30);
	cr_expect(yard_has(&yard, "transport", inode, ""), "grace");
	yard_clock(&yard, INTAKE_RESCAN_MS / 1000 + 1);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_assert_eq(unlink(is_claimed ? to : given), 0, "it stays");
	cr_expect_eq(yard.shared->jobs, 0);
	yard_close(&yard);
}

Test(restart, a_control_file_goes_when_another_message_has_its_number)
{
	number_again(false);
}

Test(restart, a_control_file_goes_when_another_message_claimed_has_its_number)
{
	number_again(true);
}

/* Writes over the head of the control file at path: the number after tag gets
 * a letter, and with it the checksum that is_sealed asks for. */
static void
spoil_head(const char *path, const char *tag, bool is_sealed)
{
	char file[4096], first[CONTROL_FIRST_LINE_BYTES + 1];
	int fd = open(path, O_RDWR);
	ssize_t n = pread(fd, file, sizeof(file) - 1, 0);
	size_t head;
	char *number;

	cr_assert_gt(n, CONTROL_FIRST_LINE_BYTES);
	file[n] = '\0';
	number = strstr(file, tag);
	cr_assert_not_null(number);
	number[strlen(tag)] = 'x';
	head = (size_t)strtoul(file + 4, NULL, 10);
	cr_assert_leq(head, (size_t)n);
	if (is_sealed) {
		snprintf(first, sizeof(first), "@ 1 %08zu %08x\n", head,
		    crc32c(0, file + CONTROL_FIRST_LINE_BYTES,
			head - CONTROL_FIRST_LINE_BYTES));
		memcpy(file, first, CONTROL_FIRST_LINE_BYTES);
	}
	cr_assert_eq(pwrite(fd, file, (size_t)n, 0), n);
	close(fd);
}

/* Two messages wait, the first with a bad control file; then the start. */
static ino_t
start_with_bad_control(const char *tag, bool is_sealed)
{
	char path[256], name[SPOOL_NAME_BYTES];
	unsigned one = 1;
	ino_t inode;

	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	inode = yard_message(&yard, "a@src.test", "local//ok", NULL);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/transport/%s", yard.dir, name);
	spoil_head(path, tag, is_sealed);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_has_delivered, &one));
	return inode;
}

Test(restart, a_control_file_that_nobody_reads_is_set_aside_and_others_go_on)
{
	ino_t inode = start_with_bad_control("\no ", true);
	unsigned two = 2;

	cr_assert(yard_until(&yard, yard_postman_has, &two));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect(yard_has(&yard, "postman", inode, ".badcontrol"));
	yard_close(&yard);
}

/* Row P6. */
Test(restart, a_damaged_control_file_goes_and_its_message_is_routed_again)
{
	ino_t inode = start_with_bad_control("\no ", false);

	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect(yard_has(&yard, "router", inode, ""));
	cr_expect_not(yard_has(&yard, "queue", inode, ""));
	yard_close(&yard);
}

/* Two messages that a start has listed and not read, asked for before its
 * loop turns. */
static struct act *
order_at_once(const char *format, const char *id)
{
	char line[256];

	snprintf(line, sizeof(line), format, id);
	return act_begun(&yard, line);
}

static void
start_with_two(char ids[2][SPOOL_ID_BYTES], ino_t inodes[2])
{
	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	for (int i = 0; i < 2; i++)
		inodes[i] = yard_message(&yard, "a@src.test",
		    "smtp/x.test/defer@x.test", ids[i]);
	yard_start(&yard);
	cr_assert_eq(yard.scheduler.queue.jobs.count, 0, "not read yet");
}

Test(restart, an_order_by_id_finds_what_is_not_read_yet)
{
	char ids[2][SPOOL_ID_BYTES];
	struct control_file control;
	struct str out = STR_INIT;
	struct act *act;
	ino_t inodes[2];

	start_with_two(ids, inodes);
	act = order_at_once("{\"v\":1,\"op\":\"hold\",\"id\":\"%s\"}",
	    ids[1]);
	while (act_stepped(&yard, act, &out) != ACT_DONE)
		;
	cr_expect(yard_says(&out, "\"messages\":1"), "%s", out.buf);
	cr_assert(yard_control(&yard, inodes[1], &control));
	cr_expect(control.groups[0].rcpts[0].is_held);
	act_free(&act);
	str_release(&out);
	yard_close(&yard);
}

Test(restart, an_order_by_selector_is_of_what_is_not_read_yet_too)
{
	char ids[2][SPOOL_ID_BYTES];
	struct str out = STR_INIT;
	enum act_step step;
	struct act *act;
	ino_t inodes[2];

	start_with_two(ids, inodes);
	act = order_at_once("{\"v\":1,\"op\":\"delete\","
	    "\"sender\":\"%s\"}", "a@src.test");
	cr_assert_eq(act_stepped(&yard, act, &out), ACT_WAIT);
	while ((step = act_stepped(&yard, act, &out)) != ACT_DONE)
		if (step == ACT_WAIT)
			yard_turns(&yard, 1);
	cr_expect(yard_says(&out, "\"messages\":2"), "%s", out.buf);
	act_free(&act);
	str_release(&out);
	yard_close(&yard);
}

Test(restart, an_order_counts_as_active_what_an_old_agent_holds)
{
	char ids[2][SPOOL_ID_BYTES], path[256], name[SPOOL_NAME_BYTES];
	struct str out = STR_INIT;
	enum act_step step;
	struct act *act;
	ino_t inodes[2];
	int fd;

	start_with_two(ids, inodes);
	spool_hashed_name(yard.spool, inodes[0], name);
	snprintf(path, sizeof(path), "%s/spool/transport/%s", yard.dir, name);
	fd = open(path, O_RDONLY);
	cr_assert_eq(flock(fd, LOCK_SH), 0);
	act = order_at_once("{\"v\":1,\"op\":\"freeze\",\"id\":\"%s\"}",
	    ids[0]);
	while ((step = act_stepped(&yard, act, &out)) != ACT_DONE)
		if (step == ACT_WAIT)
			yard_turns(&yard, 1);
	cr_expect(yard_says(&out, "\"active\":1"), "%s", out.buf);
	close(fd);
	act_free(&act);
	str_release(&out);
	yard_close(&yard);
}

Test(restart, an_order_in_an_empty_spool_waits_for_nothing)
{
	struct str out = STR_INIT;
	enum act_step step = ACT_MORE;
	struct act *act;

	yard_open(&yard, yard_quick);
	act = order_at_once("{\"v\":1,\"op\":\"hold\",\"sender\":\"%s\"}",
	    "a@src.test");
	while (step == ACT_MORE || step == ACT_SYNC)
		step = act_stepped(&yard, act, &out);
	cr_expect_eq(step, ACT_DONE);
	act_free(&act);
	str_release(&out);
	yard_close(&yard);
}

/* Does the system tell whether a file is in memory, and is it? */
static bool
is_in_memory(ino_t inode)
{
	char path[256], name[SPOOL_NAME_BYTES], id[SPOOL_ID_BYTES];
	bool waited = true;
	int fd;

	spool_hashed_name(yard.spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/queue/%s", yard.dir, name);
	fd = open(path, O_RDONLY);
	cr_assert(spool_read_id_soon(fd, id, &waited));
	close(fd);
	return !waited;
}

/* What is in memory needs no second descriptor, and no look whether it is
 * still there. */
Test(restart, what_is_in_memory_is_not_opened_ahead)
{
	ino_t inodes[3];
	bool is_cold = false;

	yard_open(&yard, yard_quick);
	yard_stop(&yard);
	for (int i = 0; i < 3; i++)
		inodes[i] = yard_message(&yard, "a@src.test", "local//hang",
		    NULL);
	for (int i = 0; i < 3; i++)
		is_cold |= !is_in_memory(inodes[i]);
	yard_start(&yard);
	cr_expect_eq(yard.scheduler.intake.ahead, 0);
	yard_settle(&yard, 30);
	cr_expect_eq(yard.scheduler.queue.jobs.count, 3);
	cr_expect_eq(yard.scheduler.intake.cold.left > 0, is_cold);
	yard_close(&yard);
}
