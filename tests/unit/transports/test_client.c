/* test_client.c - what a peer says, breaks off or makes up, and what the
 * client makes of it
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/transports/client_lab.h"

TestSuite(client, .init = setup, .fini = teardown);

struct row {
	const char	*name, *script;
	size_t		 rcpts;
	enum verdict_kind kind;
	const char	*status, *words;
	bool		 host_trouble;
	unsigned	 dots;		/* messages that were ended */
};

static const struct row rows[] = {
	{ "delivered step by step", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 250 2.0.0 taken as 17\n< QUIT\n", 1,
	    VERDICT_DELIVERED, "2.0.0", "250 2.0.0 taken as 17", false, 1 },
	{ "delivered pipelined", PIPE_HELLO "< MAIL\n< RCPT\n< DATA\n"
	    ">> 250 a\\r\\n250 b\\r\\n354 c\\r\\n\n.\n> 250 taken\n", 1,
	    VERDICT_DELIVERED, "2.0.0", "250 taken", false, 1 },
	{ "HELO when EHLO is unknown", "> 220 x\n< EHLO\n> 500 what\n"
	    "< HELO me.test\n> 250 x\n" OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 250 ok\n", 1,
	    VERDICT_DELIVERED, "2.0.0", "250 ok", false, 1 },
	{ "greeting 4yz", "> 421 4.3.2 busy\n", 1, VERDICT_DEFERRED, "4.3.2",
	    "421 4.3.2 busy", true, 0 },
	{ "greeting 5yz", "> 554 5.7.1 go away\n", 1, VERDICT_DEFERRED,
	    "4.7.1", "554 5.7.1 go away", true, 0 },
	{ "closed before the greeting", "!\n", 1, VERDICT_DEFERRED, "4.4.2",
	    "connection lost while waiting for the greeting", true, 0 },
	{ "closed after EHLO", "> 220 x\n< EHLO\n!\n", 1, VERDICT_DEFERRED,
	    "4.4.2", "connection lost while waiting for the reply to EHLO",
	    true, 0 },
	{ "EHLO 4yz", "> 220 x\n< EHLO\n> 421 4.0.0 no\n", 1,
	    VERDICT_DEFERRED, "4.0.0", "421 4.0.0 no", true, 0 },
	{ "HELO 5yz", "> 220 x\n< EHLO\n> 502 a\n< HELO\n> 550 5.7.1 no\n", 1,
	    VERDICT_DEFERRED, "4.7.1", "550 5.7.1 no", true, 0 },
	{ "MAIL 4yz", HELLO "< MAIL\n> 451 4.7.0 later\n", 2,
	    VERDICT_DEFERRED, "4.7.0", "451 4.7.0 later", false, 0 },
	{ "MAIL 5yz", HELLO "< MAIL\n> 550 5.7.1 bad sender\n", 2,
	    VERDICT_FAILED, "5.7.1", "550 5.7.1 bad sender", false, 0 },
	{ "MAIL 5yz pipelined", PIPE_HELLO "< MAIL\n< RCPT\n< DATA\n"
	    "> 550 5.7.1 bad sender\n> 503 no MAIL\n> 503 no MAIL\n", 1,
	    VERDICT_FAILED, "5.7.1", "550 5.7.1 bad sender", false, 0 },
	{ "MAIL 421", HELLO "< MAIL\n> 421 4.7.0 bye\n", 1,
	    VERDICT_DEFERRED, "4.7.0", "421 4.7.0 bye", true, 0 },
	{ "MAIL 354", HELLO "< MAIL\n> 354 what\n", 1, VERDICT_DEFERRED,
	    "4.5.0", "unexpected reply to MAIL: 354 what", false, 0 },
	{ "closed after MAIL", HELLO "< MAIL\n!\n", 1, VERDICT_DEFERRED,
	    "4.4.2", "connection lost while waiting for the reply to MAIL",
	    true, 0 },
	{ "RCPT 4yz", HELLO OK_TO("MAIL") "< RCPT\n> 450 4.2.0 grey\n", 1,
	    VERDICT_DEFERRED, "4.2.0", "450 4.2.0 grey", false, 0 },
	{ "RCPT 5yz", HELLO OK_TO("MAIL") "< RCPT\n> 550 no such user\n", 1,
	    VERDICT_FAILED, "5.0.0", "550 no such user", false, 0 },
	{ "RCPT 5yz, 354 all the same", PIPE_HELLO "< MAIL\n< RCPT\n< DATA\n"
	    "> 250 a\n> 550 5.1.1 no\n> 354 go\n< .\n> 554 no rcpt\n", 1,
	    VERDICT_FAILED, "5.1.1", "550 5.1.1 no", false, 1 },
	{ "RCPT 4yz with the status of 5yz", HELLO OK_TO("MAIL")
	    "< RCPT\n> 450 5.1.1 odd\n", 1, VERDICT_DEFERRED, "4.0.0",
	    "450 5.1.1 odd", false, 0 },
	{ "closed after RCPT", HELLO OK_TO("MAIL") "< RCPT\n!\n", 1,
	    VERDICT_DEFERRED, "4.4.2",
	    "connection lost while waiting for the reply to RCPT", true, 0 },
	{ "RCPT 421", HELLO OK_TO("MAIL") "< RCPT\n> 421 gone\n", 1,
	    VERDICT_DEFERRED, "4.0.0", "421 gone", true, 0 },
	{ "DATA 4yz", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 451 4.3.0 full\n", 1, VERDICT_DEFERRED, "4.3.0",
	    "451 4.3.0 full", false, 0 },
	{ "DATA 5yz", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 554 5.7.1 no\n", 1, VERDICT_FAILED, "5.7.1",
	    "554 5.7.1 no", false, 0 },
	{ "DATA 250", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 250 done already\n~\n", 1, VERDICT_DEFERRED, "4.5.0",
	    "unexpected reply to DATA: 250 done already", false, 0 },
	{ "250 before the dot", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n>> 354 go\\r\\n250 done\\r\\n\n~\n", 1,
	    VERDICT_DEFERRED, "4.5.0",
	    "unexpected reply to a message not yet sent: 354 go", false, 0 },
	{ "closed after DATA", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n!\n", 1, VERDICT_DEFERRED, "4.4.2",
	    "connection lost while waiting for the reply to DATA", false, 0 },
	{ "END 4yz", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 452 4.3.1 full\n", 1, VERDICT_DEFERRED,
	    "4.3.1", "452 4.3.1 full", false, 1 },
	{ "END 5yz", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 554 5.6.0 spam\n", 1, VERDICT_FAILED,
	    "5.6.0", "554 5.6.0 spam", false, 1 },
	{ "END 354", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 354 more\n~\n", 1, VERDICT_DEFERRED,
	    "4.5.0", "unexpected reply to the end of data: 354 more", false,
	    1 },
	{ "closed after the dot", HELLO OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n!\n", 1, VERDICT_DEFERRED, "4.4.2",
	    "connection lost after end of data (message may be sent twice)",
	    false, 1 },
	{ "ESC and NUL in the words", HELLO OK_TO("MAIL")
	    "< RCPT\n>> 550 a\x1b[2Jb\\0c\\r\\n\n", 1, VERDICT_FAILED,
	    "5.0.0", "550 a\\x1B[2Jb\\x00c", false, 0 },
	{ "many lines", HELLO OK_TO("MAIL")
	    "< RCPT\n> 550-5.1.1 one\n> 550-5.1.1 two\n> 550 5.1.1 three\n",
	    1, VERDICT_FAILED, "5.1.1", "550 5.1.1 one", false, 0 },
	{ "the code changes", HELLO OK_TO("MAIL")
	    "< RCPT\n> 250-a\n> 550 b\n~\n", 1, VERDICT_DEFERRED, "4.4.2",
	    "connection broken while waiting for the reply to RCPT: the code "
	    "changes from 250 to 550", true, 0 },
	{ "binary greeting", ">> \\0\\0\x01\x02\xff\\n\n~\n", 1,
	    VERDICT_DEFERRED, "4.4.2",
	    "connection broken while waiting for the greeting: not a reply",
	    true, 0 },
	{ "a greeting of 10 MB", "* 10000000\n~\n", 1, VERDICT_DEFERRED,
	    "4.4.2", "connection broken while waiting for the greeting: a "
	    "line of the reply is longer", true, 0 },
};

