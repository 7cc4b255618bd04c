/* test_limits.c - bounds, time, trouble with the disk, and the end
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "faults.h"
#include "house.h"
#include "mail/envelope.h"

#include "base/banned.h"

#define HELLO "EHLO c1.test\r\n"
#define ENVELOPE "MAIL FROM:<a@src.test>\r\nRCPT TO:<bob@example.org>\r\n"
#define READY "220 250 "
#define STARTED "220 250 250/2.1.0 250/2.1.5 354"
#define CLIENT "192.0.2.7:4711"

static void
say(struct house *house, int client, const char *text)
{
	house_send(house, client, text, strlen(text), strlen(text), NULL);
}

/* Everything heard so far, in short, is want; *closed as told. */
static void
expect(struct house *house, int client, bool is_open, const char *want)
{
	struct str out = STR_INIT, got = STR_INIT;

	cr_expect_eq(house_hear(house, client, &out), is_open, "%s: open %d",
	    want, (int)is_open);
	replies_short(str_slice(&out), &got);
	cr_expect_str_eq(got.buf, want, "got  %s\nwant %s\n%s", got.buf, want,
	    out.buf);
	str_release(&out);
	str_release(&got);
}

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
	say(&house, client, in.buf);
	expect(&house, client, true, want.buf);
	house_first(&house, "router", &file);
	cr_expect_eq(envelope_parse(arena, str_slice(&file), &envelope, &err),
	    1, "%s", err.text);
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
	say(&house, client, "A\r\nNOOP\r\nB\r\nC\r\nNOOP\r\n");
	expect(&house, client, false,
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
	say(&house, client, HELLO ENVELOPE "DATA\r\n.\r\n" ENVELOPE
	    "DATA\r\n.\r\n" ENVELOPE);
	expect(&house, client, false, STARTED " 250/2.0.0 250/2.1.0 250/2.1.5 "
	    "354 250/2.0.0 421/4.7.0");
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
	expect(&house, client, true, all.buf);
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
	expect(&house, client, false, STARTED " 250/2.0.0 250/2.0.0");
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
	say(&house, client, HELLO ENVELOPE "DATA\r\nhi\r\n.\r");
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
	say(&house, client, HELLO);
	expect(&house, client, true, "220 250");
	*house.clock += 59;
	say(&house, client, "NO");	/* a byte now and then helps nobody */
	expect(&house, client, true, "");
	*house.clock += 2;
	expect(&house, client, false, "421/4.4.2");
	close(client);
	house_close(&house);
}

Test(limits, data_timeout_leaves_nothing)
{
	struct house house;
	int client;

	house_open_clocked(&house, "timeout data 60s\ntimeout command 5m");
	client = house_connect(&house, CLIENT);
	say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n");
	expect(&house, client, true, STARTED);
	for (int i = 0; i < 3; i++) {	/* content counts as life */
		*house.clock += 50;
		say(&house, client, "x\r\n");
	}
	expect(&house, client, true, "");
	cr_expect_eq(house_count(&house, "public"), 1);
	*house.clock += 61;
	expect(&house, client, false, "421/4.4.2");
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
	say(&house, client, HELLO ENVELOPE "DATA\r\n");
	expect(&house, client, true, STARTED);
	for (int i = 0; i < 3; i++) {
		*house.clock += 60;
		say(&house, client, "x\r\n");
		loop_turn(house.loop, 0);
	}
	expect(&house, client, true, "");
	*house.clock += 30;
	say(&house, client, "x\r\n");
	expect(&house, client, false, "421/4.4.2");
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
	say(&house, client, "GET / HTTP/1.1\r\n");
	expect(&house, client, false, "220 421/4.7.0");
	cr_expect_eq(worker_session_count(house.worker), 1);
	*house.clock += 3;
	loop_turn(house.loop, 0);
	cr_expect_eq(worker_session_count(house.worker), 0);
	close(client);
	house_close(&house);
}

/* ---- the disk --------------------------------------------------------- */

Test(faults, failed_fsync_is_451_and_nothing_is_queued)
{
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	faults.fsync_error = EIO;
	say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n.\r\n");
	expect(&house, client, true, STARTED " 451/4.3.0");
	cr_expect_eq(faults.fsyncs, 1, "a failed fsync is not tried again");
	cr_expect_eq(house_count(&house, "router"), 0);
	cr_expect_eq(house_count(&house, "public"), 0);
	faults.fsync_error = 0;
	say(&house, client, ENVELOPE "DATA\r\nx\r\n.\r\n");
	expect(&house, client, true, "250/2.1.0 250/2.1.5 354 250/2.0.0");
	cr_expect_eq(house_count(&house, "router"), 1);
	close(client);
	house_close(&house);
}

