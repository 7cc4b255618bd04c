/* test_carriers.c - which process gets an agent, and what its words count
 *
 * The test is the carriers: it holds the other end of each one's socket.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/carriers.h"
#include "io/ipc.h"

TestSuite(carriers, .timeout = 60);

enum { PROCESSES = 2, FIRST_PID = 1000 };

static struct loop *loop;
static int ends[8];			/* of carrier FIRST_PID + index */
static int given[2];
static struct { unsigned token; pid_t pid; } ended[16];
static unsigned ended_count;

static void
on_ended(unsigned token, pid_t pid)
{
	ended[ended_count].token = token;
	ended[ended_count++].pid = pid;
}

static void
carriers_begin(void)
{
	loop = loop_new();
	ended_count = 0;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, given), 0);
	carriers_open(loop, on_ended);
}

static void
carrier_fork(unsigned index, const char *channel, unsigned token)
{
	struct err err;
	int pair[2];

	cr_assert_eq(ipc_pair(pair, &err), 0);
	ends[index] = pair[1];
	carriers_add(channel, FIRST_PID + (pid_t)index, pair[0], token,
	    given[0]);
}

/* What the carrier was told since the last time, and how many sockets. */
static void
expect_told(unsigned index, const char *text, size_t fds)
{
	struct ipc_inbox inbox;

	ipc_inbox_init(&inbox);
	(void)fcntl(ends[index], F_SETFL, O_NONBLOCK);
	while (ipc_receive(ends[index], &inbox) > 0)
		;
	cr_expect_str_eq(inbox.bytes.buf, text);
	cr_expect_eq(inbox.fd_count, fds);
	ipc_inbox_release(&inbox);
}

static void
carrier_say(unsigned index, const char *text)
{
	cr_assert_eq(write(ends[index], text, strlen(text)),
	    (ssize_t)strlen(text));
	loop_turn(loop, 0);
}

/* Nothing more comes from the launcher's side: it has let go. */
static bool
is_let_go(unsigned index)
{
	char bytes[512];
	ssize_t n;

	do
		n = recv(ends[index], bytes, sizeof(bytes), MSG_DONTWAIT);
	while (n > 0);
	return n == 0;
}

Test(carriers, the_first_have_an_agent_each_and_then_the_least_busy_one)
{
	carriers_begin();
	cr_expect_eq(carriers_give("smtp", PROCESSES, 1, given[0]), 0);
	carrier_fork(0, "smtp", 1);
	cr_expect_eq(carriers_give("smtp", PROCESSES, 2, given[0]), 0,
	    "one process, and there may be two");
	carrier_fork(1, "smtp", 2);
	cr_expect_eq(carriers_give("lmtp", PROCESSES, 3, given[0]), 0,
	    "another channel's are none of its own");
	for (unsigned token = 3; token < 7; token++)
		cr_expect_neq(carriers_give("smtp", PROCESSES, token,
		    given[0]), 0);
	expect_told(0, "agent 1\nagent 3\nagent 5\n", 3);
	expect_told(1, "agent 2\nagent 4\nagent 6\n", 3);
	carrier_say(1, "ended 2\nended 4\n");
	cr_expect_eq(ended_count, 2);
	cr_expect_eq(ended[1].token, 4);
	cr_expect_eq(ended[1].pid, FIRST_PID + 1);
	cr_expect_eq(carriers_give("smtp", PROCESSES, 7, given[0]),
	    FIRST_PID + 1);
	cr_expect_eq(carriers_give("smtp", PROCESSES, 8, given[0]),
	    FIRST_PID + 1);
}

Test(carriers, one_without_agents_is_let_go)
{
	carriers_begin();
	carrier_fork(0, "smtp", 1);
	cr_expect_not(is_let_go(0));
	carrier_say(0, "ended 1\n");
	cr_expect(is_let_go(0));
	cr_expect_eq(carriers_give("smtp", 1, 2, given[0]), 0);
}

Test(carriers, after_a_reload_the_old_ones_get_no_more)
{
	carriers_begin();
	carrier_fork(0, "smtp", 1);
	carriers_retire();
	cr_expect_eq(carriers_give("smtp", 1, 2, given[0]), 0);
	carrier_fork(1, "smtp", 2);
	cr_expect_eq(carriers_give("smtp", 1, 3, given[0]), FIRST_PID + 1);
}

Test(carriers, who_talks_nonsense_gets_no_more)
{
	static const char *const rows[] = {
		"ended\n", "ended x\n", "ended 1 2\n", "ended 99999999999\n",
		"agent 1\n", "\n", "ended 1\nended 1\nended 1\n", "",
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		carriers_begin();
		carrier_fork(0, "smtp", 1);
		carriers_give("smtp", 1, 2, given[0]);
		if (rows[i][0] != '\0')
			carrier_say(0, rows[i]);
		else
			(void)shutdown(ends[0], SHUT_WR);
		loop_turn(loop, 0);
		cr_expect(is_let_go(0), "%s", rows[i]);
		cr_expect_leq(ended_count, 2, "%s", rows[i]);
		cr_expect_eq(carriers_give("smtp", 1, 3, given[0]), 0, "%s",
		    rows[i]);
	}
}

Test(carriers, one_that_cannot_be_told_is_let_go)
{
	struct err err;
	int pair[2];

	carriers_begin();
	cr_assert_eq(ipc_pair(pair, &err), 0);
	ends[0] = pair[1];
	(void)shutdown(pair[0], SHUT_WR);
	carriers_add("smtp", FIRST_PID, pair[0], 1, given[0]);
	cr_expect(is_let_go(0));
	cr_expect_eq(fcntl(pair[0], F_GETFD), -1);
	cr_expect_eq(carriers_give("smtp", 1, 2, given[0]), 0);
}

Test(carriers, one_that_is_gone_is_forgotten)
{
	carriers_begin();
	carrier_fork(0, "smtp", 1);
	carriers_forget(4711);
	cr_expect_eq(carriers_give("smtp", 1, 2, given[0]), FIRST_PID);
	carriers_forget(FIRST_PID);
	cr_expect_eq(carriers_give("smtp", 1, 3, given[0]), 0);
}
