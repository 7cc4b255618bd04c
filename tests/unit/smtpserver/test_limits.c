/* test_limits.c - bounds of what a client may send and how long it may take
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_case.h"
#include "mail/envelope.h"

#include "base/banned.h"

static void
add_repeated(struct str *out, const char *text, unsigned times)
{
	while (times-- > 0)
		str_adds(out, text);
}

/* ---- bounds ----------------------------------------------------------- */

Test(limits, thousand_recipients_then_452)
{
	struct str in = STR_INIT, want = STR_INIT, file = STR_INIT;
	struct arena *arena = arena_new();
	struct envelope envelope;
	struct house house;
	struct err err;
	int client;

	house_open(&house, "limit recipients 1000");
	client = house_connect(&house, CLIENT);
	str_adds(&in, HELLO "MAIL FROM:<a@src.test>\r\n");
	str_adds(&want, READY "250/2.1.0");
	for (int i = 0; i < 1002; i++) {
		str_addf(&in, "RCPT TO:<u%d@example.org>\r\n", i);
		str_adds(&want, i < 1000 ? " 250/2.1.5" : " 452/4.5.3");
	}
	str_adds(&in, "DATA\r\nhi\r\n.\r\n");
	str_adds(&want, " 354 250/2.0.0");
	client_say(&house, client, in.buf);
	client_expect(&house, client, true, want.buf);
	house_first(&house, "router", &file);
	cr_expect_eq(envelope_parse(arena, str_slice(&file), &envelope, &err),
	    0, "%s", err.text);
	cr_expect_eq(envelope.rcpt_count, 1000);
	cr_expect(slice_is(envelope.rcpts[999].path.local, "u999"));
	close(client);
	house_close(&house);
	arena_free(&arena);
	str_release(&in);
	str_release(&want);
	str_release(&file);
}

Test(limits, errors_end_the_session)
{
	struct house house;
	int client;

	house_open(&house, "limit errors 3");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, "A\r\nNOOP\r\nB\r\nC\r\nNOOP\r\n");
	client_expect(&house, client, false,
	    "220 500/5.5.2 250/2.0.0 500/5.5.2 500/5.5.2 421/4.7.0");
	cr_expect_eq(send(client, "x", 1, MSG_NOSIGNAL), 1);
	close(client);
	house_close(&house);
}

Test(limits, messages_of_a_session)
{
	struct house house;
	int client;

	house_open(&house, "limit session-messages 2");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO ENVELOPE "DATA\r\n.\r\n" ENVELOPE
	    "DATA\r\n.\r\n" ENVELOPE);
	client_expect(&house, client, false, STARTED " 250/2.0.0 "
	    "250/2.1.0 250/2.1.5 354 250/2.0.0 421/4.7.0");
	cr_expect_eq(house_count(&house, "router"), 2);
	close(client);
	house_close(&house);
}

Test(limits, commands_without_a_message)
{
	struct str in = STR_INIT, out = STR_INIT;
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	add_repeated(&in, "NOOP\r\n", IDLE_COMMANDS_MAX + 5);
	house_send(&house, client, in.buf, in.len, 1000, &out);
	cr_expect_not(house_hear(&house, client, &out));
	cr_expect(slice_ends(str_slice(&out),
	    "too many commands without a message\r\n"));
	close(client);
	house_close(&house);
	str_release(&in);
	str_release(&out);
}

/* What the end of data is answered, by the content. */
static void
refused_content(const char *conf, const char *piece, unsigned times,
    const char *want)
{
	struct str in = STR_INIT, all = STR_INIT;
	struct house house;
	int client;

	house_open(&house, conf);
	client = house_connect(&house, CLIENT);
	str_adds(&in, HELLO ENVELOPE "DATA\r\n");
	add_repeated(&in, piece, times);
	str_adds(&in, "\r\n.\r\nNOOP\r\n");
	str_addf(&all, STARTED " %s 250/2.0.0", want);
	house_send(&house, client, in.buf, in.len, 4096, NULL);
	client_expect(&house, client, true, all.buf);
	cr_expect_eq(house_count(&house, "router"),
	    want[0] == '2' ? 1u : 0u);
	cr_expect_eq(house_count(&house, "public"), 0);
	close(client);
	house_close(&house);
	str_release(&in);
	str_release(&all);
}

Test(limits, content)
{
	/* 40,000 bytes and the last line end */
	refused_content("size 40961B", "\r\n0123456789\r\nabcde", 40960 / 19,
	    "250/2.0.0");
	refused_content("size 30000B", "0123456789\r\n", 4000, "552/5.3.4");
	refused_content("limit header 8K", "A: 0123456789\r\n", 1000,
	    "552/5.3.4");
	refused_content("limit header 8K", "A: b\r\n c\r\n", 1100,
	    "552/5.3.4");
	refused_content("limit header 8K", "no header\r\n", 1000,
	    "250/2.0.0");
	refused_content("limit header 8K", "\r\nA: 0123456789\r\n", 1000,
	    "250/2.0.0");
	refused_content("limit received 10", "Received: x\r\n", 11,
	    "554/5.4.6");
	refused_content("limit received 10", "rEcEiVeD : x\r\n", 11,
	    "554/5.4.6");
	refused_content("limit received 10", "Received: x\r\n", 10,
	    "250/2.0.0");
	refused_content("limit received 10", "Received-SPF: x\r\n", 20,
	    "250/2.0.0");
	refused_content("limit received 10", "\r\nReceived: x\r\n", 20,
	    "250/2.0.0");
	refused_content("limit line 1000B", "0123456789", 100, "250/2.0.0");
	refused_content("limit line 1000B", "0123456789", 101, "550/5.6.0");
	refused_content("", "0 23456789", 99999, "250/2.0.0");
	refused_content("", "0123456789", 99999, "552/5.3.4");
}

