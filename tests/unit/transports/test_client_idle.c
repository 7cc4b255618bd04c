/* test_client_idle.c - a connection that lay idle before it is used again
 *
 * SPDX-License-Identifier: ISC
 */
#include <poll.h>

#include "base/clock.h"
#include "tests/unit/transports/client_lab.h"

TestSuite(client_idle, .init = setup, .fini = teardown);

#define MAIL_OK OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n> 250 1\n"
#define AGAIN "!\n" HELLO MAIL_OK

/* The second message comes after the pause; whatever the host says to the
 * question, the message is delivered by the first attempt. */
static const struct idle_row {
	const char	*name;
	int64_t		 pause_ms;
	const char	*script;
	unsigned	 connections, questions;
} idle_rows[] = {
	{ "no pause", 0, MAIL_OK, 1, 0 },
	{ "a pause to be looked at", CLIENT_FRESH_MS, MAIL_OK, 1, 0 },
	{ "a pause to be asked about", CLIENT_DOUBT_MS,
	    "< NOOP\n> 250 2.0.0 here\n" MAIL_OK, 1, 1 },
	{ "asked, not a word for word answer", CLIENT_DOUBT_MS,
	    "< NOOP\n> 220 here\n" MAIL_OK, 1, 1 },
	{ "closed before", CLIENT_DOUBT_MS, AGAIN, 2, 0 },
	{ "closed then", CLIENT_DOUBT_MS, "< NOOP\n" AGAIN, 2, 1 },
	{ "closing", CLIENT_DOUBT_MS,
	    "< NOOP\n> 421 4.4.2 idle too long\n" AGAIN, 2, 1 },
	{ "said before that it closes", CLIENT_DOUBT_MS,
	    "> 421 4.4.2 idle too long\n~\n" AGAIN, 2, 0 },
	{ "not known", CLIENT_DOUBT_MS, "< NOOP\n> 500 5.5.1 what\n~\n"
	    AGAIN, 2, 1 },
	{ "nonsense", CLIENT_DOUBT_MS, "< NOOP\n> what\n" AGAIN, 2, 1 },
};

static void
pause_for(int64_t pause_ms)
{
	client.used_at_ms = clock_steady_ms() - pause_ms;
}

/* The close of the script is on its way; the look must find it. */
static void
close_await(const struct idle_row *row)
{
	struct pollfd closing = { client.peer.fd, POLLIN, 0 };

	if (row->questions == 0 && row->connections == 2)
		cr_assert_eq(poll(&closing, 1, 60000), 1);
}

Test(client_idle, no_attempt_is_lost)
{
	for (size_t i = 0; i < sizeof(idle_rows) / sizeof(idle_rows[0]);
	    i++) {
		const struct idle_row *row = &idle_rows[i];
		struct str text = STR_INIT;

		str_addf(&text, "%s%s", HELLO MAIL_OK, row->script);
		client_init(&client, &conf, false);
		listen_to(text.buf);
		deliver(1);
		close_await(row);
		pause_for(row->pause_ms);
		deliver(1);
		end();
		cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s: %s",
		    row->name, verdicts[0].text);
		cr_expect_eq(script.connections, row->connections, "%s: %u",
		    row->name, script.connections);
		cr_expect_eq(script_heard(&script, "NOOP"), row->questions,
		    "%s", row->name);
		cr_expect_str_empty(script.wrong, "%s: %s", row->name,
		    script.wrong);
		script_release(&script);
		str_release(&text);
	}
}

/* A RSET that is owed is the question, and not said twice. */
Test(client_idle, reset_is_a_question_too)
{
	listen_to(HELLO OK_TO("MAIL") "< RCPT\n> 550 no\n"
	    OK_TO("RSET") MAIL_OK);
	deliver(1);
	cr_expect_eq(verdicts[0].kind, VERDICT_FAILED);
	pause_for(CLIENT_DOUBT_MS);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_eq(script_heard(&script, "RSET"), 1u);
	cr_expect_eq(script_heard(&script, "NOOP"), 0u);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

/* Mail for another domain of the same host asks, too. */
Test(client_idle, another_host_that_shares_it_asks)
{
	char other[80];

	listen_to(HELLO MAIL_OK "< NOOP\n" AGAIN);
	deliver(1);
	snprintf(other, sizeof(other), "inet:127.0.0.1:%u", script.port);
	job.host = slice_of(other);
	pause_for(CLIENT_DOUBT_MS);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_eq(script.connections, 2u);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}
