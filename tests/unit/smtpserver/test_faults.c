/* test_faults.c - trouble with the disk: what is said, and that nothing is left
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "journal/progress.h"
#include "client_case.h"
#include "faults.h"

#include "base/banned.h"

Test(faults, failed_fsync_is_451_and_nothing_is_queued)
{
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	faults.fsync_error = EIO;
	client_say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n.\r\n");
	client_expect(&house, client, true, STARTED " 451/4.3.0");
	cr_expect_eq(faults.fsyncs, 1, "a failed fsync is not tried again");
	cr_expect_eq(house_count(&house, "router"), 0);
	cr_expect_eq(house_count(&house, "public"), 0);
	faults.fsync_error = 0;
	client_say(&house, client, ENVELOPE "DATA\r\nx\r\n.\r\n");
	client_expect(&house, client, true,
	    "250/2.1.0 250/2.1.5 354 250/2.0.0");
	cr_expect_eq(house_count(&house, "router"), 1);
	close(client);
	house_close(&house);
}

Test(faults, disk_that_fills_up_in_the_middle_is_452)
{
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n");
	client_expect(&house, client, true, STARTED);
	faults.fsync_error = ENOSPC;
	faults.is_full = true;
	client_say(&house, client, ".\r\n");
	client_expect(&house, client, true, "452/4.3.1");
	cr_expect_eq(house_count(&house, "router"), 0);
	cr_expect_eq(house_count(&house, "public"), 0);
	close(client);
	house_close(&house);
}

/* In one group each message has its own fate. */
Test(faults, one_of_a_group_fails)
{
	struct house house;
	int clients[3];
	unsigned good = 0, bad = 0;

	house_open(&house, "");
	for (int i = 0; i < 3; i++) {
		clients[i] = house_connect(&house, CLIENT);
		client_say(&house, clients[i], HELLO ENVELOPE "DATA\r\nx\r\n");
		client_expect(&house, clients[i], true, STARTED);
	}
	faults.fsync_error = EIO;
	faults.fsync_after = 2;
	for (int i = 0; i < 3; i++)
		(void)!write(clients[i], ".\r\n", 3);
	loop_turn(house.loop, 0);	/* one turn: one group */
	for (int i = 0; i < 3; i++) {
		char reply[256] = "";

		cr_expect(read(clients[i], reply, sizeof(reply) - 1) > 0);
		good += strncmp(reply, "250 2.0.0 ", 10) == 0;
		bad += strncmp(reply, "451 4.3.0 ", 10) == 0;
		close(clients[i]);
	}
	cr_expect_eq(good, 2);
	cr_expect_eq(bad, 1);
	cr_expect_eq(house_count(&house, "router"), 2);
	cr_expect_eq(house_count(&house, "public"), 0);
	house_close(&house);
}

/* ---- what becomes durable beside the loop -------------------------------- */

/* A house whose worker does not wait, and a client whose message is at the
 * disk. */
static int
beside_open(struct house *house)
{
	int client;

	house_open(house, "");
	worker_sync_beside(house->worker, 0);
	client = house_connect(house, CLIENT);
	client_say(house, client, HELLO ENVELOPE "DATA\r\nx\r\n");
	client_expect(house, client, true, STARTED);
	faults.is_held = true;
	cr_assert_eq(write(client, ".\r\n", 3), 3);
	while (faults.held == 0)
		loop_turn(house->loop, 10);
	return client;
}

static void
beside_let_go(struct house *house, unsigned want)
{
	faults.is_held = false;
	while (house_count(house, "router") < want)
		loop_turn(house->loop, 10);
}

/* Seen by others, who need no answer of ours for it. */
Test(beside, what_waits_for_the_disk_has_an_age, .timeout = 60)
{
	struct house house;
	struct progress one;
	struct err err;
	int client = beside_open(&house);

	cr_assert_eq(progress_open(house.dir, "smtpserver", &err), 0, "%s",
	    err.text);
	loop_turn(house.loop, 10);
	cr_assert(progress_find(house.dir, "smtpserver", getpid(), &one));
	cr_expect_geq(one.work_ms, 0);
	beside_let_go(&house, 1);
	loop_turn(house.loop, 10);
	cr_assert(progress_find(house.dir, "smtpserver", getpid(), &one));
	cr_expect_eq(one.work_ms, -1);
	close(client);
	house_close(&house);
}

