/* test_shed.c - what goes first; what is said late on purpose
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "house.h"
#include "smtpserver/policy/shed.h"

#include "base/banned.h"

Test(shed, levels)
{
	static const struct {
		unsigned	sessions, limit;
		enum shed_level	want;
	} rows[] = {
		{ 0, 0, SHED_NOTHING }, { 5000000, 0, SHED_NOTHING },
		{ 0, 1, SHED_NOTHING }, { 1, 1, SHED_ALL },
		{ 699, 1000, SHED_NOTHING }, { 700, 1000, SHED_WAITING },
		{ 849, 1000, SHED_WAITING }, { 850, 1000, SHED_SECOND },
		{ 949, 1000, SHED_SECOND }, { 950, 1000, SHED_STRANGERS },
		{ 999, 1000, SHED_STRANGERS }, { 1000, 1000, SHED_ALL },
		{ 2000, 1000, SHED_ALL },
		{ 4294967294u, 4294967295u, SHED_STRANGERS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(shed_level(rows[i].sessions, rows[i].limit),
		    rows[i].want, "%u of %u", rows[i].sessions,
		    rows[i].limit);
}

Test(shed, in_the_declared_order)
{
	/* a stranger's first and second session, somebody known's */
	static const bool rows[][3] = {
		[SHED_NOTHING] = { true, true, true },
		[SHED_WAITING] = { true, true, true },
		[SHED_SECOND] = { true, false, true },
		[SHED_STRANGERS] = { false, false, true },
		[SHED_ALL] = { false, false, false },
	};

	for (int level = 0; level <= SHED_ALL; level++) {
		cr_expect_eq(shed_admits((enum shed_level)level, true, 0),
		    rows[level][0], "first, %d", level);
		cr_expect_eq(shed_admits((enum shed_level)level, true, 1),
		    rows[level][1], "second, %d", level);
		cr_expect_eq(shed_admits((enum shed_level)level, false, 9),
		    rows[level][2], "known, %d", level);
	}
}

/* ---- greet-pause and tarpit ------------------------------------------- */

static void
expect(struct house *house, int client, const char *want, const char *when)
{
	struct str replies = STR_INIT, got = STR_INIT;

	(void)house_hear(house, client, &replies);
	replies_short(str_slice(&replies), &got);
	cr_expect_str_eq(got.buf, want, "%s: got '%s', want '%s'", when,
	    got.buf, want);
	str_release(&replies);
	str_release(&got);
}

static void
say(struct house *house, int client, const char *text)
{
	house_send(house, client, text, strlen(text), strlen(text), NULL);
}

static const char pause_conf[] = "greet-pause 5s\n"
    "accept from 192.0.2.8 for any\n";

Test(greet, strangers_wait)
{
	struct house house;
	int a, b;

	house_open_clocked(&house, pause_conf);
	a = house_connect(&house, "192.0.2.7:4711");
	b = house_connect(&house, "192.0.2.8:4711");
	expect(&house, b, "220", "one who may relay");
	expect(&house, a, "", "a stranger");
	*house.clock += 3;
	expect(&house, a, "", "a stranger, 3 s");
	*house.clock += 3;
	expect(&house, a, "220", "a stranger, 6 s");
	say(&house, a, "EHLO c1.test\r\nQUIT\r\n");
	expect(&house, a, "250 221/2.0.0", "then as ever");
	close(a);
	close(b);
	house_close(&house);
}

Test(greet, who_speaks_first_is_refused)
{
	struct house house;
	int a;

	house_open_clocked(&house, pause_conf);
	a = house_connect(&house, "192.0.2.7:4711");
	expect(&house, a, "", "at once");
	say(&house, a, "EHLO c1.test\r\nMAIL FROM:<>\r\n");
	expect(&house, a, "554/5.5.1", "early");
	close(a);
	loop_turn(house.loop, 0);
	cr_expect_eq(worker_session_count(house.worker), 0);
	/* gone before it was greeted */
	a = house_connect(&house, "192.0.2.7:4711");
	loop_turn(house.loop, 0);
	close(a);
	loop_turn(house.loop, 0);
	loop_turn(house.loop, 0);
	cr_expect_eq(worker_session_count(house.worker), 0);
	house_close(&house);
}

