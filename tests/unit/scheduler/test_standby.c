/* test_standby.c - `warm N`: connections to a named host without mail
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/control/control.h"
#include "tests/unit/scheduler/asker.h"

static struct yard yard;

static void
open_yard(const char *conf)
{
	yard_open(&yard, conf);
	asker_serve(&yard);
}

static void
close_yard(void)
{
	control_free(&yard.scheduler.control);
	yard_close(&yard);
}

/* Connections whose agents are on standby. */
static unsigned
count_warm(struct yard *y)
{
	const struct agent *agent;
	unsigned count = 0;

	TAILQ_FOREACH(agent, &y->scheduler.agents.all, all_entry)
		count += agent->connection != NULL && agent->is_standby;
	return count;
}

static bool
has_warm(struct yard *y, void *arg)
{
	return count_warm(y) == *(unsigned *)arg;
}

static bool
has_agents(struct yard *y, void *arg)
{
	return y->scheduler.agents.count == *(unsigned *)arg;
}

static bool
was_refused(struct yard *y, void *arg)
{
	return y->shared->refused >= *(unsigned *)arg;
}

static bool
was_warmed(struct yard *y, void *arg)
{
	return y->shared->warmed >= *(unsigned *)arg;
}

static void
expect_warm(unsigned count)
{
	cr_assert(yard_until(&yard, has_warm, &count), "%u of %u are warm",
	    count_warm(&yard), count);
}

#define WARM(n) "schedule smtp/x.test { warm " n "; idle 10s; retry 10m }\n"

Test(standby, so_many_are_open_without_mail_and_stay)
{
	unsigned asked, none = 0;

	open_yard(WARM("2"));
	expect_warm(2);
	cr_expect_eq(yard.shared->agents, 2);
	asked = yard.shared->warmed;
	for (int i = 0; i < 5; i++) {
		asked += 2;
		yard_clock(&yard, 6);
		cr_assert(yard_until(&yard, was_warmed, &asked), "asked "
		    "twice within idle: %u", yard.shared->warmed);
	}
	expect_warm(2);
	cr_expect_eq(yard.shared->agents, 2, "nobody was started anew");
	yard_reload(&yard, WARM("1"));
	expect_warm(1);
	yard_reload(&yard, "");
	yard_clock(&yard, 60);
	cr_expect(yard_until(&yard, has_agents, &none));
	close_yard();
}

Test(standby, mail_takes_one_of_them_and_gives_it_back)
{
	unsigned one = 1;

	open_yard(WARM("2"));
	expect_warm(2);
	yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, yard_has_delivered, &one));
	cr_expect_eq(yard.shared->agents, 2);
	yard_clock(&yard, 2);
	expect_warm(2);
	cr_expect_eq(yard.shared->agents, 2);
	close_yard();
}

Test(standby, a_host_that_takes_none_is_asked_more_and_more_seldom)
{
	unsigned refused = 1;

	open_yard(WARM("3"));
	yard.shared->is_down = 1;
	cr_assert(yard_until(&yard, was_refused, &refused));
	for (int i = 0; i < 300; i += 5) {
		yard_clock(&yard, 5);
		yard_turns(&yard, 4);
	}
	cr_expect_leq(yard.shared->refused, 14, "%u in 5 minutes",
	    yard.shared->refused);
	cr_expect_eq(count_warm(&yard), 0);
	yard.shared->is_down = 0;
	yard_clock(&yard, 301);
	expect_warm(3);
	close_yard();
}

/* The agent limit is for mail first. */
Test(standby, no_more_than_agents_may_be_and_mail_of_others_goes_first)
{
	unsigned one = 1;

	open_yard("limit agents 2\n" WARM("5"));
	expect_warm(2);
	yard_message(&yard, "a@src.test", "lmtp/y.test/ok@y.test", NULL);
	cr_assert(yard_until(&yard, yard_has_delivered, &one));
	cr_expect_leq(yard.scheduler.agents.count, 2);
	close_yard();
}

Test(standby, who_is_suspended_or_down_is_left_alone)
{
	struct asker asker;
	unsigned none = 0;

	open_yard(WARM("2"));
	expect_warm(2);
	asker_open(&asker, &yard);
	asker_ask(&asker, "{\"v\":1,\"op\":\"connections\"}");
	cr_expect_str_eq(asker_text(&asker, 0, "does"), "warm");
	cr_expect_str_eq(asker_text(&asker, 1, "host"), "x.test");
	asker_ask(&asker, "{\"v\":1,\"op\":\"suspend\",\"host\":\"x.test\"}");
	asker_close(&asker);
	yard_clock(&yard, 30);
	cr_expect(yard_until(&yard, has_agents, &none));
	close_yard();
}