Test(beside, others_go_on_and_nothing_is_answered_too_early, .timeout = 60)
{
	struct house house;
	int first = beside_open(&house), second = house_connect(&house, CLIENT);

	client_say(&house, second, HELLO "NOOP\r\n");
	client_expect(&house, second, true, READY "250/2.0.0");
	client_say(&house, second, ENVELOPE "DATA\r\nx\r\n.\r\n");
	client_expect(&house, second, true, "");
	client_expect(&house, first, true, "");
	while (faults.held < 2)		/* side by side */
		loop_turn(house.loop, 10);
	cr_expect_eq(house_count(&house, "router"), 0);
	beside_let_go(&house, 2);
	client_expect(&house, first, true, "250/2.0.0");
	client_expect(&house, second, true,
	    "250/2.1.0 250/2.1.5 354 250/2.0.0");
	close(first);
	close(second);
	house_close(&house);
}

/* A quick disk is not worth a thread: the turn that has the end of the
 * message has the reply, too. */
Test(beside, a_quick_group_is_the_loops)
{
	struct house house;
	char reply[1024] = "";
	int client;

	house_open(&house, "");
	worker_sync_beside(house.worker, 3600000000);
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n");
	client_expect(&house, client, true, STARTED);
	cr_assert_eq(write(client, ".\r\n", 3), 3);
	loop_turn(house.loop, 0);
	cr_expect(read(client, reply, sizeof(reply) - 1) > 0);
	cr_expect(strncmp(reply, "250 2.0.0 ", 10) == 0, "%s", reply);
	close(client);
	house_close(&house);
}

Test(beside, a_client_that_leaves_takes_nothing_with_it, .timeout = 60)
{
	struct house house;
	int client = beside_open(&house);

	close(client);
	for (int i = 0; i < 3; i++)
		loop_turn(house.loop, 10);
	beside_let_go(&house, 1);
	cr_expect_eq(house_count(&house, "public"), 0);
	house_close(&house);
}

Test(beside, a_worker_that_ends_answers_first, .timeout = 60)
{
	struct house house;
	int client = beside_open(&house);
	char reply[256] = "";

	worker_stop(house.worker);
	loop_turn(house.loop, 10);
	faults.is_held = false;
	worker_free(&house.worker);
	cr_expect_eq(house_count(&house, "router"), 1);
	cr_expect(read(client, reply, sizeof(reply) - 1) > 0);
	cr_expect(strncmp(reply, "250 2.0.0 ", 10) == 0, "%s", reply);
	close(client);
	house_close(&house);
}

Test(beside, what_the_disk_refuses_is_451, .timeout = 60)
{
	struct house house;
	int client = beside_open(&house);
	struct str text = STR_INIT;

	faults.fsync_error = EIO;
	faults.is_held = false;
	while (text.len == 0) {
		loop_turn(house.loop, 10);
		house_hear(&house, client, &text);
	}
	cr_expect(slice_starts(str_slice(&text), "451 4.3.0"), "%s",
	    text.buf);
	cr_expect_eq(house_count(&house, "router"), 0);
	cr_expect_eq(house_count(&house, "public"), 0);
	str_release(&text);
	close(client);
	house_close(&house);
}

Test(faults, failed_rename_is_451)
{
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	faults.rename_error = EIO;
	client_say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n.\r\n");
	client_expect(&house, client, true, STARTED " 451/4.3.0");
	cr_expect_eq(house_count(&house, "router"), 0);
	cr_expect_eq(house_count(&house, "public"), 0);
	close(client);
	house_close(&house);
}

Test(faults, full_disk_is_452_and_asked_once_a_second)
{
	struct house house;
	int client;

	house_open_clocked(&house, "");
	client = house_connect(&house, CLIENT);
	faults.is_full = true;
	client_say(&house, client, HELLO "MAIL FROM:<a@src.test> SIZE=1\r\n"
	    "MAIL FROM:<a@src.test>\r\n");
	client_expect(&house, client, true, READY "452/4.3.1 452/4.3.1");
	cr_expect_eq(faults.statvfs_calls, 1);
	faults.is_full = false;
	client_say(&house, client, "MAIL FROM:<a@src.test>\r\n");
	client_expect(&house, client, true, "452/4.3.1");
	*house.clock += 1;
	client_say(&house, client, "MAIL FROM:<a@src.test>\r\n");
	client_expect(&house, client, true, "250/2.1.0");
	cr_expect_eq(faults.statvfs_calls, 2);
	close(client);
	house_close(&house);
}

Test(faults, no_draft_can_be_made)
{
	char from[160], to[160];
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	snprintf(from, sizeof(from), "%s/public", house.dir);
	snprintf(to, sizeof(to), "%s/gone", house.dir);
	cr_assert_eq(rmdir(from), 0);	/* openat in it: ENOENT */
	client_say(&house, client, HELLO ENVELOPE "DATA\r\nRSET\r\n");
	client_expect(&house, client, true,
	    "220 250 250/2.1.0 250/2.1.5 451/4.3.0 250/2.0.0");
	close(client);
	house_close(&house);
}
