/* test_moves.c - messages that go to another node: offered, left, called back
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/scheduler/asker.h"
#include "tests/unit/scheduler/sharing/a_share.h"

#ifdef HAVE_PGSQL

static char offer[] = "offer ";

struct mail {
	ino_t		 inode;
	char		 id[SPOOL_ID_BYTES];
	struct move_order *order;
};

static struct job *
mail_job(const struct mail *mail)
{
	return job_table_find(&yard.scheduler.queue.jobs, mail->inode);
}

/* A message that was tried and whose copy is told, given to b. */
static void
mail_moves(struct mail *mail)
{
	struct err err;

	copies_begin("wait");
	share_open(1);
	mail->inode = yard_message(&yard, "a@src.test",
	    "smtp/x.test/defer@x.test", mail->id);
	cr_assert(yard_until(&yard, share_heard, told("kept", mail->id)));
	yard_settle(&yard, 20);
	mail->order = sharing_move_begin(yard.scheduler.queue.sharing, "b",
	    &err);
	cr_assert_not_null(mail->order, "%s", err.text);
	cr_assert_eq(sharing_move(yard.scheduler.queue.sharing, mail_job(mail),
	    mail->order), SHARING_MOVES);
	cr_expect_eq(sharing_move(yard.scheduler.queue.sharing, mail_job(mail),
	    mail->order), SHARING_BUSY);
	/* it is as in flight, but holds no files open */
	cr_expect_eq(mail_job(mail)->flight_count, 1);
	cr_expect_eq(yard.scheduler.queue.plan.open_jobs, 0);
}

static bool
mail_stays(struct yard *y, void *arg)
{
	const struct job *job = mail_job(arg);

	share_turn();
	cr_assert_leq(y->scheduler.queue.plan.open_jobs, 1);
	return job != NULL && (job->flags & JOB_MOVING) == 0;
}

Test(moves, what_moves_is_offered_and_leaves)
{
	struct mail mail;
	unsigned jobs;

	mail_moves(&mail);
	cr_assert(yard_until(&yard, share_heard, offer));
	cr_expect(yard_until(&yard, share_heard, told("left", mail.id)));
	jobs = yard.shared->jobs;
	yard_clock(&yard, 200);
	yard_settle(&yard, 100);
	cr_expect_eq(yard.shared->jobs, jobs, "it is not tried");
	str_adds(&share.gone, mail.id);
	cr_expect(yard_until(&yard, is_in_trash, &mail.inode));
	cr_expect_eq(mail.order->left, 1);
	copies_end();
}

Test(moves, what_is_called_back_stays)
{
	struct mail mail;

	mail_moves(&mail);
	cr_assert(yard_until(&yard, share_heard, told("left", mail.id)));
	sharing_move_back(yard.scheduler.queue.sharing, mail_job(&mail),
	    "so");
	cr_expect(yard_until(&yard, share_heard, told("withdraw", mail.id)));
	cr_expect(yard_until(&yard, mail_stays, &mail));
	cr_expect_eq(mail.order->stayed, 1);
	cr_expect_str_eq(mail.order->why, "so");
	copies_end();
}

Test(moves, what_was_called_back_too_late_leaves)
{
	struct mail mail;

	mail_moves(&mail);
	cr_assert(yard_until(&yard, share_heard, told("left", mail.id)));
	str_adds(&share.gone, mail.id);
	sharing_move_back(yard.scheduler.queue.sharing, mail_job(&mail),
	    "so");
	cr_expect(yard_until(&yard, is_in_trash, &mail.inode));
	copies_end();
}

Test(moves, what_nobody_takes_stays)
{
	struct mail mail;

	mail_moves(&mail);
	cr_assert(yard_until(&yard, share_heard, told("left", mail.id)));
	yard_clock(&yard, 301);
	cr_expect(yard_until(&yard, share_heard, told("withdraw", mail.id)));
	cr_expect(yard_until(&yard, mail_stays, &mail));
	copies_end();
}

Test(moves, what_cannot_be_offered_stays)
{
	struct mail mail;

	share.offered = NULL;
	mail_moves(&mail);
	share.offered = "none b is not there";
	cr_expect(yard_until(&yard, mail_stays, &mail));
	cr_expect_str_eq(mail.order->why, "b is not there");
	copies_end();
}