Test(greet, not_under_load)
{
	struct house house;
	int a;

	house_open_clocked(&house, pause_conf);
	worker_press(house.worker, 1);
	a = house_connect(&house, "192.0.2.7:4711");
	expect(&house, a, "220", "under load");
	*house.clock += SHED_SILENCE_MS / 1000 + 1;
	expect(&house, a, "421/4.4.2", "silent for half a minute");
	close(a);
	house_close(&house);
}

Test(greet, load_that_comes_hurries_who_waits)
{
	struct house house;
	int a;

	house_open_clocked(&house, "");
	a = house_connect(&house, "192.0.2.7:4711");
	expect(&house, a, "220", "no load");
	*house.clock += 60;
	expect(&house, a, "", "a minute of silence");
	worker_press(house.worker, 1);
	expect(&house, a, "", "a moment later");
	*house.clock += SHED_SILENCE_MS / 1000 + 1;
	expect(&house, a, "421/4.4.2", "half a minute later");
	close(a);
	house_close(&house);
}

Test(tarpit, refusals_come_late_and_later)
{
	struct house house;
	int a;

	house_open_clocked(&house, "tarpit first 2s\ntarpit max 5s\n");
	a = house_connect(&house, "192.0.2.7:4711");
	expect(&house, a, "220", "greeting");
	say(&house, a, "WHAT\r\nNOOP\r\n");
	expect(&house, a, "", "held");
	*house.clock += 1;
	expect(&house, a, "", "1 s");
	*house.clock += 2;
	expect(&house, a, "500/5.5.2 250/2.0.0", "3 s");
	say(&house, a, "WHAT\r\n");
	*house.clock += 3;
	expect(&house, a, "", "the second takes 4 s");
	*house.clock += 2;
	expect(&house, a, "500/5.5.2", "5 s");
	say(&house, a, "WHAT\r\n");
	*house.clock += 4;
	expect(&house, a, "", "the third 5 s, not 8");
	*house.clock += 2;
	expect(&house, a, "500/5.5.2", "6 s");
	say(&house, a, "EHLO c1.test\r\nMAIL FROM:<a@src.test>\r\n"
	    "RCPT TO:<bob@example.org>\r\nDATA\r\nhi\r\n.\r\nQUIT\r\n");
	expect(&house, a, "250 250/2.1.0 250/2.1.5 354 250/2.0.0 221/2.0.0",
	    "what is no refusal is never late");
	close(a);
	house_close(&house);
}

Test(tarpit, a_rule_has_its_own_delay)
{
	struct house house;
	int a;

	house_open_clocked(&house, "reject sender @slow.test delay 20s\n"
	    "reject sender @quick.test\n");
	a = house_connect(&house, "192.0.2.7:4711");
	say(&house, a, "EHLO c1.test\r\nMAIL FROM:<a@quick.test>\r\n"
	    "RCPT TO:<bob@example.org>\r\nRSET\r\n");
	expect(&house, a, "220 250 250/2.1.0 550/5.7.1 250/2.0.0", "quick");
	say(&house, a, "MAIL FROM:<a@slow.test>\r\n"
	    "RCPT TO:<bob@example.org>\r\n");
	*house.clock += 19;
	expect(&house, a, "", "19 s: with what was said before it");
	*house.clock += 2;
	expect(&house, a, "250/2.1.0 550/5.7.1", "21 s");
	/* a client that goes away meanwhile, a server that stops */
	say(&house, a, "RCPT TO:<bob@example.org>\r\n");
	worker_stop(house.worker);
	expect(&house, a, "550/5.7.1 421/4.3.2", "we stop");
	close(a);
	house_close(&house);
}

Test(tarpit, not_under_load)
{
	struct house house;
	int a;

	house_open_clocked(&house, "tarpit first 2s");
	worker_press(house.worker, 1);
	a = house_connect(&house, "192.0.2.7:4711");
	say(&house, a, "WHAT\r\n");
	expect(&house, a, "220 500/5.5.2", "at once");
	close(a);
	house_close(&house);
}
