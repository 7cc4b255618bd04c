/* test_recipient.c - RCPT asks, commands after it wait, answers count
 *
 * The test is the listener: it takes the worker's lines and answers them.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "house.h"
#include "smtpserver/session/recipient/recipient.h"

#include "base/banned.h"

/* "host ...; verify off" of the house is for tests that do not ask. */
static void
ask_open(struct house *house, const char *verify)
{
	house_open_clocked(house, "domain all.test { users any }");
	house->conf->verify = strcmp(verify, "accept") == 0 ? VERIFY_ACCEPT :
	    VERIFY_REJECT;
}

static void
send_text(struct house *house, int client, const char *text, struct str *out)
{
	house_send(house, client, text, strlen(text), strlen(text), out);
	(void)house_hear(house, client, out);
}

/* The token of the question that the worker has for the listener; want is
 * what follows it. */
static uint64_t
question(struct house *house, const char *want)
{
	struct str lines = STR_INIT;
	struct slice rest, word;
	uint64_t token = 0;

	worker_take_lines(house->worker, &lines);
	rest = str_slice(&lines);
	if (slice_word(&rest, &word) && slice_is(word, "ask") &&
	    slice_word(&rest, &word))
		(void)slice_number(word, 1, UINT64_MAX, &token);
	cr_expect(slice_is(slice_trim(rest), want), "asked '%s', want '%s'",
	    lines.buf, want);
	str_release(&lines);
	return token;
}

static void
expect(struct str *replies, const char *want)
{
	struct str got = STR_INIT;

	replies_short(str_slice(replies), &got);
	cr_expect_str_eq(got.buf, want, "got %s, want %s", got.buf, want);
	str_release(&got);
	str_reset(replies);
}

#define BEGIN "EHLO c1.test\r\nMAIL FROM:<a@src.test>\r\n"

Test(recipient, asked_and_answered)
{
	struct str replies = STR_INIT;
	struct house house;
	uint64_t token;
	int client;

	ask_open(&house, "reject");
	client = house_connect(&house, "192.0.2.7:4711");
	send_text(&house, client, BEGIN "RCPT TO:<bob@Example.Org>\r\n"
	    "RCPT TO:<eve@example.org>\r\nRCPT TO:<x@all.test>\r\n"
	    "NOOP\r\n", &replies);
	expect(&replies, "220 250 250/2.1.0");
	token = question(&house, "router rcpt bob@example.org");
	worker_answer(house.worker, token + 1, ASK_ANSWERED,
	    SLICE("served"));		/* nobody's */
	(void)house_hear(&house, client, &replies);
	expect(&replies, "");
	worker_answer(house.worker, token, ASK_ANSWERED, SLICE("served"));
	(void)house_hear(&house, client, &replies);
	expect(&replies, "250/2.1.5");
	token = question(&house, "router rcpt eve@example.org");
	worker_answer(house.worker, token, ASK_ANSWERED,
	    SLICE("refused nouser"));
	worker_answer(house.worker, token, ASK_ANSWERED, SLICE("served"));
	(void)house_hear(&house, client, &replies);
	expect(&replies, "550/5.1.1 250/2.1.5 250/2.0.0");
	/* both are known now; a refusal only for 2 s, which may have gone by
	 * on a busy machine */
	*house.clock -= 10;
	send_text(&house, client, "RCPT TO:<bob@example.org>\r\n"
	    "RCPT TO:<eve@example.org>\r\nDATA\r\n", &replies);
	expect(&replies, "250/2.1.5 550/5.1.1 354");
	send_text(&house, client, "hi\r\n.\r\n", &replies);
	expect(&replies, "250/2.0.0");
	/* and after a while asked again */
	*house.clock += 41;
	send_text(&house, client, "MAIL FROM:<>\r\n"
	    "RCPT TO:<bob@example.org>\r\n", &replies);
	expect(&replies, "250/2.1.0");
	(void)question(&house, "router rcpt bob@example.org");
	close(client);
	house_close(&house);
	str_release(&replies);
}

static void
check_trouble(const char *verify, const char *want)
{
	struct str replies = STR_INIT;
	struct house house;
	uint64_t token;
	int client;

	ask_open(&house, verify);
	client = house_connect(&house, "192.0.2.7:4711");
	send_text(&house, client, BEGIN "RCPT TO:<bob@example.org>\r\n",
	    &replies);
	expect(&replies, "220 250 250/2.1.0");
	token = question(&house, "router rcpt bob@example.org");
	worker_answer(house.worker, token, ASK_TROUBLE,
	    SLICE("the table burns"));
	(void)house_hear(&house, client, &replies);
	expect(&replies, want);
	/* trouble is not kept; no answer at all is trouble */
	send_text(&house, client, "RCPT TO:<bob@example.org>\r\n", &replies);
	token = question(&house, "router rcpt bob@example.org");
	*house.clock += ASK_FOR_MS / 1000 + 1;
	(void)house_hear(&house, client, &replies);
	expect(&replies, want);
	worker_answer(house.worker, token, ASK_ANSWERED,
	    SLICE("served"));		/* too late */
	send_text(&house, client, "NOOP\r\n", &replies);
	expect(&replies, "250/2.0.0");
	close(client);
	house_close(&house);
	str_release(&replies);
}

Test(recipient, trouble_is_451)
{
	check_trouble("reject", "451/4.3.0");
}

Test(recipient, trouble_is_taken_with_verify_accept)
{
	check_trouble("accept", "250/2.1.5");
}

/* The client goes away, or the server stops, while a question is out. */
Test(recipient, gone_meanwhile)
{
	struct str replies = STR_INIT;
	struct house house;
	uint64_t token;
	int client;

	ask_open(&house, "reject");
	client = house_connect(&house, "192.0.2.7:4711");
	send_text(&house, client, BEGIN "RCPT TO:<bob@example.org>\r\n",
	    &replies);
	token = question(&house, "router rcpt bob@example.org");
	close(client);
	worker_answer(house.worker, token, ASK_ANSWERED,
	    SLICE("refused nouser"));
	for (int i = 0; i < 5; i++)
		loop_turn(house.loop, 0);
	cr_expect_eq(worker_session_count(house.worker), 0);

	*house.clock += RECIPIENT_REFUSED_MS / 1000 + 1;
	str_reset(&replies);
	client = house_connect(&house, "192.0.2.7:4711");
	send_text(&house, client, BEGIN "RCPT TO:<bob@example.org>\r\n",
	    &replies);
	worker_stop(house.worker);
	(void)house_hear(&house, client, &replies);
	expect(&replies, "220 250 250/2.1.0");
	*house.clock += WORKER_STOP_FOR_MS / 1000 + 1;
	(void)house_hear(&house, client, &replies);
	expect(&replies, "421/4.3.2");
	close(client);
	house_close(&house);
	str_release(&replies);
}

Test(recipient, listener_without)
{
	struct str replies = STR_INIT;
	struct house house;
	int client;

	house_open(&house, "listen 127.0.0.1:25 verify off");
	house.conf->verify = VERIFY_REJECT;
	client = house_connect(&house, "192.0.2.7:4711");
	send_text(&house, client, BEGIN "RCPT TO:<bob@example.org>\r\n",
	    &replies);
	expect(&replies, "220 250 250/2.1.0 250/2.1.5");
	close(client);
	house_close(&house);
	str_release(&replies);
}
