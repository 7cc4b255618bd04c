/* test_client_form.c - the form in which a message goes to a host: chunks,
 * conversions, what the sender asked for beside the addresses
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "tests/unit/transports/client_lab.h"

TestSuite(client_form, .init = setup, .fini = teardown);

#define OFFER(lines) "> 220 x\n< EHLO\n> 250-x\n" lines
#define HIGH "gr\xc3\xbc\xc3\x9f\n"

struct form_row {
	const char	*name;
	const char	*header, *body, *bodytype;
	bool		 is_utf8;
	const char	*script;
	enum verdict_kind kind;
	const char	*status, *words;
};

static const struct form_row rows[] = {
	/* BDAT */
	{ "all in one write", NULL, NULL, "", false,
	    OFFER("> 250-CHUNKING\n> 250 PIPELINING\n") "< MAIL\n< RCPT\n"
	    "< BDAT 21 LAST\r\n< Subject: s\r\n< \r\n< hello\r\n"
	    "> 250 a\n> 250 b\n> 250 2.0.0 taken\n< QUIT\n",
	    VERDICT_DELIVERED, "2.0.0", "250 2.0.0 taken" },
	{ "in one write, nobody accepted", NULL, NULL, "", false,
	    OFFER("> 250-CHUNKING\n> 250 PIPELINING\n") "< MAIL\n< RCPT\n"
	    "< BDAT\n< Subject\n< \r\n< hello\n> 250 a\n> 550 5.1.1 no\n"
	    "> 503 5.5.1 nobody\n< QUIT\n", VERDICT_FAILED, "5.1.1",
	    "550 5.1.1 no" },
	{ "in one write, MAIL refused", NULL, NULL, "", false,
	    OFFER("> 250-CHUNKING\n> 250 PIPELINING\n") "< MAIL\n< RCPT\n"
	    "< BDAT\n< Subject\n< \r\n< hello\n> 451 4.7.1 no\n> 503 b\n"
	    "> 503 c\n< QUIT\n", VERDICT_DEFERRED, "4.7.1", "451 4.7.1 no" },
	{ "in one write, 552 at the end", NULL, NULL, "", false,
	    OFFER("> 250-CHUNKING\n> 250 PIPELINING\n") "< MAIL\n< RCPT\n"
	    "< BDAT\n< Subject\n< \r\n< hello\n> 250 a\n> 250 b\n"
	    "> 552 5.3.4 big\n< QUIT\n", VERDICT_FAILED, "5.3.4",
	    "552 5.3.4 big" },
	{ "in one write, closed", NULL, NULL, "", false,
	    OFFER("> 250-CHUNKING\n> 250 PIPELINING\n") "< MAIL\n< RCPT\n"
	    "< BDAT\n< Subject\n< \r\n< hello\n> 250 a\n> 250 b\n!\n",
	    VERDICT_DEFERRED, "4.4.2", "connection lost after end of data" },
	{ "chunks without PIPELINING", NULL, NULL, "", false,
	    OFFER("> 250 CHUNKING\n") OK_TO("MAIL") OK_TO("RCPT")
	    "< BDAT 21 LAST\r\n< Subject: s\r\n< \r\n< hello\r\n"
	    "> 250 2.0.0 taken\n", VERDICT_DELIVERED, "2.0.0", "250" },
	{ "a line that begins with a dot", NULL, ".\n..x\n", "", false,
	    OFFER("> 250 CHUNKING\n") OK_TO("MAIL") OK_TO("RCPT")
	    "< BDAT 22 LAST\r\n< Subject: s\r\n< \r\n< .\r\n< ..x\r\n"
	    "> 250 2.0.0 taken\n", VERDICT_DELIVERED, "2.0.0", "250" },
	{ "BDAT 354", NULL, NULL, "", false,
	    OFFER("> 250 CHUNKING\n") OK_TO("MAIL") OK_TO("RCPT")
	    "< BDAT\n< Subject\n< \r\n< hello\n> 354 what\n~\n",
	    VERDICT_DEFERRED, "4.5.0", "unexpected reply to the end of data"
	    },
	/* BINARYMIME */
	{ "binary to who knows it", "Content-Type: image/x\n"
	    "Content-Transfer-Encoding: binary\n", "\r\n\r\na", "BINARYMIME",
	    false, OFFER("> 250-BINARYMIME\n> 250 CHUNKING\n")
	    OK_TO("MAIL FROM:<a@src.test> BODY=BINARYMIME\r") OK_TO("RCPT")
	    "< BDAT 65 LAST\r\n< Content-Type: image/x\r\n"
	    "< Content-Transfer-Encoding: binary\r\n< \r\n< \r\n< \r\n"
	    "> 250 2.0.0 ok\n", VERDICT_DELIVERED, "2.0.0", "250" },
	{ "binary to who does not", "Content-Type: image/x\n"
	    "Content-Transfer-Encoding: binary\n", "\r\n\r\na", "BINARYMIME",
	    false, OFFER("> 250-8BITMIME\n> 250 CHUNKING\n")
	    OK_TO("MAIL FROM:<a@src.test> BODY=8BITMIME\r") OK_TO("RCPT")
	    "< BDAT\n< Content-Type: image/x\r\n"
	    "< MIME-Version: 1.0\r\n"
	    "< Content-Transfer-Encoding: base64\r\n< \r\n> 250 2.0.0 ok\n",
	    VERDICT_DELIVERED, "2.0.0", "250" },
	/* 8BITMIME */
	{ "8-bit to who takes it", NULL, HIGH, "8BITMIME", false,
	    OFFER("> 250 8BITMIME\n")
	    OK_TO("MAIL FROM:<a@src.test> BODY=8BITMIME\r") OK_TO("RCPT")
	    "< DATA\n> 354 go\n< Subject: s\r\n< \r\n< " HIGH
	    "< .\r\n> 250 ok\n", VERDICT_DELIVERED, "2.0.0", "250" },
	{ "8-bit to who does not", NULL, HIGH, "8BITMIME", false,
	    OFFER("> 250 SIZE\n") OK_TO("MAIL FROM:<a@src.test>\r")
	    OK_TO("RCPT") "< DATA\n> 354 go\n< Subject: s\r\n"
	    "< MIME-Version: 1.0\r\n< Content-Type: text/plain; charset=utf-8"
	    "\n< Content-Transfer-Encoding: quoted-printable\r\n< \r\n"
	    "< gr=C3=BC=C3=9F\r\n< .\r\n> 250 ok\n", VERDICT_DELIVERED,
	    "2.0.0", "250" },
	{ "8-bit that nobody declared", NULL, HIGH, "", false,
	    OFFER("> 250 SIZE\n") OK_TO("MAIL FROM:<a@src.test>\r")
	    OK_TO("RCPT") "< DATA\n> 354 go\n< Subject: s\r\n"
	    "< MIME-Version: 1.0\r\n.\n> 250 ok\n", VERDICT_DELIVERED,
	    "2.0.0", "250" },
	{ "declared, but ASCII", NULL, NULL, "8BITMIME", false,
	    OFFER("> 250 SIZE\n")
	    OK_TO("MAIL FROM:<a@src.test> SIZE=18\r") OK_TO("RCPT")
	    "< DATA\n> 354 go\n< Subject: s\r\n< \r\n< hello\r\n< .\r\n"
	    "> 250 ok\n", VERDICT_DELIVERED, "2.0.0", "250" },
	/* SMTPUTF8 */
	{ "asked for, understood", NULL, NULL, "", true,
	    OFFER("> 250 SMTPUTF8\n") OK_TO("MAIL FROM:<a@src.test> SMTPUTF8\r")
		OK_TO("RCPT") "< DATA\n> 354 go\n.\n> 250 ok\n",
	    VERDICT_DELIVERED, "2.0.0", "250" },
	{ "asked for, not used", NULL, NULL, "", true,
	    OFFER("> 250 8BITMIME\n") OK_TO("MAIL FROM:<a@src.test>\r")
		OK_TO("RCPT") "< DATA\n> 354 go\n.\n> 250 ok\n",
	    VERDICT_DELIVERED, "2.0.0", "250" },
	{ "asked for, used in the header", "Subject: \xc3\xbc\n", NULL, "",
	    true, OFFER("> 250 8BITMIME\n") "< QUIT\n", VERDICT_FAILED, "5.6.7",
	    "the host does not take headers in UTF-8" },
	{ "used in a header, not asked for", "Subject: \xc3\xbc\n", NULL, "",
	    false,
	    OFFER("> 250 8BITMIME\n") OK_TO("MAIL FROM:<a@src.test>\r")
		OK_TO("RCPT") "< DATA\n> 354 go\n< Subject: \xc3\xbc\r\n.\n"
			      "> 250 ok\n",
	    VERDICT_DELIVERED, "2.0.0", "250" },
	{ "used in a header, host of 7 bits", "Subject: \xc3\xbc\n", NULL, "",
	    false,
	    OFFER("> 250 SIZE\n") OK_TO("MAIL FROM:<a@src.test>\r") OK_TO(
		"RCPT") "< DATA\n> 354 go\n< Subject: =?utf-8?q?=C3=BC?=\r\n.\n"
			"> 250 ok\n",
	    VERDICT_DELIVERED, "2.0.0", "250" },
};