/* A client that sends and never reads: what we say is bounded. */
Test(limits, output_is_bounded)
{
	struct str in = STR_INIT, out = STR_INIT;
	struct house house;
	int client, small = 4096;
	size_t sent = 0, helps = 0, replies;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	(void)setsockopt(client, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	add_repeated(&in, "HELP\r\n", 950);
	for (int i = 0; i < 200 && sent < in.len; i++) {
		ssize_t n = send(client, in.buf + sent, in.len - sent,
		    MSG_NOSIGNAL);

		if (n > 0)
			sent += (size_t)n;
		loop_turn(house.loop, 0);
	}
	/* now it reads: every answer is there, in order */
	while (sent < in.len) {
		ssize_t n = send(client, in.buf + sent, in.len - sent,
		    MSG_NOSIGNAL);

		sent += n > 0 ? (size_t)n : 0;
		cr_assert(house_hear(&house, client, &out));
	}
	cr_assert(house_hear(&house, client, &out));
	for (replies = 0; replies + 10 < out.len; replies++)
		helps += memcmp(out.buf + replies, "214 2.0.0 ", 10) == 0;
	cr_expect_eq(helps, 950, "%zu", helps);
	close(client);
	house_close(&house);
	str_release(&in);
	str_release(&out);
}

/* The peer says no more, but hears all answers. */
Test(limits, half_closed_client_gets_its_answers)
{
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	send(client, HELLO ENVELOPE "DATA\r\nhi\r\n.\r\nNOOP\r\nNO",
	    sizeof(HELLO ENVELOPE "DATA\r\nhi\r\n.\r\nNOOP\r\nNO") - 1, 0);
	shutdown(client, SHUT_WR);
	client_expect(&house, client, false, STARTED " 250/2.0.0 250/2.0.0");
	cr_expect_eq(house_count(&house, "router"), 1);
	cr_expect_eq(worker_session_count(house.worker), 0);
	close(client);
	house_close(&house);
}

Test(limits, disconnect_before_the_dot_leaves_nothing)
{
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO ENVELOPE "DATA\r\nhi\r\n.\r");
	cr_expect_eq(house_count(&house, "public"), 1);
	close(client);
	loop_turn(house.loop, 0);
	cr_expect_eq(house_count(&house, "public"), 0);
	cr_expect_eq(house_count(&house, "router"), 0);
	cr_expect_eq(worker_session_count(house.worker), 0);
	house_close(&house);
}

/* ---- time ------------------------------------------------------------- */

Test(limits, command_timeout_counts_from_the_last_command)
{
	struct house house;
	int client;

	house_open_clocked(&house, "timeout command 60s");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO);
	client_expect(&house, client, true, "220 250");
	*house.clock += 59;
	/* a byte now and then helps nobody */
	client_say(&house, client, "NO");
	client_expect(&house, client, true, "");
	*house.clock += 2;
	client_expect(&house, client, false, "421/4.4.2");
	close(client);
	house_close(&house);
}

Test(limits, data_timeout_leaves_nothing)
{
	struct house house;
	int client;

	house_open_clocked(&house, "timeout data 60s\ntimeout command 5m");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n");
	client_expect(&house, client, true, STARTED);
	for (int i = 0; i < 3; i++) {	/* content counts as life */
		*house.clock += 50;
		client_say(&house, client, "x\r\n");
	}
	client_expect(&house, client, true, "");
	cr_expect_eq(house_count(&house, "public"), 1);
	*house.clock += 61;
	client_expect(&house, client, false, "421/4.4.2");
	cr_expect_eq(house_count(&house, "public"), 0);
	cr_expect_eq(house_count(&house, "router"), 0);
	close(client);
	house_close(&house);
}

Test(limits, session_timeout_is_for_the_busy_ones)
{
	struct house house;
	int client;

	house_open_clocked(&house, "timeout session 200s");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO ENVELOPE "DATA\r\n");
	client_expect(&house, client, true, STARTED);
	for (int i = 0; i < 3; i++) {
		*house.clock += 60;
		client_say(&house, client, "x\r\n");
		loop_turn(house.loop, 0);
	}
	client_expect(&house, client, true, "");
	*house.clock += 30;
	client_say(&house, client, "x\r\n");
	client_expect(&house, client, false, "421/4.4.2");
	close(client);
	house_close(&house);
}

/* A client that does not close after the last reply is closed. */
Test(limits, linger_is_bounded)
{
	struct house house;
	int client;

	house_open_clocked(&house, "");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, "GET / HTTP/1.1\r\n");
	client_expect(&house, client, false, "220 421/4.7.0");
	cr_expect_eq(worker_session_count(house.worker), 1);
	*house.clock += 3;
	loop_turn(house.loop, 0);
	cr_expect_eq(worker_session_count(house.worker), 0);
	close(client);
	house_close(&house);
}
