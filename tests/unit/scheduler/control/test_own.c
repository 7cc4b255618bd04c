/* test_own.c - who may see only his own mail asks for its parts
 *
 * The control file says whose it is: a small one is read at once, a large one
 * beside the loop, and another's message is none.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "tests/unit/scheduler/asker.h"

enum { FEW = 3, MANY = 20000 };

static struct yard yard;
static struct str out;

static ino_t
mail_of(const char *user, int rcpts)
{
	struct str to = STR_INIT;
	ino_t inode;

	for (int i = 0; i < rcpts; i++)
		str_addf(&to, "smtp/h%d.test/ok%d@h%d.test ", i % FEW, i,
		    i % FEW);
	yard_user = user;
	inode = yard_message(&yard, "a@src.test", to.buf, NULL);
	yard_user = NULL;
	str_release(&to);
	return inode;
}

static bool
is_quiet(struct yard *y, void *arg)
{
	return y->scheduler.queue.jobs.count == *(size_t *)arg &&
	    yard_is_quiet(y, NULL);
}

/* The files are closed again, as those of most messages that wait. */
static void
mail_rests(void)
{
	size_t cursor = 0;
	struct job *job;

	while ((job = job_table_next(&yard.scheduler.queue.jobs, &cursor)) !=
	    NULL)
		job_close(job);
}

/* The user's question about the parts of a message. */
static struct act *
act_of(ino_t inode, const char *user)
{
	static struct rights_peer peer;
	struct arena *arena = arena_new();
	struct request request;
	const char *code;
	struct err err;
	char line[100];

	peer = (struct rights_peer){ .uid = 4000, .right = RIGHT_OWN };
	snprintf(peer.name, sizeof(peer.name), "%s", user);
	snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"job\",\"file\":%ju}",
	    (uintmax_t)inode);
	cr_assert_eq(request_parse(arena, slice_of(line), clock_wall_s(),
	    &request, &code, &err), 0, "%s", err.text);
	return act_new(&yard.scheduler.agents, &peer, arena, &request);
}

/* All of the answer.  returns whether a thread read the message's file. */
static bool
parts_of(ino_t inode, const char *user)
{
	struct act *act = act_of(inode, user);
	enum act_step step = ACT_MORE;
	bool was_read = false;

	str_reset(&out);
	while (step != ACT_DONE) {
		step = act_stepped(&yard, act, &out);
		was_read = was_read || act->visit.opening != NULL;
	}
	act_free(&act);
	return was_read;
}

static void
expect_parts(int rcpts, bool is_large)
{
	size_t count = 1;
	ino_t inode;

	yard_open(&yard, "group 50ms\nschedule */* { queue-only yes; "
	    "retry 10m }");
	str_init(&out);
	inode = mail_of("alice", rcpts);
	cr_assert(yard_until(&yard, is_quiet, &count));
	mail_rests();
	cr_expect_eq(parts_of(inode, "alice"), is_large);
	cr_expect(yard_says(&out, "\"vertices\":"), "%s", out.buf);
	mail_rests();
	cr_expect_eq(parts_of(inode, "bob"), is_large);
	cr_expect(yard_says(&out, "\"no-such\""), "%s", out.buf);
	str_release(&out);
	yard_close(&yard);
}

Test(own, the_parts_of_a_message_are_its_senders, .timeout = 60)
{
	expect_parts(FEW, false);
}

Test(own, a_thread_finds_out_whose_a_large_one_is, .timeout = 120)
{
	expect_parts(MANY, true);
}

/* Whoever asked leaves while the thread reads. */
Test(own, a_client_leaves_while_its_file_is_read, .timeout = 120)
{
	size_t count = 1;
	struct act *act;
	ino_t inode;

	yard_open(&yard, "group 50ms\nschedule */* { queue-only yes; "
	    "retry 10m }");
	str_init(&out);
	inode = mail_of("alice", MANY);
	cr_assert(yard_until(&yard, is_quiet, &count));
	mail_rests();
	act = act_of(inode, "alice");
	cr_expect_eq(act_step(act, &out), ACT_SYNC);
	act_free(&act);
	syncer_settle(yard.scheduler.group.syncer);
	yard_turns(&yard, 3);
	str_release(&out);
	yard_close(&yard);
}