Test(client_form, each_message_meets_each_host)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct form_row *row = &rows[i];

		teardown();
		setup();
		if (row->header != NULL)
			job.header = slice_of(row->header);
		if (row->body != NULL) {
			body_set(row->body, strlen(row->body));
			job.body_offset = 0;
		}
		job.bodytype = slice_of(row->bodytype);
		job.terms.is_utf8 = row->is_utf8;
		listen_to(row->script);
		deliver(1);
		end();
		expect_verdict(row->name, row->kind, row->status, row->words);
		cr_expect_str_empty(script.wrong, "%s: %s", row->name,
		    script.wrong);
		script_release(&script);
	}
}

/* What the sender asked for, and what the host says to it. */
static const struct {
	const char	*name, *offer;
	struct terms	 terms;
	const char	*mail;		/* NULL: fails before */
	const char	*status;
} terms_rows[] = {
	{ "priority", "> 250 MT-PRIORITY MIXER\n", { .priority = -3 },
	    "MAIL FROM:<a@src.test> MT-PRIORITY=-3\r", "2.0.0" },
	{ "priority, unknown there", "> 250 SIZE\n", { .priority = -3 },
	    "MAIL FROM:<a@src.test> SIZE=18\r", "2.0.0" },
	{ "by, notify", "> 250 DELIVERBY\n", { .by_s = 100 },
	    "MAIL FROM:<a@src.test> BY=100;N\r", "2.0.0" },
	{ "by, notify, late already", "> 250 DELIVERBY 50\n",
	    { .by_s = -100, .by_traces = true },
	    "MAIL FROM:<a@src.test> BY=-100;NT\r", "2.0.0" },
	{ "by, notify, unknown there", "> 250 DSN\n", { .by_s = 100 },
	    "MAIL FROM:<a@src.test>\r", "2.0.0" },
	{ "by, return", "> 250 DELIVERBY 50\n",
	    { .by_s = 100, .by_returns = true },
	    "MAIL FROM:<a@src.test> BY=100;R\r", "2.0.0" },
	{ "by, return, unknown there", "> 250 DSN\n",
	    { .by_s = 100, .by_returns = true }, NULL, "5.3.3" },
	{ "by, return, too short", "> 250 DELIVERBY 500\n",
	    { .by_s = 100, .by_returns = true }, NULL, "5.4.7" },
	{ "by, return, over", "> 250 DELIVERBY\n",
	    { .by_s = -1, .by_returns = true }, NULL, "5.4.7" },
	{ "auth is not passed to strangers", "> 250 AUTH PLAIN\n",
	    { .auth = SLICE("a@b") }, "MAIL FROM:<a@src.test>\r", "2.0.0" },
};

