/* test_worker.c - what a worker writes, its groups, reload and stop
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client_case.h"
#include "mail/envelope.h"

#include "base/banned.h"

Test(worker, frozen_message_is_in_freezer_under_its_rule)
{
	struct str path = STR_INIT, file = STR_INIT;
	struct house house;
	int client;

	house_open(&house, "freeze sender *@odd.test");
	client = house_connect(&house, CLIENT);
	client_say(&house, client, HELLO "MAIL FROM:<x@odd.test>\r\n"
	    "RCPT TO:<bob@example.org>\r\nDATA\r\nx\r\n.\r\n");
	client_expect(&house, client, true, STARTED " 250/2.0.0");
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
	client_say(&house, client, HELLO "MAIL FROM:<\"a b\"@Src.test> SIZE=10 "
	    "BODY=8BITMIME RET=HDRS ENVID=QQ+2B1\r\n"
	    "RCPT TO:<@x.test:Bob@Example.org> NOTIFY=SUCCESS,DELAY "
	    "ORCPT=rfc822;b+2Bx@y.test\r\nRCPT TO:<postmaster>\r\n"
	    "DATA\r\nA: b\r\n\r\nc\r\n.\r\n");
	client_expect(&house, client, true,
	    "220 250 250/2.1.0 250/2.1.5 250/2.1.5 354 250/2.0.0");
	house_first(&house, "router", &file);
	cr_assert_eq(envelope_parse(arena, str_slice(&file), &envelope, &err),
	    0, "%s", err.text);
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
	client_say(&house, client, "HELO c1.test\r\nMAIL FROM:<>\r\n"
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
	client_say(&house, old, HELLO ENVELOPE);
	client_expect(&house, old, true, "250 250/2.1.0 250/2.1.5");
	client_say(&house, fresh, HELLO ENVELOPE);
	client_expect(&house, fresh, true, "250 250/2.1.0 550/5.7.1");
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
	client_say(&house, idle, HELLO ENVELOPE);
	client_say(&house, sending, HELLO ENVELOPE "DATA\r\nx\r\n");
	client_say(&house, late, HELLO ENVELOPE "DATA\r\nx\r\n");
	client_expect(&house, idle, true, "220 250 250/2.1.0 250/2.1.5");
	client_expect(&house, sending, true, STARTED);
	client_expect(&house, late, true, STARTED);
	worker_stop(house.worker);
	client_expect(&house, idle, false, "421/4.3.2");
	close(idle);
	client_say(&house, sending, ".\r\n" ENVELOPE);
	client_expect(&house, sending, false, "250/2.0.0 421/4.3.2");
	close(sending);
	client_expect(&house, late, true, "");
	*house.clock += WORKER_STOP_FOR_MS / 1000 + 1;
	client_expect(&house, late, false, "421/4.3.2");
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
	client_say(&house, client, "QUIT\r\n");
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
		client_say(&house, clients[i], HELLO ENVELOPE "DATA\r\nx\r\n");
	}
	for (int i = 0; i < MANY; i++)
		cr_assert_eq(write(clients[i], ".\r\n", 3), 3);
	loop_turn(house.loop, 0);
	cr_expect_eq(house_count(&house, "router"), MANY);
	for (int i = 0; i < MANY; i++) {
		client_expect(&house, clients[i], true, STARTED " 250/2.0.0");
		close(clients[i]);
	}
	house_close(&house);
}
