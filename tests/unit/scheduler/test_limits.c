/* test_limits.c - how many sessions and agents at a time, by each setting
 *
 * The agents hold what they are given for ever, so that what is there after
 * a while is the limit.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "scheduler/agents/capacity.h"
#include "tests/unit/scheduler/yard.h"

enum { MESSAGES = 24, TURNS_MORE = 40, FED_MESSAGES = 1000, FED_AGENTS = 5 };

static struct yard yard;
static unsigned fed;		/* messages to who is never without mail */

/* Messages go to hosts in turn; a host "C:NAME" is of channel C. */
static const struct row {
	const char	*conf, *hosts;
	unsigned	 agents;	/* in all */
	unsigned	 at_first;	/* sessions at the first host */
} rows[] = {
	{ "schedule */* { parallel 3; agents 50; feedback no; overfeed 1 }",
	    "x.test", 3, 3 },
	{ "schedule */* { parallel 3; agents 50; feedback no; overfeed 1 }",
	    "x.test y.test", 6, 3 },
	{ "schedule */* { parallel 9; agents 50; overfeed 1 }", "x.test", 5,
	    5 }, /* it begins low, and learns */
	{ "schedule */* { parallel 9; agents 4; feedback no; overfeed 1 }",
	    "x.test y.test z.test", 4, 1 },
	{ "schedule smtp/x* { agents 4; channel-agents 6; feedback no; "
	  "overfeed 1 }\nschedule */* { agents 4; channel-agents 6; "
	  "feedback no; overfeed 1 }",
	    "x.test y.test", 6, 2 },
	{ "schedule */* { channel-agents 3; feedback no; overfeed 1 }",
	    "x.test lmtp:y.test", 6, 3 },
	{ "limit agents 5\nschedule */* { agents 50; feedback no; "
	  "overfeed 1 }",
	    "x.test lmtp:y.test z.test", 5, 1 },
	{ "schedule */* { agents 50; feedback no; overfeed 1 }\n"
	  "zone news { sender @src.test; agents 2 }",
	    "x.test y.test", 2, 1 },
	{ "schedule */* { agents 50; parallel 20; feedback no; overfeed 1 }\n"
	  "zone news { sender @src.test; parallel 2 }",
	    "x.test y.test", 4, 2 },
	{ "schedule */* { agents 50; feedback no; overfeed 1; rate 1/1h }",
	    "x.test y.test", 2, 1 },
	{ "schedule */* { agents 50; feedback no; overfeed 1 }\n"
	  "zone news { sender @src.test; rate 1/1h }",
	    "x.test y.test", 2, 1 },
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static bool
has_agents(struct yard *y, void *arg)
{
	return y->scheduler.agents.count >= *(const unsigned *)arg &&
	    y->scheduler.intake.count == 0 &&
	    y->scheduler.queue.jobs.count == MESSAGES;
}

static void
messages_send(const char *hosts)
{
	struct slice rest = { NULL, 0 }, host, channel;
	char rcpt[128];

	for (int i = 0; i < MESSAGES; i++) {
		if (!slice_word(&rest, &host)) {
			rest = slice_of(hosts);
			slice_word(&rest, &host);
		}
		channel = SLICE("smtp");
		if (slice_find(host, ':') < host.n)
			slice_cut(&host, ':', &channel);
		if (host.p == NULL)
			host = channel;
		snprintf(rcpt, sizeof(rcpt), SLICE_FMT "/" SLICE_FMT
		    "/hang@x.test", SLICE_ARG(channel), SLICE_ARG(host));
		yard_message(&yard, "a@src.test", rcpt, NULL);
	}
}

static unsigned
serving_at(const char *host)
{
	struct thread *thread = NULL;
	unsigned serving = 0;
	size_t bucket = 0;

	while (thread_next(&yard.scheduler.queue.threads, &bucket, &thread))
		if (strcmp(thread->host, host) == 0)
			serving += thread->serving;
	return serving;
}

static struct thread *
only_thread(void)
{
	struct thread *thread = NULL;
	size_t bucket = 0;

	cr_assert(thread_next(&yard.scheduler.queue.threads, &bucket,
	    &thread));
	return thread;
}

/* Mail comes as it goes, however long an agent takes to start or to end. */
static void
mail_comes(struct yard *y)
{
	for (; fed < y->shared->delivered + FED_MESSAGES; fed++)
		yard_message(y, "a@src.test", "smtp/x.test/ok@x.test", NULL);
}

static bool
all_work(struct yard *y, void *arg)
{
	mail_comes(y);
	return y->scheduler.queue.jobs.count > 0 &&
	    only_thread()->serving == FED_AGENTS;
}

static bool
one_works(struct yard *y, void *arg)
{
	mail_comes(y);
	return only_thread()->serving == 1 && only_thread()->ready_count > 0;
}

/* Else a host that has too many sessions keeps them as long as there is mail
 * for it. */
Test(limits, who_is_one_too_many_is_fed_no_more, .timeout = 900)
{
	struct thread *thread;

	yard_open(&yard, "group 50ms\nschedule */* { parallel 5; agents 50; "
	    "overfeed 30 }\n");
	cr_assert(yard_until(&yard, all_work, NULL));
	thread = only_thread();
	thread->pace.reduced_ms = INT64_MAX;	/* its host had too many */
	thread->limit = 1;
	cr_assert(yard_until(&yard, one_works, NULL));
	yard_close(&yard);
}

Test(limits, each_holds_and_is_reached, .timeout = 900)
{
	for (size_t i = 0; i < ROWS; i++) {
		char conf[512];

		snprintf(conf, sizeof(conf), "group 50ms\n%s", rows[i].conf);
		yard_open(&yard, conf);
		messages_send(rows[i].hosts);
		cr_assert(yard_until(&yard, has_agents,
		    (void *)(uintptr_t)&rows[i].agents), "row %zu: %u agents",
		    i, yard.scheduler.agents.count);
		yard_turns(&yard, TURNS_MORE);
		cr_expect_eq(yard.scheduler.agents.count, rows[i].agents,
		    "row %zu: %u agents", i, yard.scheduler.agents.count);
		cr_expect_geq(serving_at("x.test"), rows[i].at_first,
		    "row %zu: %u sessions", i, serving_at("x.test"));
		yard_close(&yard);
	}
}

/* An agent has a socket, a message two files, however many agents have a part
 * of it. */
static const struct {
	bool		is_one;		/* message to all hosts, or one each */
	unsigned	agents;
} budgets[] = { { true, 12 }, { false, 6 } };
enum { BUDGET = 20, BUDGET_HOSTS = 12 };

static void
budget_send(bool is_one)
{
	struct str rcpts = STR_INIT;

	for (int i = 0; i < BUDGET_HOSTS; i++) {
		str_addf(&rcpts, "smtp/h%d.test/hang@x.test ", i);
		if (is_one && i < BUDGET_HOSTS - 1)
			continue;
		yard_message(&yard, "a@src.test", rcpts.buf, NULL);
		str_reset(&rcpts);
	}
	str_release(&rcpts);
}

static bool
budget_is_given(struct yard *y, void *arg)
{
	return y->shared->jobs >= *(const unsigned *)arg &&
	    y->scheduler.intake.count == 0;
}

Test(limits, descriptors_are_counted_as_they_are_opened, .timeout = 900)
{
	for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
		unsigned want = budgets[i].agents, used;

		yard_open(&yard, "schedule */* { parallel 1; agents 50; "
		    "feedback no; overfeed 1 }");
		yard.scheduler.agents.fd_budget = BUDGET;
		budget_send(budgets[i].is_one);
		cr_expect(yard_until(&yard, budget_is_given, &want),
		    "row %zu: %u jobs", i, yard.shared->jobs);
		yard_turns(&yard, TURNS_MORE);
		used = capacity_files(&yard.scheduler.agents);
		cr_expect_eq(yard.scheduler.agents.count, want, "row %zu: %u "
		    "agents", i, yard.scheduler.agents.count);
		cr_expect_leq(used, BUDGET, "row %zu: %u", i, used);
		yard_close(&yard);
	}
}