Test(client_form, terms_go_where_they_are_understood)
{
	for (size_t i = 0; i < sizeof(terms_rows) / sizeof(terms_rows[0]);
	    i++) {
		char text[1000];

		job.terms = terms_rows[i].terms;
		if (job.terms.by_s != 0)
			job.terms.by_s += clock_wall_s();
		snprintf(text, sizeof(text), OFFER("%s") "%s%s%s%s",
		    terms_rows[i].offer, terms_rows[i].mail ? "< " : "",
		    terms_rows[i].mail ? terms_rows[i].mail : "< QUIT\n",
		    terms_rows[i].mail ? "\n> 250 ok\n" OK_TO("RCPT") : "",
		    terms_rows[i].mail ?
		    "< DATA\n> 354 go\n.\n> 250 2.0.0 ok\n" : "");
		client_init(&client, &conf, false);
		listen_to(text);
		deliver(1);
		end();
		cr_expect_str_eq(verdicts[0].status, terms_rows[i].status,
		    "%s: %s", terms_rows[i].name, verdicts[0].text);
		/* a second may have passed */
		cr_expect(script.wrong[0] == '\0' ||
		    strstr(script.wrong, "BY=99") != NULL ||
		    strstr(script.wrong, "BY=-101") != NULL, "%s: %s",
		    terms_rows[i].name, script.wrong);
		script_release(&script);
	}
}