Test(faults, disk_that_fills_up_in_the_middle_is_452)
{
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n");
	expect(&house, client, true, STARTED);
	faults.fsync_error = ENOSPC;
	faults.is_full = true;
	say(&house, client, ".\r\n");
	expect(&house, client, true, "452/4.3.1");
	cr_expect_eq(house_count(&house, "router"), 0);
	cr_expect_eq(house_count(&house, "public"), 0);
	close(client);
	house_close(&house);
}

/* In one group each message has its own fate. */
Test(faults, one_of_a_group_fails)
{
	struct house house;
	int clients[3];
	unsigned good = 0, bad = 0;

	house_open(&house, "");
	for (int i = 0; i < 3; i++) {
		clients[i] = house_connect(&house, CLIENT);
		say(&house, clients[i], HELLO ENVELOPE "DATA\r\nx\r\n");
		expect(&house, clients[i], true, STARTED);
	}
	faults.fsync_error = EIO;
	faults.fsync_after = 2;
	for (int i = 0; i < 3; i++)
		(void)!write(clients[i], ".\r\n", 3);
	loop_turn(house.loop, 0);	/* one turn: one group */
	for (int i = 0; i < 3; i++) {
		char reply[256] = "";

		cr_expect(read(clients[i], reply, sizeof(reply) - 1) > 0);
		good += strncmp(reply, "250 2.0.0 ", 10) == 0;
		bad += strncmp(reply, "451 4.3.0 ", 10) == 0;
		close(clients[i]);
	}
	cr_expect_eq(good, 2);
	cr_expect_eq(bad, 1);
	cr_expect_eq(house_count(&house, "router"), 2);
	cr_expect_eq(house_count(&house, "public"), 0);
	house_close(&house);
}

Test(faults, failed_rename_is_451)
{
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	faults.rename_error = EIO;
	say(&house, client, HELLO ENVELOPE "DATA\r\nx\r\n.\r\n");
	expect(&house, client, true, STARTED " 451/4.3.0");
	cr_expect_eq(house_count(&house, "router"), 0);
	cr_expect_eq(house_count(&house, "public"), 0);
	close(client);
	house_close(&house);
}

Test(faults, full_disk_is_452_and_asked_once_a_second)
{
	struct house house;
	int client;

	house_open_clocked(&house, "");
	client = house_connect(&house, CLIENT);
	faults.is_full = true;
	say(&house, client, HELLO "MAIL FROM:<a@src.test> SIZE=1\r\n"
	    "MAIL FROM:<a@src.test>\r\n");
	expect(&house, client, true, READY "452/4.3.1 452/4.3.1");
	cr_expect_eq(faults.statvfs_calls, 1);
	faults.is_full = false;
	say(&house, client, "MAIL FROM:<a@src.test>\r\n");
	expect(&house, client, true, "452/4.3.1");
	*house.clock += 1;
	say(&house, client, "MAIL FROM:<a@src.test>\r\n");
	expect(&house, client, true, "250/2.1.0");
	cr_expect_eq(faults.statvfs_calls, 2);
	close(client);
	house_close(&house);
}

Test(faults, no_draft_can_be_made)
{
	char from[160], to[160];
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	snprintf(from, sizeof(from), "%s/public", house.dir);
	snprintf(to, sizeof(to), "%s/gone", house.dir);
	cr_assert_eq(rmdir(from), 0);	/* openat in it: ENOENT */
	say(&house, client, HELLO ENVELOPE "DATA\r\nRSET\r\n");
	expect(&house, client, true,
	    "220 250 250/2.1.0 250/2.1.5 451/4.3.0 250/2.0.0");
	close(client);
	house_close(&house);
}

/* ---- freezing, the envelope, reload, stop ----------------------------- */

Test(worker, frozen_message_is_in_freezer_under_its_rule)
{
	struct str path = STR_INIT, file = STR_INIT;
	struct house house;
	int client;

	house_open(&house, "freeze sender *@odd.test");
	client = house_connect(&house, CLIENT);
	say(&house, client, HELLO "MAIL FROM:<x@odd.test>\r\n"
	    "RCPT TO:<bob@example.org>\r\nDATA\r\nx\r\n.\r\n");
	expect(&house, client, true, STARTED " 250/2.0.0");
	cr_expect_eq(house_count(&house, "freezer"), 1);
	cr_expect_eq(house_count(&house, "router"), 0);
	house_first(&house, "freezer", &file);
	cr_expect(slice_starts(str_slice(&file), "complete "));
	close(client);
	house_close(&house);
	str_release(&path);
	str_release(&file);
}