/* Another list makes the offers of before void, and then it is offered anew. */
Test(moves, an_offer_whose_fate_is_unknown_is_found_in_the_list)
{
	static const char *const answers[] = { "stale", "away it is gone" };
	struct mail mail;

	for (size_t i = 0; i < 2; i++) {
		unsigned lists = 2;

		share.lists = 0;
		mail_moves(&mail);
		share.offered = answers[i];
		cr_assert(yard_until(&yard, is_listed, &lists), "%s",
		    answers[i]);
		share.offered = NULL;
		str_reset(&share.heard);
		cr_assert(yard_until(&yard, share_heard, offer));
		str_adds(&share.gone, mail.id);
		cr_expect(yard_until(&yard, is_in_trash, &mail.inode));
		copies_end();
	}
}

/* The offer had its effect, and the answer was lost. */
Test(moves, a_share_that_is_lost_is_asked_for_the_list)
{
	struct mail mail;
	unsigned lists = 2;

	mail_moves(&mail);
	while (share.inbox.bytes.len == 0 || strstr(share.inbox.bytes.buf,
	    "offer") == NULL) {
		if (share.inbox.bytes.len > 0)
			share_turn();	/* but no offer */
		yard_turns(&yard, 1);
		(void)ipc_receive(share.peer, &share.inbox);
	}
	ipc_inbox_consume(&share.inbox, share.inbox.bytes.len);
	close(share.peer);
	share.peer = -1;
	str_addf(&share.taken, "%s b\n", mail.id);
	cr_expect(yard_until(&yard, is_listed, &lists));
	cr_expect(yard_until(&yard, is_in_trash, &mail.inode));
	copies_end();
}

/* The list names it, as it was when this scheduler started. */
Test(moves, what_came_back_is_delivered)
{
	char id[SPOOL_ID_BYTES];
	unsigned one = 1, lists = 1;
	char name[SPOOL_NAME_BYTES], there[256], aside[256];
	ino_t ours;

	copies_begin("wait");
	yard_stop(&yard);
	ours = yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", id);
	spool_hashed_name(yard.spool, ours, name);
	snprintf(there, sizeof(there), "%s/spool/transport/%s", yard.dir,
	    name);
	snprintf(aside, sizeof(aside), "%s/aside", yard.dir);
	cr_assert_eq(rename(there, aside), 0);
	share_open(1);
	str_addf(&share.taken, "%s b\n", id);
	yard_start(&yard);
	cr_assert(yard_until(&yard, is_listed, &lists));
	yard_turns(&yard, 5);
	cr_assert_eq(rename(aside, there), 0);
	cr_expect(yard_until(&yard, is_delivered, &one));
	cr_expect_not(yard_has(&yard, "trash", ours, ".queue-deleted"));
	copies_end();
}

enum { MANY = 20000 };

static bool
is_placed(struct yard *y, void *arg)
{
	const struct job *job = mail_job(arg);

	return job != NULL && job->flight_count == 0 &&
	    y->scheduler.queue.plan.ready_count > 0;
}

/* The last of very many is meant: a thread reads the file, and they are looked
 * at some a step. */
Test(moves, a_large_message_is_chosen_in_pieces, .timeout = 120)
{
	struct str rcpts = STR_INIT;
	struct answer_sum sum;
	struct mail mail;

	for (int i = 0; i < MANY; i++)
		str_addf(&rcpts, "smtp/x.test/defer%d@x.test ", i);
	copies_begin("wait");
	share_open(0);
	mail.inode = yard_message(&yard, "a@src.test", rcpts.buf, mail.id);
	cr_assert(yard_until(&yard, is_placed, &mail));
	answer_whole(&yard, "{\"v\":1,\"op\":\"move\",\"to\":\"b\","
	    "\"rcpt\":\"defer19999@*\",\"dry_run\":true}", &sum);
	cr_expect_gt(sum.steps, MANY / ACT_RCPTS + 1, "%zu", sum.steps);
	cr_expect(yard_says(&sum.text, "\"messages\":1,\"recipients\":"
	    "20000,"), "%s", sum.text.buf);
	str_release(&sum.text);
	str_release(&rcpts);
	copies_end();
}
#endif
