/* test_etrn.c - what waits for a node is started in pieces
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "scheduler/control/control.h"
#include "tests/unit/scheduler/asker.h"

enum { RCPTS = 30000, HOSTS = 40000 };

static struct yard yard;
static struct str out;

static void
open_all(const char *rcpts)
{
	/* nobody is tried who is not asked for */
	yard_open(&yard, "group 50ms\nschedule */* { queue-only yes; "
	    "retry 10m }");
	str_init(&out);
	(void)yard_message(&yard, "a@src.test", rcpts, NULL);
	while (yard.scheduler.queue.jobs.count == 0)
		yard_turns(&yard, 1);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
}

static void
close_all(void)
{
	str_release(&out);
	yard_close(&yard);
}

/* The second half of them is of a.test, all go to one relay. */
static void
mail_of_two_domains(struct str *rcpts)
{
	for (int i = 0; i < RCPTS; i++)
		str_addf(rcpts, "smtp/relay.test/ok%d@%c.test ", i,
		    i < RCPTS / 2 ? 'b' : 'a');
}

/* A thread reads the file; its recipients are looked at some a step. */
Test(etrn, the_domains_of_a_large_message_are_found_in_pieces, .timeout = 120)
{
	struct str rcpts = STR_INIT;
	struct answer_sum sum;
	unsigned half = RCPTS / 2;

	mail_of_two_domains(&rcpts);
	open_all(rcpts.buf);
	answer_whole(&yard, "{\"v\":1,\"op\":\"etrn\",\"host\":\"a.test\"}",
	    &sum);
	cr_expect_gt(sum.steps, RCPTS / ACT_RCPTS + 1, "%zu", sum.steps);
	cr_expect(yard_says(&sum.text, "\"messages\":150,\"suspended\":0,"
	    "\"known\":true"), "%s", sum.text.buf);
	cr_assert(yard_until(&yard, yard_has_delivered, &half));
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_expect_eq(yard.shared->delivered, half);
	str_release(&sum.text);
	str_release(&rcpts);
	close_all();
}

/* It is read again for another order, which has it open, too. */
Test(etrn, what_is_read_again_meanwhile_is_passed_over, .timeout = 120)
{
	enum act_step step = ACT_MORE;
	struct str rcpts = STR_INIT;
	struct act *act, *other;

	mail_of_two_domains(&rcpts);
	open_all(rcpts.buf);
	act = act_begun(&yard, "{\"v\":1,\"op\":\"etrn\",\"host\":"
	    "\"a.test\"}");
	while (!act->page.is_open)
		cr_assert_eq(act_stepped(&yard, act, &out), ACT_MORE);
	other = act_begun(&yard, "{\"v\":1,\"op\":\"hold\",\"rcpt\":"
	    "\"ok29999@*\"}");
	while (act_stepped(&yard, other, &out) != ACT_DONE)
		yard_turns(&yard, 1);
	act_free(&other);
	str_reset(&out);
	while (step != ACT_DONE) {
		step = act_stepped(&yard, act, &out);
		yard_turns(&yard, 1);
	}
	act_free(&act);
	cr_expect(yard_says(&out, "\"known\":true"), "%s", out.buf);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_expect_eq(yard.shared->delivered, RCPTS / 2 - 1, "%u",
	    yard.shared->delivered);
	str_release(&rcpts);
	close_all();
}

static size_t
ready_now(void)
{
	return yard.scheduler.queue.plan.ready_count;
}

/* What waits for a destination, however much it is. */
Test(etrn, what_waits_is_due_in_pieces, .timeout = 120)
{
	static const char line[] = "{\"v\":1,\"op\":\"etrn\",\"host\":"
	    "\"#smtp/*\"}";
	enum act_step step = ACT_MORE;
	struct str rcpts = STR_INIT;
	size_t most = 0, before;
	struct act *act;

	for (int i = 0; i < HOSTS; i++)
		str_addf(&rcpts, "smtp/h%d.test/ok@h%d.test ", i, i);
	open_all(rcpts.buf);
	cr_expect_eq(ready_now(), 0);
	act = act_begun(&yard, line);
	while (step != ACT_DONE) {
		before = ready_now();
		step = act_stepped(&yard, act, &out);
		most = ready_now() - before > most ? ready_now() - before :
		    most;
	}
	act_free(&act);
	cr_expect_leq(most, ACT_SLOTS, "%zu at once", most);
	cr_expect_eq(ready_now(), HOSTS, "%zu", ready_now());
	cr_expect(yard_says(&out, "\"destinations\":40000,\"messages\":40000"),
	    "%s", out.buf);
	str_release(&rcpts);
	close_all();
}