Test(worker, envelope_says_all_that_was_said)
{
	struct arena *arena = arena_new();
	struct envelope envelope;
	struct str file = STR_INIT;
	struct house house;
	struct err err;
	int client;

	house_open(&house, "");
	client = house_connect(&house, "[2001:db8::7]:4711");
	say(&house, client, HELLO "MAIL FROM:<\"a b\"@Src.test> SIZE=10 "
	    "BODY=8BITMIME RET=HDRS ENVID=QQ+2B1\r\n"
	    "RCPT TO:<@x.test:Bob@Example.org> NOTIFY=SUCCESS,DELAY "
	    "ORCPT=rfc822;b+2Bx@y.test\r\nRCPT TO:<postmaster>\r\n"
	    "DATA\r\nA: b\r\n\r\nc\r\n.\r\n");
	expect(&house, client, true,
	    "220 250 250/2.1.0 250/2.1.5 250/2.1.5 354 250/2.0.0");
	house_first(&house, "router", &file);
	cr_assert_eq(envelope_parse(arena, str_slice(&file), &envelope, &err),
	    1, "%s", err.text);
	cr_expect(envelope.is_external);
	cr_expect_not(envelope.is_error);
	cr_expect(slice_is(envelope.from.local, "\"a b\""));
	cr_expect(slice_is(envelope.from.domain, "Src.test"));
	cr_expect(slice_is(envelope.rcvdfrom,
	    "c1.test ([IPv6:2001:db8::7]:4711)"), SLICE_FMT,
	    SLICE_ARG(envelope.rcvdfrom));
	cr_expect(slice_is(envelope.with, "ESMTP"));
	cr_expect(slice_is(envelope.bodytype, "8BITMIME"));
	cr_expect(slice_is(envelope.envid, "QQ+2B1"));
	cr_expect_eq(envelope.ret, DSN_RET_HDRS);
	cr_assert_eq(envelope.rcpt_count, 2);
	cr_expect(slice_is(envelope.rcpts[0].path.local, "Bob"));
	cr_expect(slice_is(envelope.rcpts[0].path.domain, "Example.org"));
	cr_expect_eq(envelope.rcpts[0].notify,
	    (unsigned)(DSN_NOTIFY_SUCCESS | DSN_NOTIFY_DELAY));
	cr_expect(slice_is(envelope.rcpts[0].orcpt, "rfc822;b+2Bx@y.test"));
	cr_expect(slice_is(envelope.rcpts[1].path.local, "postmaster"));
	cr_expect(slice_is(slice_from(str_slice(&file),
	    envelope.header_offset), "A: b\n\nc\n"));
	close(client);
	house_close(&house);
	str_release(&file);
	arena_free(&arena);
}

/* The id of the reply is the one in the file. */
Test(worker, reply_names_the_spool_id)
{
	struct str out = STR_INIT, file = STR_INIT, want = STR_INIT;
	struct house house;
	struct slice id;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	say(&house, client, "HELO c1.test\r\nMAIL FROM:<>\r\n"
	    "RCPT TO:<bob@example.org>\r\nDATA\r\n.\r\n");
	house_hear(&house, client, &out);
	house_first(&house, "router", &file);
	id = slice_from(str_slice(&file), DRAFT_FIRST_LINE_BYTES + 3);
	id = slice_first(id, slice_find(id, '\n'));
	cr_expect(spool_id_is(id));
	str_addf(&want, "\r\n250 2.0.0 " SLICE_FMT " accepted\r\n",
	    SLICE_ARG(id));
	cr_expect(slice_ends(str_slice(&out), want.buf), "%s", out.buf);
	cr_expect(strstr(file.buf, "\nchannel error\n") != NULL);
	cr_expect(strstr(file.buf, "\nwith SMTP\n") != NULL);
	close(client);
	house_close(&house);
	str_release(&out);
	str_release(&file);
	str_release(&want);
}

