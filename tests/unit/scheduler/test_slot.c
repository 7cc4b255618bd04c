/* test_slot.c - nobody waits for a message to many longer than one slot
 *
 * A whole scheduler whose agents are tables here: each job holds its agent
 * for a minute of the moved clock, a message to one recipient for none.  A
 * slot time is that minute.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/ipc.h"
#include "scheduler/agents/agents.h"
#include "tests/unit/scheduler/yard_agent.h"

enum {
	HANDS_MAX = 64, HANDS_JOBS_MAX = 32, BIG_RCPTS = 20000,
	SLOT_S = 60, STEP_S = 5, SMALL_MAX = 400,
	MANY_BYTES = 200	/* a longer job line has many recipients */
};

struct hand {			/* an agent */
	int		 socket;	/* 0: none */
	unsigned	 token;
	struct ipc_inbox inbox;
	struct slice	 jobs[HANDS_JOBS_MAX];	/* [0] is in work */
	int		 fds[HANDS_JOBS_MAX][2];
	unsigned	 count;
	int64_t		 begun_s;
};

static struct {
	struct yard	 yard;
	struct hand	 hands[HANDS_MAX];
	int64_t		 sent_s[SMALL_MAX];
	unsigned	 sent, come;
	int64_t		 longest_s;
	unsigned	 big_done;
} s;

/* ---- agents in the hand --------------------------------------------- */

static int
hand_start(unsigned clause, const char *channel, int socket, unsigned token,
    struct err *err)
{
	struct hand *hand = s.hands;
	struct str hungry = STR_INIT;

	while (hand->socket != 0)
		hand++;
	cr_assert_lt(hand - s.hands, HANDS_MAX);
	*hand = (struct hand){ .socket = dup(socket), .token = token };
	ipc_inbox_init(&hand->inbox);
	str_adds(&hungry, "#hungry\n");
	cr_assert_gt(ipc_send(hand->socket, str_slice(&hungry), NULL, 0), 0);
	str_release(&hungry);
	return 0;
}

static void
hand_end(struct hand *hand)
{
	ipc_inbox_release(&hand->inbox);
	close(hand->socket);
	hand->socket = 0;
	agents_exit(&s.yard.scheduler.agents, hand->token, 1, 0);
}

/* "small-N.test": how long it waited. */
static void
small_came(struct slice line)
{
	size_t at = slice_find(line, '\t');
	struct slice host;
	uint64_t number;

	host = slice_from(line, at + 1);
	while (host.n > 0 && !slice_starts(host, "small-"))
		host = slice_from(host, 1);
	if (host.n == 0)
		return;
	host = slice_from(host, strlen("small-"));
	cr_assert(slice_number(slice_first(host, slice_find(host, '.')), 0,
	    SMALL_MAX - 1, &number));
	s.come++;
	if (*s.yard.clock - s.sent_s[number] > s.longest_s)
		s.longest_s = *s.yard.clock - s.sent_s[number];
}

static void
hand_read(struct hand *hand)
{
	struct slice line;
	size_t cursor = 0;
	int got;

	(void)fcntl(hand->socket, F_SETFL, O_NONBLOCK);
	while ((got = ipc_receive(hand->socket, &hand->inbox)) == IPC_GOT)
		continue;
	(void)fcntl(hand->socket, F_SETFL, 0);
	while (ipc_line(&hand->inbox, &cursor, &line) == IPC_LINE) {
		unsigned i = hand->count;

		if (line.n == 0 || line.p[0] == '#')
			continue;
		cr_assert_lt(i, HANDS_JOBS_MAX);
		if (hand->count++ == 0)
			hand->begun_s = *s.yard.clock;
		hand->jobs[i] = slice_copy(s.yard.arena, line);
		hand->fds[i][0] = ipc_take_fd(&hand->inbox);
		hand->fds[i][1] = ipc_take_fd(&hand->inbox);
	}
	ipc_inbox_consume(&hand->inbox, cursor);
	if (got == 0 && hand->count == 0)
		hand_end(hand);
}

