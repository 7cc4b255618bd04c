/* test_sharing.c - copies on other machines: no delivery without a lease, what
 * share is told, what others have taken over
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scheduler/sharing/taken.h"
#include "tests/unit/scheduler/sharing/a_share.h"

#ifdef HAVE_PGSQL

static char anything[1];

Test(sharing, nothing_is_delivered_without_a_lease)
{
	unsigned one = 1;
	char id[SPOOL_ID_BYTES];

	copies_begin("wait");
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", id);
	yard_settle(&yard, 50);
	cr_expect_eq(yard.shared->jobs, 0);
	cr_expect_str_eq(sharing_why(yard.scheduler.queue.sharing),
	    "the process share does not answer");
	share_open(0);
	cr_assert(yard_until(&yard, share_heard, anything));
	yard_settle(&yard, 50);
	cr_expect_eq(yard.shared->jobs, 0);
	share.epoch = 7;
	cr_assert(yard_until(&yard, is_delivered, &one));
	cr_expect(yard_until(&yard, share_heard, told("done", id)),
	    "its end is told");
	copies_end();
}

Test(sharing, with_go_on_mail_does_not_wait_for_the_database)
{
	unsigned one = 1;

	copies_begin("go-on");
	share.peer = share.listener = -1;
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_expect(yard_until(&yard, yard_has_delivered, &one));
	yard_close(&yard);
}

Test(sharing, what_was_tried_and_stays_is_copied_as_it_is)
{
	char id[SPOOL_ID_BYTES];
	struct str file = STR_INIT;

	copies_begin("wait");
	share_open(1);
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", id);
	cr_assert(yard_until(&yard, share_heard, told("kept", id)));
	yard_only_file(&yard, "transport", &file);
	cr_expect_str_eq(share.control.buf, file.buf);
	cr_expect(yard_says(&share.control, "deferred"));
	yard_only_file(&yard, "queue", &file);
	cr_expect_str_eq(share.body.buf, file.buf);
	copies_end();
	str_release(&file);
}

Test(sharing, what_is_not_confirmed_is_told_again)
{
	char id[SPOOL_ID_BYTES];

	copies_begin("wait");
	share_open(1);
	share.away = 2;
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", id);
	cr_assert(yard_until(&yard, share_heard, told("done", id)));
	str_reset(&share.heard);
	cr_assert(yard_until(&yard, share_heard, told("done", id)));
	str_reset(&share.heard);
	cr_assert(yard_until(&yard, share_heard, told("done", id)));
	copies_end();
}

/* It hears of an end, and answers nothing. */
static bool
share_is_mute(struct yard *y, void *arg)
{
	if (share.peer < 0)
		share.peer = accept4(share.listener, NULL, NULL,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
	while (share.peer >= 0 && ipc_receive(share.peer, &share.inbox) ==
	    IPC_GOT)
		;
	return share.inbox.bytes.len > 0 && strstr(share.inbox.bytes.buf,
	    "done") != NULL;
}

/* The same after share itself was another one. */
Test(sharing, another_share_hears_what_the_first_did_not_confirm)
{
	char id[SPOOL_ID_BYTES];
	unsigned one = 1;

	copies_begin("go-on");
	share_open(1);
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", id);
	cr_assert(yard_until(&yard, yard_has_delivered, &one));
	cr_assert(yard_until(&yard, share_is_mute, NULL));
	ipc_inbox_consume(&share.inbox, share.inbox.bytes.len);
	close(share.peer);
	share.peer = -1;
	cr_expect(yard_until(&yard, share_heard, told("done", id)));
	copies_end();
}

Test(sharing, what_another_node_has_goes_to_trash)
{
	char id[SPOOL_ID_BYTES], late[SPOOL_ID_BYTES];
	unsigned one = 1, two = 2, lists = 2;
	struct str reason = STR_INIT;
	ino_t mine, theirs;

	copies_begin("wait");
	mine = yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test",
	    NULL);
	theirs = yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test",
	    id);
	share_open(1);
	share.listless = 2;
	str_addf(&share.taken, "%s b\n0000 b\nzzzz b\n", id);
	cr_assert(yard_until(&yard, is_in_trash, &theirs));
	cr_assert(yard_until(&yard, is_delivered, &one));
	yard_settle(&yard, 100);
	cr_expect_eq(yard.shared->delivered, 1);
	cr_expect_not(yard_has(&yard, "queue", mine, ""));
	/* a lease of another epoch: the list is asked for anew */
	theirs = yard_message(&yard, "a@src.test",
	    "smtp/y.test/defer@y.test", late);
	cr_assert(yard_until(&yard, share_heard, told("kept", late)));
	str_addf(&share.taken, "%s b\n", late);
	share.epoch = 2;
	cr_assert(yard_until(&yard, is_listed, &lists));
	cr_assert(yard_until(&yard, is_in_trash, &theirs));
	/* what comes to the queue later is looked for in it, too */
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_expect(yard_until(&yard, is_delivered, &two));
	copies_end();
	str_release(&reason);
}