Test(client, each_answer_has_its_verdict)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		client_init(&client, &conf, false);
		listen_to(row->script);
		deliver(row->rcpts);
		end();
		for (size_t k = 0; k < row->rcpts; k++) {
			const struct verdict *verdict = &verdicts[k];

			cr_expect_eq(verdict->kind, row->kind, "%s: %s %s",
			    row->name, verdict_names[verdict->kind],
			    verdict->text);
			cr_expect_str_eq(verdict->status, row->status,
			    "%s: %s", row->name, verdict->text);
			cr_expect(slice_starts(slice_of(verdict->text),
			    row->words), "%s: %s", row->name, verdict->text);
			cr_expect_eq(verdict->host_trouble, row->host_trouble,
			    "%s: host trouble", row->name);
			cr_expect(strstr(verdict->who, "127.0.0.1"), "%s: %s",
			    row->name, verdict->who);
		}
		cr_expect_str_empty(script.wrong, "%s: %s", row->name,
		    script.wrong);
		cr_expect_eq(script_heard(&script, "\r\n.\r\n"), row->dots,
		    "%s: %u dots", row->name,
		    script_heard(&script, "\r\n.\r\n"));
		script_release(&script);
	}
}

/* Where the peer falls silent, and the words of the verdict. */
static const struct {
	const char *script, *words;
	int64_t *wait_ms;
	bool host_trouble;
} silence_rows[] = {
	{ "~\n", "timed out while waiting for the greeting",
	    &conf.timeouts.greeting_ms, true },
	{ ">> 220-x\\r\\n22\n~\n", "timed out while waiting for the greeting",
	    &conf.timeouts.greeting_ms, true },
	{ "> 220 x\n< EHLO\n~\n",
	    "timed out while waiting for the reply to EHLO",
	    &conf.timeouts.helo_ms, true },
	{ HELLO "< MAIL\n~\n",
	    "timed out while waiting for the reply to MAIL",
	    &conf.timeouts.mail_ms, true },
	{ HELLO OK_TO("MAIL") "< RCPT\n~\n",
	    "timed out while waiting for the reply to RCPT",
	    &conf.timeouts.rcpt_ms, true },
	{ HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n~\n",
	    "timed out while waiting for the reply to DATA",
	    &conf.timeouts.data_start_ms, false },
	{ HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n~\n",
	    "timed out after end of data (message may be sent twice)",
	    &conf.timeouts.data_end_ms, false },
};