/* The first job is over, and the next one begins.  False: not yet. */
static bool
hand_work(struct hand *hand)
{
	struct str lines = STR_INIT;
	bool is_quick;

	if (hand->socket == 0 || hand->count == 0)
		return false;
	is_quick = hand->jobs[0].n < MANY_BYTES;
	if (!is_quick && *s.yard.clock - hand->begun_s < SLOT_S)
		return false;
	small_came(hand->jobs[0]);
	s.big_done += !is_quick;
	yard_agent_job(s.yard.shared, hand->jobs[0], hand->fds[0][0],
	    hand->fds[0][1], &lines);
	cr_assert_gt(ipc_send(hand->socket, str_slice(&lines), NULL, 0), 0);
	str_release(&lines);
	hand->count--;
	memmove(&hand->jobs[0], &hand->jobs[1], hand->count *
	    sizeof(hand->jobs[0]));
	memmove(&hand->fds[0], &hand->fds[1], hand->count *
	    sizeof(hand->fds[0]));
	hand->begun_s = *s.yard.clock;
	return true;
}

/* All that happens at this moment. */
static void
moment(void)
{
	for (unsigned quiet = 0; quiet < 3; quiet++) {
		yard_turns(&s.yard, 1);
		for (size_t i = 0; i < HANDS_MAX; i++)
			if (s.hands[i].socket != 0)
				hand_read(&s.hands[i]);
		for (size_t i = 0; i < HANDS_MAX; i++)
			if (hand_work(&s.hands[i]))
				quiet = 0;
	}
}

static void
steps(unsigned count)
{
	while (count-- > 0) {
		yard_clock(&s.yard, STEP_S);
		moment();
	}
}

/* ---- messages -------------------------------------------------------- */

static bool
is_read(struct yard *y, void *arg)
{
	return y->scheduler.intake.count == 0 &&
	    y->scheduler.queue.total.jobs >= *(unsigned *)arg;
}

static void
message(const char *rcpts)
{
	unsigned jobs = (unsigned)s.yard.scheduler.queue.total.jobs + 1;

	yard_message(&s.yard, "list@src.test", rcpts, NULL);
	cr_assert(yard_until(&s.yard, is_read, &jobs));
}

static void
big_send(void)
{
	struct str rcpts = STR_INIT;

	for (int i = 0; i < BIG_RCPTS; i++)
		str_addf(&rcpts, "smtp/busy.test/ok%d@busy.test ", i);
	message(rcpts.buf);
	str_release(&rcpts);
	moment();
}

static void
small_send(void)
{
	char rcpts[80];

	cr_assert_lt(s.sent, SMALL_MAX);
	s.sent_s[s.sent] = *s.yard.clock;
	snprintf(rcpts, sizeof(rcpts), "smtp/small-%u.test/ok@x.test",
	    s.sent++);
	message(rcpts);
}

static void
slot_open(const char *conf_text)
{
	memset(&s, 0, sizeof(s));
	yard_agents_start = hand_start;
	yard_open(&s.yard, conf_text);
	big_send();
}

/* most_s: the longest wait of all, in seconds; the large message went on
 * all the time. */
static void
slot_close(int64_t most_s)
{
	steps(2 * SLOT_S / STEP_S);
	cr_expect_eq(s.come, s.sent, "%u of %u came", s.come, s.sent);
	cr_expect_leq(s.longest_s, most_s, "%lld s, a slot is %d",
	    (long long)s.longest_s, SLOT_S);
	cr_expect_gt(s.yard.scheduler.queue.plan.ready_count, 0);
	for (size_t i = 0; i < HANDS_MAX; i++)
		for (struct hand *hand = &s.hands[i]; hand->socket != 0;) {
			ipc_inbox_release(&hand->inbox);
			close(hand->socket);
			hand->socket = 0;
		}
	yard_close(&s.yard);
	yard_agents_start = NULL;
}

/* ---- one slot, never more ------------------------------------------ */

/* At every moment of a slot, so at the worst one, too: all four agents have
 * begun at the same moment. */
