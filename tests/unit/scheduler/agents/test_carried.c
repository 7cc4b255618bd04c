/* test_carried.c - agents that share a process, and what one does to others
 *
 * SPDX-License-Identifier: ISC
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scheduler/agents/agents.h"
#include "tests/unit/scheduler/yard_agent.h"

static struct yard yard;

enum { CARRIED = 2, CARRIED_FD = 200 };

static int sockets[CARRIED];
static unsigned started;

static void *
carried_main(void *context)
{
	yard_agent_main(*(int *)context, yard.shared);
}

static void
carrier_main(void)
{
	pthread_t threads[CARRIED];

	for (int i = 0; i < CARRIED; i++)
		sockets[i] = dup2(sockets[i], CARRIED_FD + i);
	closefrom(CARRIED_FD + CARRIED);
	for (int fd = 3; fd < CARRIED_FD; fd++)
		close(fd);
	for (int i = 0; i < CARRIED; i++)
		pthread_create(&threads[i], NULL, carried_main, &sockets[i]);
	for (;;)
		pause();
}

/* The first two agents are one process, which comes with the second; those
 * after them are each a process (an agents_start_fn). */
static int
carrier_start(unsigned clause, const char *channel, int socket, unsigned token,
    struct err *err)
{
	pid_t pid;

	if (started >= CARRIED)
		return yard_agent_start(clause, channel, socket, token, err);
	sockets[started++] = dup(socket);
	if (started < CARRIED)
		return 0;
	pid = fork();
	if (pid == 0)
		carrier_main();
	for (unsigned i = 0; i < CARRIED; i++) {
		close(sockets[i]);
		yard.agents[yard.agent_count].token = i + 1;
		yard.agents[yard.agent_count++].pid = pid;
	}
	return 0;
}

static bool
has_jobs(struct yard *y, void *arg)
{
	return y->shared->jobs >= *(unsigned *)arg;
}

/* So many jobs were begun since the yard was opened. */
static void
expect_jobs(unsigned count)
{
	cr_assert(yard_until(&yard, has_jobs, &count), "%u of %u jobs",
	    yard.shared->jobs, count);
}

/* The first agent has a job, and no other has one or is about to come: a
 * message delivered is not yet an agent that may be given the next. */
static bool
is_first_alone_busy(struct yard *y, void *arg)
{
	const struct agent *agent;

	(void)arg;
	TAILQ_FOREACH(agent, &y->scheduler.agents.all, all_entry)
		if (agent->hungry_ms == 0 ||
		    (agent->thread != NULL) != (agent->token == 1))
			return false;
	return true;
}

/* One agent hangs in the first message, and the other has delivered one and
 * waits; the process they are in is known. */
static ino_t
open_and_hang(void)
{
	ino_t inode;

	started = 0;
	yard_agents_start = carrier_start;
	yard_open(&yard, yard_quick);
	inode = yard_message(&yard, "a@src.test", "smtp/x.test/hang@x.test",
	    NULL);
	yard_message(&yard, "a@src.test", "smtp/y.test/ok@y.test", NULL);
	expect_jobs(2);
	for (unsigned i = 0; i < CARRIED; i++)
		agents_begin(&yard.scheduler.agents, i + 1,
		    yard.agents[i].pid);
	cr_assert(yard_until(&yard, is_first_alone_busy, NULL));
	return inode;
}

static void
close_yard(void)
{
	yard_close(&yard);
	yard_agents_start = NULL;
}

/* Tries of the only recipient, and whether its last words have these. */
static void
expect_tries(ino_t inode, unsigned tries, const char *words)
{
	const struct control_rcpt *rcpt;
	struct control_file control;

	cr_assert(yard_control(&yard, inode, &control));
	rcpt = &control.groups[0].rcpts[0];
	cr_expect_eq(rcpt->tries, tries, SLICE_FMT ": %u tries",
	    SLICE_ARG(rcpt->user), rcpt->tries);
	if (tries > 0)
		cr_expect_not_null(strstr(rcpt->last->verdict.text, words),
		    "%s", rcpt->last->verdict.text);
}

Test(carried, nonsense_of_one_is_no_try_of_the_others)
{
	static const char *const users[] = { "nonsense", "foreign", "flood" };

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		char rcpt[64];
		ino_t hung, bad;

		hung = open_and_hang();
		snprintf(rcpt, sizeof(rcpt), "smtp/y.test/%s@y.test",
		    users[i]);
		bad = yard_message(&yard, "a@src.test", rcpt, NULL);
		/* the third, and the first once more */
		expect_jobs(4);
		expect_tries(hung, 0, "");
		expect_tries(bad, 1, "broke its protocol");
		cr_expect_eq(yard.shared->agents, 3);
		close_yard();
	}
}

Test(carried, a_process_that_dies_is_a_try_of_all_that_were_begun)
{
	ino_t hung, dead;

	hung = open_and_hang();
	dead = yard_message(&yard, "a@src.test", "smtp/y.test/die@y.test",
	    NULL);
	expect_jobs(3);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	expect_tries(hung, 1, "died");
	expect_tries(dead, 1, "died");
	yard_clock(&yard, 700);
	expect_jobs(5);
	close_yard();
}

/* Both are silent for too long; for the first that is found the process is
 * killed, and the other one is given its job again at once. */
Test(carried, silence_of_one_is_no_try_of_the_others)
{
	struct control_file control;
	unsigned tries = 0;
	ino_t inodes[2];

	inodes[0] = open_and_hang();
	inodes[1] = yard_message(&yard, "a@src.test",
	    "smtp/y.test/hang@y.test", NULL);
	expect_jobs(3);
	yard_clock(&yard, AGENT_PATIENCE_MS / 1000 + 2);
	expect_jobs(4);
	for (size_t i = 0; i < 2; i++) {
		cr_assert(yard_control(&yard, inodes[i], &control));
		tries += control.groups[0].rcpts[0].tries;
	}
	cr_expect_eq(tries, 1);
	close_yard();
}