/* 3 MB in chunks of a megabyte, two on their way at a time. */
Test(client_form, a_big_message_in_chunks)
{
	size_t n = 3 << 20;
	char *body = malloc(n);
	const char *at;
	size_t got = 0;
	unsigned count = 0;

	memset(body, 'x', n);
	for (size_t i = 71; i < n; i += 72)
		body[i] = '\n';
	body_set(body, n);
	job.body_offset = 0;
	job.size_bytes = n;
	listen_to(OFFER("> 250-CHUNKING\n> 250 PIPELINING\n")
	    "< MAIL\n< RCPT\n> 250 a\n> 250 b\n< BDAT\n> 250 1\n> 250 2\n"
	    "> 250 3\n> 250 2.0.0 all\n~\n");
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	for (at = script.heard.buf; (at = memmem(at, (size_t)(
	    script.heard.buf + script.heard.len - at), "BDAT ", 5)) != NULL;
	    at++, count++)
		got += (size_t)atol(at + 5);
	cr_expect_eq(count, 4u);
	cr_expect_eq(script_heard(&script, " LAST\r\n"), 1u);
	cr_expect_eq(got, n + n / 72 + 14, "%zu", got);
	script_release(&script);
	free(body);
}

Test(client_form, a_chunk_that_is_refused_ends_the_message)
{
	size_t n = 3 << 20;
	char *body = calloc(1, n);

	memset(body, 'x', n);
	body_set(body, n);
	job.body_offset = 0;
	job.size_bytes = n;
	listen_to(OFFER("> 250 CHUNKING\n") OK_TO("MAIL") OK_TO("RCPT")
	    "< BDAT\n> 552 5.3.4 too big\n~\n");
	deliver(1);
	end();
	cr_expect_str_eq(verdicts[0].text, "552 5.3.4 too big");
	cr_expect_eq(script_heard(&script, " LAST\r\n"), 0u);
	script_release(&script);
	free(body);
}

Test(client_form, a_body_that_cannot_be_read_is_no_last_chunk)
{
	close(body_fd);
	body_fd = open("/tmp", O_RDONLY | O_DIRECTORY);
	listen_to(OFFER("> 250-CHUNKING\n> 250 8BITMIME\n") OK_TO("MAIL")
		OK_TO("RCPT") "~\n");
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_eq(script_heard(&script, "LAST"), 0);
	script_release(&script);
}

Test(client_form, broken_pipelining_is_remembered)
{
	listen_to(OFFER("> 250 PIPELINING\n") "< MAIL\n!\n"
	    OFFER("> 250 PIPELINING\n") OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 250 2.0.0 ok\n");
	deliver(1);
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

static const struct {
	const char *limits;
	unsigned transactions, sessions;
} limit_rows[] = {
	{ "RCPTMAX=2", 2, 1 },
	{ "RCPTDOMAINMAX=1", 2, 1 },
	{ "MAILMAX=1 RCPTMAX=2", 2, 2 },
	{ "RCPTMAX=0 RCPTDOMAINMAX=-1 MAILMAX=x FOO=1", 1, 1 },
	{ "RCPTMAX=99999999999999999999", 1, 1 },
};

/* RFC 9422; limits that are lies do not count. */
Test(client_form, LIMITS_are_obeyed)
{
	rcpts[0].user = SLICE("a@one.test");
	rcpts[1].user = SLICE("b@ONE.test");
	rcpts[2].user = SLICE("c@two.test");
	for (size_t i = 0; i < sizeof(limit_rows) / sizeof(limit_rows[0]);
	    i++) {
		struct str text = STR_INIT;

		for (unsigned k = 0; k < limit_rows[i].transactions; k++) {
			bool is_split = limit_rows[i].transactions > 1;

			if (k > 0 && limit_rows[i].sessions > 1)
				str_adds(&text, "< QUIT\n!\n");
			if (k < limit_rows[i].sessions)
				str_addf(&text, OFFER("> 250 LIMITS %s\n"),
				    limit_rows[i].limits);
			str_adds(&text, OK_TO("MAIL"));
			for (unsigned r = 0; r < (is_split ? 2 - k : 3); r++)
				str_adds(&text, OK_TO("RCPT"));
			str_adds(&text,
			    "< DATA\n> 354 go\n.\n> 250 2.0.0 ok\n");
		}
		client_init(&client, &conf, false);
		listen_to(text.buf);
		deliver(3);
		end();
		for (int k = 0; k < 3; k++)
			cr_expect_eq(verdicts[k].kind, VERDICT_DELIVERED,
			    "%s: %s", limit_rows[i].limits,
			    verdicts[k].text);
		cr_expect_str_empty(script.wrong, "%s: %s",
		    limit_rows[i].limits, script.wrong);
		cr_expect_eq(script.connections, limit_rows[i].sessions,
		    "%s", limit_rows[i].limits);
		script_release(&script);
		str_release(&text);
	}
}