/* A host that takes fewer sessions counts idle connections, too. */
Test(limits, fewer_sessions_let_idle_connections_go)
{
	struct ring ring = { .agent_count = 6 };
	struct thread thread = { .ring = &ring, .hash = 7, .serving = 1,
	    .limit = 6 };
	struct agent agents[6];
	unsigned surplus = 0;

	memset(agents, 0, sizeof(agents));
	TAILQ_INIT(&ring.idle);
	for (int i = 0; i < 6; i++) {
		agents[i].last_hash = i == 2 ? 8 : 7;	/* another host's */
		TAILQ_INSERT_TAIL(&ring.idle, &agents[i], entry);
	}
	agents_shed(&thread);
	for (int i = 0; i < 6; i++)
		cr_expect_not(agents[i].is_surplus, "agent %d", i);
	thread.limit = 3;
	agents_shed(&thread);
	for (int i = 0; i < 6; i++)
		surplus += agents[i].is_surplus;
	cr_expect_eq(surplus, 3, "%u", surplus);
	cr_expect_not(agents[0].is_surplus, "used last");
	cr_expect_not(agents[2].is_surplus);
	thread.trouble_count = 1;	/* down: one session */
	agents_shed(&thread);
	cr_expect(agents[0].is_surplus);
	cr_expect_not(agents[2].is_surplus);
}