/* Only the wait for what does not come is short: the answers before it may
 * be late on a busy machine. */
Test(client, silence_ends_at_the_deadline)
{
	for (size_t i = 0; i < sizeof(silence_rows) /
	    sizeof(silence_rows[0]); i++) {
		int64_t usual_ms = *silence_rows[i].wait_ms;

		*silence_rows[i].wait_ms = 60;
		client_init(&client, &conf, false);
		listen_to(silence_rows[i].script);
		deliver(1);
		end();
		*silence_rows[i].wait_ms = usual_ms;
		cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
		cr_expect_str_eq(verdicts[0].text, silence_rows[i].words);
		cr_expect_eq(verdicts[0].host_trouble,
		    silence_rows[i].host_trouble, "%s", verdicts[0].text);
		cr_expect_str_empty(script.wrong, "%s", script.wrong);
		script_release(&script);
	}
}

Test(client, everything_up_to_DATA_is_one_write)
{
	listen_to(PIPE_HELLO "< MAIL\n< RCPT\n< RCPT\n< DATA\n"
	    "> 250 a\n> 250 b\n> 250 c\n> 354 d\n.\n> 250 e\n");
	deliver(2);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect(strstr(script.heard.buf, "MAIL FROM:<a@src.test>\r\n"
	    "RCPT TO:<r0@x.test>\r\nRCPT TO:<r1@x.test>\r\nDATA\r\n"
	    "Subject: s\r\n\r\nhello\r\n.\r\nQUIT\r\n"), "%s",
	    script.heard.buf);
	script_release(&script);
}

Test(client, each_recipient_has_its_own_verdict)
{
	listen_to(PIPE_HELLO "< MAIL\n< RCPT\n< RCPT\n< RCPT\n< DATA\n"
	    "> 250 a\n> 550 5.1.1 no\n> 250 b\n> 450 4.2.0 grey\n> 354 d\n.\n"
	    "> 250 2.0.0 done\n");
	deliver(3);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_eq(verdicts[0].kind, VERDICT_FAILED);
	cr_expect_eq(verdicts[1].kind, VERDICT_DELIVERED);
	cr_expect_str_eq(verdicts[1].text, "250 2.0.0 done");
	cr_expect_eq(verdicts[2].kind, VERDICT_DEFERRED);
	cr_expect_str_eq(verdicts[2].text, "450 4.2.0 grey");
	script_release(&script);
}

