/* test_agents.c - agents that misbehave, and those that have nothing to do
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "scheduler/agents/agents.h"
#include "tests/unit/scheduler/yard.h"

static struct yard yard;

static const struct {
	const char *user, *words;
	bool is_blamed;
} bad_agents[] = {
	{ "nonsense@x.test", "broke its protocol", true },
	{ "flood@x.test", "broke its protocol", true },
	{ "foreign@x.test", "broke its protocol", true },
	{ "die@x.test", "died", true },
	{ "mute@x.test", "did not say", true },
};

Test(agents, a_bad_agent_costs_its_job_a_try_and_nothing_else)
{
	for (size_t i = 0; i < sizeof(bad_agents) / sizeof(bad_agents[0]);
	    i++) {
		char rcpt[64];
		struct control_file control;
		unsigned want = 6;
		ino_t inode;

		yard_open(&yard, yard_quick);
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
		cr_assert(yard_control(&yard, inode, &control));
		cr_assert_not_null(control.groups[0].rcpts[0].last, "%s", rcpt);
		cr_expect_eq(control.groups[0].rcpts[0].tries, 1);
		cr_expect_not_null(strstr(
		    control.groups[0].rcpts[0].last->verdict.text,
		    bad_agents[i].words), "%s: %s", rcpt,
		    control.groups[0].rcpts[0].last->verdict.text);
		cr_expect_eq(yard.shared->delivered, 6, "no duplicate");
		yard_close(&yard);
	}
}

Test(agents, a_silent_agent_is_killed)
{
	struct control_file control;
	ino_t inode;

	yard_open(&yard, yard_quick);
	inode = yard_message(&yard, "a@src.test", "smtp/x.test/hang@x.test",
	    NULL);
	yard_settle(&yard, 60);
	cr_expect_eq(yard.scheduler.queue.plan.flight_count, 1);
	yard_clock(&yard, AGENT_PATIENCE_MS / 1000 + 2);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	cr_assert(yard_control(&yard, inode, &control));
	cr_assert_not_null(control.groups[0].rcpts[0].last);
	cr_expect_not_null(strstr(control.groups[0].rcpts[0].last->verdict.text,
	    "silent"));
	yard_close(&yard);
}

Test(agents, a_record_whose_line_was_never_sent_counts)
{
	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/record@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->jobs, 1, "no second delivery");
	yard_close(&yard);
}

/* A full or broken disk: the verdict's line is all there is. */
Test(agents, an_outcome_without_a_record_is_still_told)
{
	struct str text = STR_INIT;

	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test",
	    "smtp/x.test/unrecorded1@x.test smtp/x.test/ok@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_only_file(&yard, "router", &text);
	cr_expect(yard_says(&text, "unrecorded1@x.test"), "%s", text.buf);
	cr_expect(yard_says(&text, "550 5.1.1 no such user"));
	cr_expect(yard_says(&text, "Status: 5.1.1"));
	str_release(&text);
	yard_close(&yard);
}

Test(agents, a_job_that_no_agent_understands_is_shelved)
{
	unsigned two = 2;
	ino_t inode;

	yard_open(&yard, yard_quick);
	inode = yard_message(&yard, "a@src.test",
	    "smtp/x.test/resync@x.test", NULL);
	for (int i = 0; i < 6; i++) {
		yard_settle(&yard, 60);
		yard_clock(&yard, 2 * 3600);
	}
	cr_assert(yard_until(&yard, yard_postman_has, &two));
	cr_expect(yard_has(&yard, "postman", inode, ".badcontrol"));
	cr_expect(yard_has(&yard, "postman", inode, ".badcontrol.control"));
	cr_expect_eq(yard_count(&yard, "queue"), 0);
	yard_close(&yard);
}

Test(agents, no_agent_at_all_is_no_end)
{
	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "broken/x/ok@x.test", NULL);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	yard_settle(&yard, 100);
	cr_expect_eq(yard.shared->delivered, 1);
	cr_expect_eq(yard.scheduler.queue.plan.ready_count, 1);
	yard_close(&yard);
}

static bool
agents_gone(struct yard *y, void *arg)
{
	return y->scheduler.agents.count == 0;
}

Test(agents, idle_agents_are_told_and_end)
{
	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.scheduler.agents.count, 1);
	yard_clock(&yard, 5);
	yard_settle(&yard, 50);
	cr_expect_eq(yard.shared->idles, 1);
	yard_message(&yard, "a@src.test", "local//ok", NULL);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->agents, 1, "it was used again");
	yard_clock(&yard, 40);
	cr_assert(yard_until(&yard, agents_gone, NULL));
	yard_close(&yard);
}

static bool
has_tried(struct yard *y, void *arg)
{
	return y->shared->jobs >= *(unsigned *)arg;
}

Test(agents, one_may_say_when)
{
	unsigned two = 2;

	yard_open(&yard, yard_quick);
	yard_message(&yard, "a@src.test", "smtp/x.test/soon@x.test", NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	yard_clock(&yard, 50);
	yard_settle(&yard, 20);
	cr_expect_eq(yard.shared->jobs, 1);
	yard_clock(&yard, 12);
	cr_assert(yard_until(&yard, has_tried, &two));
	cr_expect_eq(yard.shared->jobs, 2);
	yard_close(&yard);
}
