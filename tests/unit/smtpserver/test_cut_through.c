/* test_cut_through.c - the client waits for the next hop's word
 *
 * The test is the listener, and the scheduler that answers.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "house.h"

#include "base/banned.h"

#define BEGIN "EHLO c1.test\r\nMAIL FROM:<a@src.test>\r\n"
#define CUT "RCPT TO:<b@Cut.test>\r\n"
#define TEXT "DATA\r\nSubject: x\r\n\r\nx\r\n.\r\n"

static struct house house;
static struct str replies = STR_INIT;
static int client;

static void
cut_open(void)
{
	house_open_clocked(&house, "accept from 192.0.2.7 for any\n"
	    "route early.test from a@b.test via mx\n"
	    "route *.cut.test via mx\n"
	    "route cut.test via mx cut-through\n"
	    "route plain.test via mx\n"
	    "route *t.test via mx cut-through");
	client = house_connect(&house, "192.0.2.7:4711");
	str_reset(&replies);
}

static void
cut_close(void)
{
	if (client >= 0)
		close(client);
	house_close(&house);
	str_release(&replies);
}

static void
cut_say(const char *text)
{
	house_send(&house, client, text, strlen(text), strlen(text),
	    &replies);
	(void)house_hear(&house, client, &replies);
}

/* The line for the listener that holds words; its token, or 0. */
static uint64_t
cut_asked(const char *words)
{
	struct str lines = STR_INIT;
	struct slice rest, line, word;
	uint64_t token = 0;

	worker_take_lines(house.worker, &lines);
	rest = str_slice(&lines);
	while (slice_cut(&rest, '\n', &line)) {
		char text[200];

		snprintf(text, sizeof(text), SLICE_FMT, SLICE_ARG(line));
		if (strstr(text, words) != NULL && slice_word(&line, &word) &&
		    slice_is(word, "ask") && slice_word(&line, &word))
			(void)slice_number(word, 1, UINT64_MAX, &token);
	}
	str_release(&lines);
	return token;
}

static void
cut_answer(uint64_t token, enum ask_state state, const char *text)
{
	worker_answer(house.worker, token, state, slice_of(text));
	(void)house_hear(&house, client, &replies);
}

/* Up to the question what became of it. */
static uint64_t
cut_wait(void)
{
	uint64_t token;

	cut_say(BEGIN CUT TEXT);
	token = cut_asked(" verdict expect ");
	cr_assert_neq(token, 0);
	cr_expect_eq(house_count(&house, "router"), 0, "not before");
	cut_answer(token, ASK_ANSWERED, "yes");
	cr_expect_eq(house_count(&house, "router"), 1);
	token = cut_asked(" verdict wait ");
	cr_assert_neq(token, 0);
	return token;
}

static void
cut_expect(const char *text, const char *why)
{
	cr_expect_not_null(strstr(replies.buf, text), "%s: wanted %s, got %s",
	    why, text, replies.buf);
}