Test(slot, a_small_one_waits_for_one_job_at_most, .timeout = 900)
{
	slot_open("group 50ms\n"
	    "schedule smtp/* { agents 4; parallel 4; overfeed 20 }");
	for (int i = 0; i < 10 * SLOT_S / STEP_S; i++) {
		if (i % 7 == 0)
			small_send();
		steps(1);
	}
	cr_expect_geq(s.big_done, 4 * 9, "the large one goes on: %u",
	    s.big_done);
	slot_close(SLOT_S);
}

Test(slot, twenty_at_once_wait_for_one_job_at_most, .timeout = 900)
{
	slot_open("group 50ms\n"
	    "schedule smtp/* { agents 4; parallel 4; overfeed 20 }");
	steps(1);
	for (int i = 0; i < 20; i++)
		small_send();
	slot_close(SLOT_S);
}

/* With one agent those who waited for one job do not wait for the next. */
Test(slot, nobody_waits_for_two_jobs_of_one_agent, .timeout = 900)
{
	slot_open("group 50ms\n"
	    "schedule smtp/* { agents 1; parallel 4; overfeed 20 }");
	for (int i = 0; i < 3 * SLOT_S / STEP_S; i++) {
		small_send();
		steps(1);
	}
	cr_expect_geq(s.big_done, 2, "%u", s.big_done);
	slot_close(SLOT_S);
}

/* Its destination has small ones, too, so it may be fed ahead; the large
 * one's jobs are not among what lies ahead. */
Test(slot, small_ones_of_the_same_host_do_not_pull_more_of_it, .timeout = 900)
{
	slot_open("group 50ms\n"
	    "schedule smtp/* { agents 2; parallel 2; overfeed 20 }");
	for (int i = 0; i < 6 * SLOT_S / STEP_S; i++) {
		message("smtp/busy.test/ok@busy.test");
		message("smtp/busy.test/ok@busy.test");
		if (i % 7 == 0)
			small_send();
		steps(1);
	}
	slot_close(SLOT_S);
}

/* ---- limits that clauses have in common ------------------------------ */

static void
other_clause(const char *conf_text)
{
	slot_open(conf_text);
	for (int i = 0; i < 6 * SLOT_S / STEP_S; i++) {
		if (i % 7 == 0)
			small_send();
		steps(1);
	}
	cr_expect_geq(s.big_done, 9, "%u", s.big_done);
	slot_close(SLOT_S);
}

Test(slot, all_agents_are_taken_by_another_clause, .timeout = 900)
{
	other_clause("group 50ms\nlimit agents 4\n"
	    "schedule smtp/busy.test { agents 9; parallel 9; overfeed 20 }\n"
	    "schedule smtp/* { overfeed 20 }");
}

Test(slot, all_agents_of_the_channel_are_taken, .timeout = 900)
{
	other_clause("group 50ms\n"
	    "schedule smtp/busy.test { channel-agents 4; agents 9; "
	    "parallel 9; overfeed 20 }\n"
	    "schedule smtp/* { channel-agents 4; overfeed 20 }");
}

/* Messages of a minute each that are no bulk, so that their agent is fed
 * ahead; who waits in another ring gets it when what it has in hand is
 * done. */
Test(slot, a_ring_that_others_wait_for_is_not_fed_ahead, .timeout = 900)
{
	enum { AHEAD = 8, MESSAGES = 40, RCPTS = 90 };
	struct str rcpts = STR_INIT;

	memset(&s, 0, sizeof(s));
	yard_agents_start = hand_start;
	yard_open(&s.yard, "group 50ms\nlimit agents 1\n"
	    "schedule smtp/busy.test { overfeed 8 }\n"
	    "schedule smtp/* { overfeed 1 }");
	for (int i = 0; i < RCPTS; i++)
		str_addf(&rcpts, "smtp/busy.test/ok%d@busy.test ", i);
	for (int i = 0; i < MESSAGES; i++)
		message(rcpts.buf);
	str_release(&rcpts);
	moment();
	steps(SLOT_S / STEP_S);
	small_send();
	steps((AHEAD + 1) * SLOT_S / STEP_S);
	cr_expect_geq(s.big_done, AHEAD / 2, "%u", s.big_done);
	slot_close((AHEAD + 1) * SLOT_S);
}
