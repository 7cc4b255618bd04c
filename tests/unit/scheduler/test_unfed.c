/* test_unfed.c - work that could be done and is not, told from mail that waits
 * for good reasons
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "tests/unit/scheduler/asker.h"

static struct yard yard;

static bool
has_unfed(void)
{
	return agents_have_unfed(&yard.scheduler.agents, clock_steady_ms());
}

static bool
has_line(struct yard *one, void *arg)
{
	return one->scheduler.queue.plan.ready_count >= *(size_t *)arg;
}

static bool
is_tried(struct yard *one, void *arg)
{
	return one->scheduler.queue.plan.due.count > 0;
}

/* Intake goes on; nobody is fed, as in a scheduler that is broken. */
static void
feed_nobody(bool is_so)
{
	yard.scheduler.is_closed = is_so;
}

Test(unfed, mail_in_line_that_nobody_gives_to_an_agent)
{
	size_t one = 1;

	yard_open(&yard, yard_quick);
	feed_nobody(true);
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, has_line, &one));
	cr_expect(has_unfed());
	feed_nobody(false);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_not(has_unfed());
	yard_close(&yard);
}

Test(unfed, a_vertex_whose_time_has_come)
{
	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test", NULL);
	cr_assert(yard_until(&yard, is_tried, NULL));
	cr_expect_not(has_unfed());
	feed_nobody(true);
	yard_clock(&yard, 3600);
	yard_turns(&yard, 5);
	cr_expect(has_unfed());
	feed_nobody(false);
	yard_close(&yard);
}

/* A session is all that the host may have, and it is taken. */
Test(unfed, mail_that_a_limit_holds_is_none)
{
	size_t one = 1;

	yard_open(&yard, "schedule */* { parallel 1; feedback no; overfeed 1 "
	    "}");
	yard_message(&yard, "a@src.test", "smtp/x.test/hang@x.test", NULL);
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, has_line, &one));
	yard_turns(&yard, 5);
	cr_expect_eq(yard.scheduler.queue.plan.ready_count, 1);
	cr_expect_not(has_unfed());
	yard_close(&yard);
}