/* What the router hands over when the list is here, small or read in pieces. */
static void
taken_before_it_is_read(int rcpts)
{
	char name[SPOOL_NAME_BYTES], there[256], aside[256];
	char id[SPOOL_ID_BYTES];
	struct str text = STR_INIT;
	unsigned lists = 1;
	ino_t theirs;

	copies_begin("wait");
	yard_stop(&yard);
	for (int i = 0; i < rcpts; i++)
		str_addf(&text, "smtp/x.test/ok%d@x.test ", i);
	theirs = yard_message(&yard, "a@src.test", text.buf, id);
	spool_hashed_name(yard.spool, theirs, name);
	snprintf(there, sizeof(there), "%s/spool/transport/%s", yard.dir,
	    name);
	snprintf(aside, sizeof(aside), "%s/aside", yard.dir);
	cr_assert_eq(rename(there, aside), 0);
	share_open(1);
	str_addf(&share.taken, "%s b\n", id);
	str_adds(&share.gone, id);
	yard_start(&yard);
	cr_assert(yard_until(&yard, is_listed, &lists));
	yard_turns(&yard, 5);
	cr_assert_eq(rename(aside, there), 0);
	cr_assert(yard_until(&yard, is_in_trash, &theirs));
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, 0);
	copies_end();
	str_release(&text);
}

Test(sharing, what_comes_when_the_list_is_here_goes_to_trash)
{
	taken_before_it_is_read(1);
}

Test(sharing, and_so_does_what_is_read_in_pieces, .timeout = 900)
{
	taken_before_it_is_read(20000);
}

/* Its epoch says nothing about this one's, and neither does its list. */
Test(sharing, another_database_is_asked_anew)
{
	unsigned lists = 2;
	struct str text = STR_INIT;

	copies_begin("wait");
	share_open(1);
	cr_assert(yard_until(&yard, may_deliver, NULL));
	str_addf(&text, CLUSTER "lease wait }\n%s", yard_quick);
	yard_reload(&yard, text.buf);
	cr_expect(sharing_may_deliver(yard.scheduler.queue.sharing),
	    "the same goes on");
	str_reset(&text);
	str_addf(&text, "cluster c { node a b; self a; postgres dbname=other "
	    "}\n%s", yard_quick);
	yard_reload(&yard, text.buf);
	cr_expect_not(sharing_may_deliver(yard.scheduler.queue.sharing));
	close(share.peer);
	share.peer = -1;
	cr_expect(yard_until(&yard, is_listed, &lists));
	cr_expect(yard_until(&yard, may_deliver, NULL));
	yard_reload(&yard, yard_quick);
	cr_expect_null(yard.scheduler.queue.sharing);
	copies_end();
	str_release(&text);
}

Test(sharing, a_lease_that_is_over_ends_deliveries)
{
	unsigned one = 1;

	copies_begin("wait");
	share_open(1);
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, is_delivered, &one));
	cr_expect(sharing_may_deliver(yard.scheduler.queue.sharing));
	share.epoch = 0;
	yard_clock(&yard, 16);
	cr_expect_not(sharing_may_deliver(yard.scheduler.queue.sharing));
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	yard_settle(&yard, 100);
	cr_expect_eq(yard.shared->delivered, 1);
	copies_end();
}
#endif

Test(sharing, a_list_is_found_by_id)
{
	struct taken_list taken = { .count = 0 };
	char id[16];

	cr_expect_null(taken_node(&taken, "0"));
	for (int i = 0; i < 1000; i++) {
		snprintf(id, sizeof(id), "%d", i * 7 % 1000);
		cr_assert(taken_add(&taken, slice_of(id), i < 500 ?
		    SLICE("b") : SLICE("c")));
	}
	taken_sort(&taken);
	cr_expect_str_eq(taken_node(&taken, "7"), "b");
	cr_expect_str_eq(taken_node(&taken, "999"), "c");
	cr_expect_null(taken_node(&taken, "1000"));
	taken_release(&taken);
}
