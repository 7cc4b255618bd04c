/* test_starve.c - a message to many does not keep a small one waiting
 *
 * A whole scheduler with two agents, which are real processes.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/agents/agents.h"
#include "tests/unit/scheduler/yard.h"

enum { HOSTS = 1500, AGENTS = 2, BIG_DONE = 100, UNBORN = 8 };

static const char two_agents[] = "group 50ms\n"
    "schedule */* { parallel 2; agents 2; overfeed 20; retry 10m }";

static struct yard yard;

/* The job's vertex is fed, or gone: an agent was found for it. */
static bool
is_served(struct yard *y, void *arg)
{
	const struct job *job = job_table_find(&y->scheduler.queue.jobs,
	    *(ino_t *)arg);

	return job == NULL || job->vertices[0].state == VERTEX_FLIGHT ||
	    job->vertices[0].state == VERTEX_DONE;
}

static bool
is_known_or_served(struct yard *y, void *arg)
{
	return job_table_find(&y->scheduler.queue.jobs, *(ino_t *)arg) != NULL;
}

Test(starve, a_one_recipient_message_gets_the_next_free_slot)
{
	struct str rcpts = STR_INIT;
	unsigned many = BIG_DONE, before;
	ino_t small;

	for (int i = 0; i < HOSTS; i++)
		str_addf(&rcpts, "smtp/h%d.test/ok@h%d.test ", i, i);
	yard_open(&yard, two_agents);
	yard_message(&yard, "list@src.test", rcpts.buf, NULL);
	cr_assert(yard_until(&yard, yard_has_delivered, &many));
	small = yard_message(&yard, "a@src.test", "smtp/idle.test/ok@x.test",
	    NULL);
	cr_assert(yard_until(&yard, is_known_or_served, &small));
	before = (unsigned)yard.scheduler.queue.total.delivered;
	cr_assert(yard_until(&yard, is_served, &small));
	cr_expect_leq(yard.scheduler.queue.total.delivered - before, AGENTS,
	    "one job an agent at most came before it, not %u",
	    (unsigned)yard.scheduler.queue.total.delivered - before);
	cr_expect_lt(before, HOSTS - BIG_DONE, "the big one is still there");
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	cr_expect_eq(yard.shared->delivered, HOSTS + 1);
	yard_close(&yard);
	str_release(&rcpts);
}

/* One agent for everybody.  The ring that has it always has more to do, and
 * is fed ahead; another ring that waits gets it all the same, and soon. */
Test(starve, a_ring_that_always_has_more_gives_its_agent_up)
{
	enum { SMALL = 600 };
	unsigned some = 50, before;
	ino_t other;

	yard_open(&yard, "group 50ms\nlimit agents 1\n"
	    "schedule smtp/* { overfeed 20; retry 10m }\n"
	    "schedule */* { retry 10m }");
	yard_stop(&yard);
	for (int i = 0; i < SMALL; i++)
		yard_message(&yard, "a@src.test", "smtp/x.test/ok@x.test",
		    NULL);
	yard_start(&yard);
	cr_assert(yard_until(&yard, yard_has_delivered, &some));
	other = yard_message(&yard, "b@src.test", "lmtp/y.test/ok@y.test",
	    NULL);
	cr_assert(yard_until(&yard, is_known_or_served, &other));
	before = (unsigned)yard.scheduler.queue.total.delivered;
	cr_assert_lt(before, SMALL / 2, "there is enough before it");
	cr_assert(yard_until(&yard, is_served, &other));
	cr_expect_leq(yard.scheduler.queue.total.delivered - before, 2 * 20,
	    "what the agent had in hand came before it, not %u",
	    (unsigned)yard.scheduler.queue.total.delivered - before);
	cr_assert(yard_until(&yard, yard_is_empty, NULL));
	yard_close(&yard);
}

/* On a busy machine a start alone takes longer than what a turn has for
 * feeding. */
static int
start_late(unsigned clause, const char *channel, int socket, unsigned token,
    struct err *err)
{
	(void)usleep(2 * FEED_TURN_US);
	return yard_agent_start(clause, channel, socket, token, err);
}

/* They end before they say a word, together: a busy machine starts them in
 * several turns. */
static int
start_unborn(unsigned clause, const char *channel, int socket, unsigned token,
    struct err *err)
{
	static int ends[UNBORN];

	if (token <= UNBORN)
		ends[token - 1] = dup(socket);
	for (unsigned i = 0; token == UNBORN && i < UNBORN; i++)
		close(ends[i]);
	return 0;
}

static bool
all_are_lost(struct yard *y, void *arg)
{
	return y->scheduler.agents.token >= UNBORN &&
	    y->scheduler.agents.count == 0;
}

/* Else the agents of a busy moment would hold up their ring for a minute. */
Test(starve, who_fail_together_count_once)
{
	struct ring *ring;
	char rcpt[40];

	yard_agents_start = start_unborn;
	yard_open(&yard, "schedule */* { retry 10m }");
	for (int i = 0; i < UNBORN; i++) {
		snprintf(rcpt, sizeof(rcpt), "smtp/h%d.test/ok@x.test", i);
		yard_message(&yard, "a@src.test", rcpt, NULL);
	}
	cr_assert(yard_until(&yard, all_are_lost, NULL));
	ring = TAILQ_FIRST(&yard.scheduler.queue.threads.rings);
	cr_expect_leq(ring->start_failures, 2, "%u", ring->start_failures);
	yard_close(&yard);
	yard_agents_start = NULL;
}

static bool
has_agent(struct yard *y, void *arg)
{
	return y->scheduler.agents.count > 0;
}

/* An agent without a job is anybody's: the next turn would give it to those
 * who have had one all the time. */
Test(starve, an_agent_that_took_long_to_start_has_its_job)
{
	yard_agents_start = start_late;
	yard_open(&yard, "limit agents 1\nschedule */* { retry 10m }");
	yard_message(&yard, "a@src.test", "smtp/x.test/hang@x.test", NULL);
	cr_assert(yard_until(&yard, has_agent, NULL));
	cr_expect_eq(agents_busy(&yard.scheduler.agents), 1);
	yard_close(&yard);
	yard_agents_start = NULL;
}