Test(client, a_connection_serves_the_next_message)
{
	listen_to(HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n"
	    "> 250 1\n" OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n"
	    "> 250 2\n< QUIT\n");
	deliver(1);
	cr_expect_str_eq(verdicts[0].text, "250 1");
	deliver(1);
	cr_expect_str_eq(verdicts[0].text, "250 2");
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_eq(script.connections, 1);
	script_release(&script);
}

Test(client, a_kept_connection_that_died_is_made_again)
{
	static const char *const ends[] = { "!\n", "< MAIL\n!\n",
	    "< MAIL\n> 421 too many messages\n!\n",
	    "> 421 idle too long\n!\n" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		char text[1000];

		snprintf(text, sizeof(text), "%s%s%s",
		    HELLO OK_TO("MAIL") OK_TO("RCPT")
		    "< DATA\n> 354 go\n.\n> 250 1\n", ends[i],
		    HELLO OK_TO("MAIL") OK_TO("RCPT")
		    "< DATA\n> 354 go\n.\n> 250 2\n");
		client_init(&client, &conf, false);
		listen_to(text);
		deliver(1);
		cr_expect_str_eq(verdicts[0].text, "250 1");
		deliver(1);
		end();
		cr_expect_str_eq(verdicts[0].text, "250 2", "%zu: %s", i,
		    verdicts[0].text);
		cr_expect_eq(script.connections, 2, "%zu", i);
		cr_expect_str_empty(script.wrong, "%s", script.wrong);
		script_release(&script);
	}
}

