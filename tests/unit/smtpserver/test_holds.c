/* test_holds.c - what a session held is given back before its client knows
 *
 * The test is the listener: it hears the lines at the moment when the worker
 * says them, and looks what the client has heard by then.
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client_case.h"

#include "base/banned.h"

static struct house house;
static int client;
static struct str lines;		/* all that were said */
static const char *awaited;		/* a line that is looked out for */
static unsigned seen;			/* how often; and what the client */
static short heard_then;		/* could read at the last of these */

static void
on_lines(void *context)
{
	struct pollfd end = { client, POLLIN, 0 };
	struct str fresh = STR_INIT;

	worker_take_lines(house.worker, &fresh);
	if (awaited != NULL && strstr(fresh.buf, awaited) != NULL) {
		(void)poll(&end, 1, 0);
		heard_then = end.revents;
		seen++;
	}
	str_add_slice(&lines, str_slice(&fresh));
	str_release(&fresh);
}

static void
open_up(const char *conf_text)
{
	str_init(&lines);
	house_open(&house, conf_text);
	worker_on_lines(house.worker, on_lines, NULL);
	client = house_connect(&house, CLIENT);
}

static void
fini(void)
{
	close(client);
	house_close(&house);
	str_release(&lines);
}

TestSuite(holds, .fini = fini);

/* The helper counts: the place is number 7. */
static void
give_place(void)
{
	uint64_t token = 0;
	const char *at;

	for (at = lines.buf; (at = strstr(at, "ask ")) != NULL; at++)
		if (sscanf(at, "ask %" SCNu64 " rate hold", &token) == 1 &&
		    token != ASK_NOBODY)
			break;
	cr_assert(at != NULL, "nothing was asked: %s", lines.buf);
	worker_answer(house.worker, token, ASK_ANSWERED, SLICE("ok 7"));
	str_reset(&lines);
}

static void
recipient_with_a_place(void)
{
	client_say(&house, client, HELLO ENVELOPE);
	client_expect(&house, client, true, "220 250 250/2.1.0");
	give_place();
	client_expect(&house, client, true, "250/2.1.5");
}

/* Turn until the line was said; then the client hears want. */
static void
given_back_before(const char *line, bool is_open, const char *want)
{
	for (int i = 0; i < 100 && seen == 0; i++)
		loop_turn(house.loop, 0);
	cr_expect_eq(seen, 1, "%s came %u times: %s", line, seen, lines.buf);
	cr_expect_eq(heard_then, 0, "the client had heard of it");
	client_expect(&house, client, is_open, want);
}

static void
say_and_await(const char *text, const char *line)
{
	awaited = line;
	seen = 0;
	cr_assert_eq(write(client, text, strlen(text)),
	    (ssize_t)strlen(text));
}

#define RELEASE "ask 1 rate release 7\n"

Test(holds, of_a_message_before_its_250)
{
	open_up("limit parallel 1 per client\n");
	recipient_with_a_place();
	client_say(&house, client, "DATA\r\n");
	client_expect(&house, client, true, "354");
	say_and_await("Subject: x\r\n\r\nx\r\n.\r\n", RELEASE);
	given_back_before(RELEASE, true, "250/2.0.0");
}

Test(holds, of_a_message_before_rset_is_answered)
{
	open_up("limit parallel 1 per client\n");
	recipient_with_a_place();
	say_and_await("RSET\r\n", RELEASE);
	given_back_before(RELEASE, true, "250/2.0.0");
}

Test(holds, of_a_message_before_quit_is_answered)
{
	open_up("limit parallel 1 per client\n");
	recipient_with_a_place();
	say_and_await("QUIT\r\n", RELEASE);
	given_back_before(RELEASE, false, "221/2.0.0");
}

Test(holds, of_a_session_before_quit_is_answered_and_not_sooner)
{
	open_up("limit parallel 1 per client of sessions\n");
	recipient_with_a_place();
	say_and_await("RSET\r\n", RELEASE);
	client_expect(&house, client, true, "250/2.0.0");
	cr_expect_eq(seen, 0, "the session has not ended: %s", lines.buf);
	say_and_await("QUIT\r\n", RELEASE);
	given_back_before(RELEASE, false, "221/2.0.0");
}

Test(holds, of_a_session_that_is_thrown_out)
{
	open_up("limit parallel 1 per client of sessions\nlimit errors 1\n");
	recipient_with_a_place();
	say_and_await("NONSENSE\r\n", RELEASE);
	given_back_before(RELEASE, false, "500/5.5.2 421/4.7.0");
}

/* The slot of a session is told before its connection is closed. */
Test(holds, a_seat_before_the_end_of_file)
{
	open_up("");
	client_say(&house, client, HELLO);
	client_expect(&house, client, true, "220 250");
	say_and_await("QUIT\r\n", "closed 1\n");
	for (int i = 0; i < 100 && seen == 0; i++)
		loop_turn(house.loop, 0);
	cr_expect_eq(seen, 1);
	cr_expect_eq(heard_then & POLLHUP, 0, "it was closed already");
	client_expect(&house, client, false, "221/2.0.0");
}