Test(cut_through, each_answer_has_its_reply, .timeout = 60)
{
	static const struct {
		const char	*answer, *want;
		bool		 is_told;
	} rows[] = {
		{ "delivered 2.0.0 250 2.0.0 queued as X",
		    " delivered, the next hop said: 250 2.0.0 queued as X\r\n",
		    false },
		{ "refused 5.7.1 554 5.7.1 no thanks",
		    "554 5.7.1 the next hop refused it: no thanks\r\n", true },
		{ "refused 5.1.1 550 nobody",
		    "550 5.1.1 the next hop refused it: nobody\r\n", true },
		{ "refused 5.4.4 there is no such host",
		    "550 5.4.4 the next hop refused it: there is no such "
		    "host\r\n", true },
		{ "refused 4.7.1 450 4.7.1 odd",
		    "550 5.0.0 the next hop refused it: odd\r\n", true },
		{ "refused 5.1.1\x1b[m 550 5.1.1 a\rb\x01\xff",
		    "550 5.0.0 the next hop refused it: 5.1.1 a?b??\r\n",
		    true },
		{ "refused", "550 5.0.0 the next hop refused it: \r\n", true },
		{ "queued it was deferred", " accepted\r\n", false },
		{ "", " accepted\r\n", false },
		{ "refusedx 5.1.1 550 x", " accepted\r\n", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cut_open();
		cut_answer(cut_wait(), ASK_ANSWERED, rows[i].answer);
		cut_expect(rows[i].want, rows[i].answer);
		cr_expect_eq(cut_asked(" verdict told ") != 0,
		    rows[i].is_told, "%s", rows[i].answer);
		str_reset(&replies);
		cut_say("NOOP\r\n");
		cut_expect("250", "goes on");
		cut_close();
	}
}

Test(cut_through, long_words_are_cut, .timeout = 60)
{
	struct str answer = STR_INIT;

	cut_open();
	str_adds(&answer, "refused 5.1.1 550 ");
	for (int i = 0; i < 5000; i++)
		str_addc(&answer, 'x');
	cut_answer(cut_wait(), ASK_ANSWERED, answer.buf);
	cut_expect("550 5.1.1 the next hop refused it: xxx", "long");
	cr_expect_lt(strlen(strstr(replies.buf, "550 5.1.1")), 512);
	cut_close();
	str_release(&answer);
}

Test(cut_through, trouble_is_queued, .timeout = 60)
{
	cut_open();
	cut_answer(cut_wait(), ASK_TROUBLE, "it died");
	cut_expect(" accepted\r\n", "trouble");
	cut_close();
}

Test(cut_through, no_answer_is_queued, .timeout = 60)
{
	uint64_t token;

	cut_open();
	token = cut_wait();
	*house.clock += 36;
	(void)house_hear(&house, client, &replies);
	cut_expect(" accepted\r\n", "time");
	cut_answer(token, ASK_ANSWERED, "refused 5.1.1 550 x");
	cr_expect_eq(cut_asked(" verdict told "), 0, "too late");
	cut_close();
}

Test(cut_through, a_stop_does_not_wait, .timeout = 60)
{
	cut_open();
	(void)cut_wait();
	worker_stop(house.worker);
	*house.clock += 11;
	(void)house_hear(&house, client, &replies);
	cut_expect(" accepted\r\n", "stop");
	cut_close();
}

Test(cut_through, who_has_left_is_not_told, .timeout = 60)
{
	uint64_t token;

	cut_open();
	token = cut_wait();
	close(client);
	client = -1;
	worker_answer(house.worker, token, ASK_ANSWERED,
	    SLICE("refused 5.1.1 550 x"));
	for (int i = 0; i < 5; i++)
		loop_turn(house.loop, 0);
	cr_expect_neq(cut_asked(" verdict gone "), 0);
	cut_close();
}

Test(cut_through, others_do_not_wait, .timeout = 60)
{
	static const char *const rows[] = {
		BEGIN "RCPT TO:<b@plain.test>\r\n" TEXT,
		BEGIN CUT "RCPT TO:<b@plain.test>\r\n" TEXT,
		BEGIN CUT "RCPT TO:<b@example.org>\r\n" TEXT,
		BEGIN "RCPT TO:<b@sub.cut.test>\r\n" TEXT,
		BEGIN "RCPT TO:<b@early.test>\r\n" TEXT,
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cut_open();
		cut_say(rows[i]);
		cut_expect(" accepted\r\n", rows[i]);
		cr_expect_eq(cut_asked(" verdict "), 0, "%s", rows[i]);
		cut_close();
	}
	/* nobody who answers: as ever */
	cut_open();
	cut_say(BEGIN CUT TEXT);
	cut_answer(cut_asked(" verdict expect "), ASK_TROUBLE, "not there");
	cut_expect(" accepted\r\n", "no scheduler");
	cut_close();
}