/* All replies of a turn leave in one packet. */
Test(worker, one_write_a_turn)
{
	static const char in[] = HELLO ENVELOPE "DATA\r\nx\r\n.\r\n" ENVELOPE
	    "DATA\r\ny\r\n.\r\nQUIT\r\n";
	struct client client;
	struct str got = STR_INIT;
	struct house house;
	char reply[4096];
	struct err err;
	ssize_t n;
	int ends[2];

	house_open(&house, "");
	/* packets keep their borders here */
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
	    ends), 0);
	client_parse(slice_of(CLIENT), SLICE("127.0.0.1:25"), &client, &err);
	worker_open(house.worker, ends[1], 1, &client);
	loop_turn(house.loop, 0);
	cr_expect(read(ends[0], reply, sizeof(reply)) > 0);
	cr_assert_eq(write(ends[0], in, sizeof(in) - 1),
	    (ssize_t)sizeof(in) - 1);
	loop_turn(house.loop, 0);
	n = read(ends[0], reply, sizeof(reply));
	cr_assert(n > 0);
	replies_short((struct slice){ reply, (size_t)n }, &got);
	cr_expect_str_eq(got.buf, "250 250/2.1.0 250/2.1.5 354 250/2.0.0 "
	    "250/2.1.0 250/2.1.5 354 250/2.0.0 221/2.0.0");
	close(ends[0]);
	house_close(&house);
	str_release(&got);
}

/* Sessions keep the configuration they began with. */
Test(worker, reload_is_for_new_sessions)
{
	static const char text[] = "host other.test\ndomain other.test\n";
	struct arena *arena = arena_new();
	struct conf_report report;
	struct str out = STR_INIT;
	struct house house;
	int old, fresh;

	house_open(&house, "");
	old = house_connect(&house, CLIENT);
	house_hear(&house, old, NULL);
	worker_reload(house.worker, settings_new(conf_parse("x.conf",
	    (struct slice){ text, sizeof(text) - 1 }, arena, &report), true));
	fresh = house_connect(&house, CLIENT);
	house_hear(&house, fresh, &out);
	cr_expect(slice_starts(str_slice(&out), "220 other.test "));
	say(&house, old, HELLO ENVELOPE);
	expect(&house, old, true, "250 250/2.1.0 250/2.1.5");
	say(&house, fresh, HELLO ENVELOPE);
	expect(&house, fresh, true, "250 250/2.1.0 550/5.7.1");
	close(old);
	close(fresh);
	house_close(&house);
	arena_free(&arena);
	str_release(&out);
}

Test(worker, stop_tells_the_idle_and_waits_for_data)
{
	struct house house;
	int idle, sending, late;

	house_open_clocked(&house, "");
	idle = house_connect(&house, CLIENT);
	sending = house_connect(&house, CLIENT);
	late = house_connect(&house, CLIENT);
	say(&house, idle, HELLO ENVELOPE);
	say(&house, sending, HELLO ENVELOPE "DATA\r\nx\r\n");
	say(&house, late, HELLO ENVELOPE "DATA\r\nx\r\n");
	expect(&house, idle, true, "220 250 250/2.1.0 250/2.1.5");
	expect(&house, sending, true, STARTED);
	expect(&house, late, true, STARTED);
	worker_stop(house.worker);
	expect(&house, idle, false, "421/4.3.2");
	close(idle);
	say(&house, sending, ".\r\n" ENVELOPE);
	expect(&house, sending, false, "250/2.0.0 421/4.3.2");
	close(sending);
	expect(&house, late, true, "");
	*house.clock += WORKER_STOP_FOR_MS / 1000 + 1;
	expect(&house, late, false, "421/4.3.2");
	cr_expect_eq(house_count(&house, "router"), 1);
	cr_expect_eq(house_count(&house, "public"), 0);
	close(late);
	house_close(&house);
}

Test(worker, ended_sessions_are_told)
{
	struct str closed = STR_INIT;
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, CLIENT);
	say(&house, client, "QUIT\r\n");
	house_hear(&house, client, NULL);
	worker_take_lines(house.worker, &closed);
	cr_expect_str_eq(closed.buf, "closed 1\n");
	close(client);
	house_close(&house);
	str_release(&closed);
}

/* 64 sessions finish in one turn: one group, every one answered. */
Test(worker, many_sessions_in_one_group)
{
	enum { MANY = 64 };
	struct house house;
	int clients[MANY];

	house_open(&house, "");
	for (int i = 0; i < MANY; i++) {
		clients[i] = house_connect(&house, CLIENT);
		say(&house, clients[i], HELLO ENVELOPE "DATA\r\nx\r\n");
	}
	for (int i = 0; i < MANY; i++)
		cr_assert_eq(write(clients[i], ".\r\n", 3), 3);
	loop_turn(house.loop, 0);
	cr_expect_eq(house_count(&house, "router"), MANY);
	for (int i = 0; i < MANY; i++) {
		expect(&house, clients[i], true, STARTED " 250/2.0.0");
		close(clients[i]);
	}
	house_close(&house);
}