Test(client, RSET_only_after_a_transaction_that_did_not_end)
{
	listen_to(HELLO OK_TO("MAIL") "< RCPT\n> 550 no\n"
	    OK_TO("RSET") OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 250 2\n");
	deliver(1);
	cr_expect_eq(verdicts[0].kind, VERDICT_FAILED);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

Test(client, recipients_that_are_too_many_go_into_the_next_transaction)
{
	listen_to(HELLO OK_TO("MAIL") OK_TO("RCPT TO:<r0@")
	    "< RCPT TO:<r1@\n> 452 4.5.3 too many\n"
	    "< RCPT TO:<r2@\n> 452 4.5.3 too many\n"
	    "< DATA\n> 354 go\n.\n> 250 one\n"
	    OK_TO("MAIL") OK_TO("RCPT TO:<r1@") OK_TO("RCPT TO:<r2@")
	    "< DATA\n> 354 go\n.\n> 250 two\n");
	deliver(3);
	end();
	cr_expect_str_eq(verdicts[0].text, "250 one");
	cr_expect_str_eq(verdicts[1].text, "250 two");
	cr_expect_str_eq(verdicts[2].text, "250 two");
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

Test(client, transactions_have_as_many_recipients_as_LIMITS_says)
{
	struct str text = STR_INIT;

	str_adds(&text, "> 220 mx.test\n< EHLO me.test\n> 250-mx.test\n"
	    "> 250-LIMITS RCPTMAX=100\n> 250 PIPELINING\n");
	for (int part = 0; part < 3; part++)
		transaction_add(&text, part < 2 ? 100 : 50, part);
	listen_to(text.buf);
	deliver(250);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_str_eq(verdicts[99].text, "250 part 0");
	cr_expect_str_eq(verdicts[100].text, "250 part 1");
	cr_expect_str_eq(verdicts[249].text, "250 part 2");
	script_release(&script);
	str_release(&text);
}

Test(client, who_was_not_reached_is_deferred)
{
	listen_to(HELLO OK_TO("MAIL") OK_TO("RCPT") "< RCPT\n!\n");
	deliver(3);
	end();
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(verdicts[i].kind, VERDICT_DEFERRED);
		cr_expect_str_eq(verdicts[i].status, "4.4.2");
	}
	script_release(&script);
}

Test(client, parameters_follow_what_the_peer_announced)
{
	job.bodytype = SLICE("8BITMIME");
	job.envid = SLICE("env+20id");
	job.ret = DSN_RET_HDRS;
	rcpts[0].notify = DSN_NOTIFY_SUCCESS | DSN_NOTIFY_FAILURE;
	rcpts[0].orcpt = SLICE("rfc822;o@x.test");
	listen_to("> 220 x\n< EHLO\n> 250-x\n> 250-SIZE 1000\n"
	    "> 250-8bitmime\n> 250 DSN\n"
	    OK_TO("MAIL FROM:<a@src.test> SIZE=18 BODY=8BITMIME RET=HDRS "
	    "ENVID=env+20id\r")
	    OK_TO("RCPT TO:<r0@x.test> NOTIFY=SUCCESS,FAILURE "
	    "ORCPT=rfc822;o@x.test\r")
	    "< DATA\n> 354 go\n.\n> 250 ok\n");
	deliver(1);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_eq(verdicts[0].kind, VERDICT_RELAYED);
	script_release(&script);

	listen_to(HELLO OK_TO("MAIL FROM:<a@src.test>\r")
	    OK_TO("RCPT TO:<r0@x.test>\r")
	    "< DATA\n> 354 go\n.\n> 250 ok\n");
	deliver(1);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	script_release(&script);
}

Test(client, a_message_over_the_limit_is_not_tried)
{
	job.size_bytes = 5000;
	listen_to("> 220 x\n< EHLO\n> 250-x\n> 250 SIZE 1000\n< QUIT\n");
	deliver(2);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_eq(verdicts[1].kind, VERDICT_FAILED);
	cr_expect_str_eq(verdicts[1].status, "5.3.4");
	script_release(&script);
}

Test(client, utf8_addresses_go_only_where_they_are_understood)
{
	rcpts[1].user = SLICE("j\xc3\xb6rg@x.test");
	listen_to(HELLO OK_TO("MAIL FROM:<a@src.test>\r") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 250 ok\n");
	deliver(2);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	cr_expect_str_eq(verdicts[1].status, "5.6.7");
	script_release(&script);
	listen_to("> 220 x\n< EHLO\n> 250-x\n> 250 SMTPUTF8\n" OK_TO(
	    "MAIL FROM:<a@src.test> SMTPUTF8\r") OK_TO("RCPT")
		OK_TO("RCPT") "< DATA\n> 354 go\n.\n> 250 ok\n");
	deliver(2);
	end();
	cr_expect_eq(verdicts[1].kind, VERDICT_DELIVERED);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

Test(client, controls_never_reach_a_command_line)
{
	rcpts[0].user = SLICE("a@x>\r\nRCPT TO:<evil@x");
	snprintf(host, sizeof(host), "[127.0.0.1]:1");
	job.host = slice_of(host);
	deliver(1);
	cr_expect_eq(verdicts[0].kind, VERDICT_FAILED);
	cr_expect_str_eq(verdicts[0].status, "5.1.3");
}

/* 3 MB with dots, bare CRs and no line end after it: one end, all there. */
Test(client, a_big_message_arrives_whole)
{
	size_t n = 3 << 20;
	char *body = malloc(n);
	struct str want = STR_INIT;
	bool was_line_end = true;

	for (size_t i = 0; i < n; i++)
		body[i] = ".a\n.\nbcdef"[(i * 7 + i / 1000) % 10];
	body[n - 1] = 'x';
	for (size_t i = 0; i < n; i++) {
		if (was_line_end && body[i] == '.')
			str_addc(&want, '.');
		if (body[i] == '\n')
			str_addc(&want, '\r');
		str_addc(&want, body[i]);
		was_line_end = body[i] == '\n';
	}
	str_adds(&want, "\r\n.\r\n");
	body_set(body, n);
	job.body_offset = 0;
	job.size_bytes = n;
	listen_to(HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n"
	    "> 250 ok\n");
	deliver(1);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	cr_expect_eq(script_heard(&script, "\r\n.\r\n"), 1);
	cr_expect(memmem(script.heard.buf, script.heard.len, want.buf,
	    want.len) != NULL, "the body was changed");
	script_release(&script);
	str_release(&want);
	free(body);
}

Test(client, a_body_that_cannot_be_read_is_not_ended)
{
	close(body_fd);
	body_fd = open("/tmp", O_RDONLY | O_DIRECTORY);
	listen_to(HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n~\n");
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_eq(script_heard(&script, "\r\n.\r\n"), 0);
	script_release(&script);
}

Test(client, lmtp_hears_one_reply_a_recipient)
{
	client_init(&client, &conf, true);
	listen_to("> 220 x\n< LHLO me.test\n> 250-x\n> 250 PIPELINING\n"
	    "< MAIL\n< RCPT\n< RCPT\n< RCPT\n< DATA\n> 250 a\n> 250 b\n"
	    "> 550 5.1.1 no\n> 250 c\n> 354 d\n.\n"
	    "> 250 2.0.0 stored\n> 452 4.2.2 full\n");
	deliver(3);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	cr_expect_str_eq(verdicts[1].text, "550 5.1.1 no");
	cr_expect_eq(verdicts[2].kind, VERDICT_DEFERRED);
	cr_expect_str_eq(verdicts[2].text, "452 4.2.2 full");
	script_release(&script);
}

Test(client, lmtp_knows_who_had_an_answer_when_the_line_went_dead)
{
	client_init(&client, &conf, true);
	listen_to("> 220 x\n< LHLO me.test\n> 250 x\n" OK_TO("MAIL")
		OK_TO("RCPT") OK_TO("RCPT") "< DATA\n> 354 d\n.\n"
					    "> 250 2.0.0 stored\n!\n");
	deliver(2);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED);
	cr_expect_eq(verdicts[1].kind, VERDICT_DEFERRED);
	cr_expect(strstr(verdicts[1].text, "may be sent twice"));
	script_release(&script);
}

/* When there is no other the scheduler's word counts: it is time to try. */
Test(client, the_only_address_is_tried_again_though_it_refused)
{
	struct script closed;

	script_start(&closed, "");
	script_join(&closed);
	snprintf(host, sizeof(host), "[127.0.0.1]:%u", closed.port);
	job.host = slice_of(host);
	deliver(1);
	cr_expect_str_eq(verdicts[0].status, "4.4.1");
	cr_expect(verdicts[0].host_trouble);
	cr_expect(strstr(verdicts[0].text, "refused"), "%s", verdicts[0].text);
	deliver(1);
	cr_expect(strstr(verdicts[0].text, "refused"), "%s", verdicts[0].text);
	cr_expect(verdicts[0].host_trouble);
}

Test(client, idle_connections_are_closed)
{
	listen_to(HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n"
	    "> 250 1\n< QUIT\n> 221 bye\n");
	deliver(1);
	client_idle(&client, 60000);
	cr_expect(peer_is_open(&client.peer));
	client_idle(&client, 0);
	cr_expect_not(peer_is_open(&client.peer));
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

static const struct {
	const char	*host;
	int		 kind;		/* -1: refused */
	const char	*name;
	unsigned	 port;
} target_rows[] = {
	{ "example.org", TARGET_MX, "example.org", 25 },
	{ "[192.0.2.1]", TARGET_HOST, "192.0.2.1", 25 },
	{ "[192.0.2.1]:2525", TARGET_HOST, "192.0.2.1", 2525 },
	{ "[IPv6:2001:db8::1]:26", TARGET_HOST, "IPv6:2001:db8::1", 26 },
	{ "[relay.example.org]", TARGET_HOST, "relay.example.org", 25 },
	{ "relay:587", TARGET_HOST, "relay", 587 },
	{ "inet:store:24", TARGET_HOST, "store", 24 },
	{ "inet:store", TARGET_HOST, "store", 25 },
	{ "inet:[192.0.2.1]:24", TARGET_HOST, "192.0.2.1", 24 },
	{ "inet:[2001:db8::1]:24", TARGET_HOST, "2001:db8::1", 24 },
	{ "unix:/run/lmtp", TARGET_UNIX, "/run/lmtp", 25 },
	{ "", -1, NULL, 0 }, { "-", -1, NULL, 0 }, { "[]", -1, NULL, 0 },
	{ "[a", -1, NULL, 0 }, { "[a]b", -1, NULL, 0 },
	{ "[a]:", -1, NULL, 0 }, { "[a]:65536", -1, NULL, 0 },
	{ "a:0", -1, NULL, 0 }, { ":25", -1, NULL, 0 },
	{ "unix:", -1, NULL, 0 },
};

Test(client, host_fields)
{
	for (size_t i = 0; i < sizeof(target_rows) / sizeof(target_rows[0]);
	    i++) {
		struct client_target target;
		struct err err;
		int got = client_target_parse(slice_of(target_rows[i].host),
		    25, &target, &err);

		cr_expect_eq(got, target_rows[i].kind < 0 ? -1 : 0, "%s",
		    target_rows[i].host);
		if (got < 0 || target_rows[i].kind < 0)
			continue;
		cr_expect_eq((int)target.kind, target_rows[i].kind, "%s",
		    target_rows[i].host);
		cr_expect_str_eq(target.name, target_rows[i].name);
		cr_expect_eq(target.port, target_rows[i].port);
	}
}
