/* test_client_bounds.c - how much a transaction takes, and peers that lie
 * about it or never end
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "tests/unit/transports/client_lab.h"

TestSuite(client_bounds, .init = setup, .fini = teardown);

/* RFC 5321 section 4.5.3.1.8 asks for 100; the 1,001st goes into another. */
Test(client_bounds, a_transaction_has_1000_recipients)
{
	struct str text = STR_INIT;

	str_adds(&text, PIPE_HELLO);
	transaction_add(&text, 1000, 0);
	transaction_add(&text, 1, 1);
	listen_to(text.buf);
	deliver(1001);
	end();
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_str_eq(verdicts[0].text, "250 part 0");
	cr_expect_str_eq(verdicts[999].text, "250 part 0");
	cr_expect_str_eq(verdicts[1000].text, "250 part 1");
	script_release(&script);
	str_release(&text);
}

/* The message has 18 bytes.  RFC 1870 section 4: 0 is no limit; what is no
 * number is none either; 19 is enough, 17 is too little, 1000 may be a lie
 * that RCPT, DATA or the dot tells: the words are the peer's, and the code
 * decides. */
static const struct {
	const char	*says, *rest;
	enum verdict_kind kind;
	const char	*status, *words;
} size_rows[] = {
#define TAKEN OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n> 250 ok\n"
	{ "SIZE 0", TAKEN, VERDICT_DELIVERED, "2.0.0", "250 ok" },
	{ "SIZE", TAKEN, VERDICT_DELIVERED, "2.0.0", "250 ok" },
	{ "SIZE -5", TAKEN, VERDICT_DELIVERED, "2.0.0", "250 ok" },
	{ "SIZE lots", TAKEN, VERDICT_DELIVERED, "2.0.0", "250 ok" },
	{ "SIZE 99999999999999999999999", TAKEN, VERDICT_DELIVERED, "2.0.0",
	    "250 ok" },
	{ "SIZE 19", TAKEN, VERDICT_DELIVERED, "2.0.0", "250 ok" },
	{ "SIZE 17", "< QUIT\n", VERDICT_FAILED, "5.3.4", "" },
	{ "SIZE 1000", "< MAIL\n> 552 5.3.4 too big\n", VERDICT_FAILED,
	    "5.3.4", "552 5.3.4 too big" },
	{ "SIZE 1000", "< MAIL\n> 452 4.3.1 no room\n", VERDICT_DEFERRED,
	    "4.3.1", "452 4.3.1 no room" },
	{ "SIZE 1000", OK_TO("MAIL") "< RCPT\n> 552 5.2.3 too big\n",
	    VERDICT_FAILED, "5.2.3", "552 5.2.3 too big" },
	{ "SIZE 1000", OK_TO("MAIL") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 552 5.3.4 too big after all\n",
	    VERDICT_FAILED, "5.3.4", "552 5.3.4 too big after all" },
};

Test(client_bounds, a_size_that_is_a_lie)
{
	for (size_t i = 0; i < sizeof(size_rows) / sizeof(size_rows[0]);
	    i++) {
		struct str text = STR_INIT;

		str_addf(&text, "> 220 x\n< EHLO\n> 250-x\n> 250 %s\n%s",
		    size_rows[i].says, size_rows[i].rest);
		client_init(&client, &conf, false);
		listen_to(text.buf);
		deliver(1);
		end();
		cr_expect_eq(verdicts[0].kind, size_rows[i].kind, "%s: %s",
		    size_rows[i].says, verdicts[0].text);
		cr_expect_str_eq(verdicts[0].status, size_rows[i].status,
		    "%s", size_rows[i].says);
		cr_expect(slice_starts(slice_of(verdicts[0].text),
		    size_rows[i].words), "%s: %s", size_rows[i].says,
		    verdicts[0].text);
		cr_expect_str_empty(script.wrong, "%s: %s",
		    size_rows[i].says, script.wrong);
		script_release(&script);
		str_release(&text);
	}
}

/* Called when the connection stands: the job's time is over. */
static void
on_opened(void *context, const struct smtp_client *opened)
{
	client.until_ms = clock_steady_ms() - 1;
}

/* However long each answer may take, and although this one would come. */
Test(client_bounds, a_job_has_an_end)
{
	client.opened = on_opened;
	listen_to(HELLO OK_TO("MAIL") "~\n");
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_str_eq(verdicts[0].text,
	    "timed out while waiting for the reply to MAIL");
	cr_expect_eq(client_wait_ms(&client, 1000), 0);
	client.until_ms = 0;
	cr_expect_eq(client_wait_ms(&client, 1000), 1000);
	script_release(&script);
}

/* A reply of 1,000 good lines, and never a last one: given up after
 * REPLY_LINES_MAX, while the peer still speaks. */
static const struct { const char *before, *line, *words; } endless_rows[] = {
	{ "", "220-and\n", "the greeting" },
	{ "> 220 x\n< EHLO\n", "250-X\n", "the reply to EHLO" },
	{ HELLO "< MAIL\n", "250-X\n", "the reply to MAIL" },
	{ HELLO OK_TO("MAIL") "< RCPT\n", "550-X\n", "the reply to RCPT" },
	{ HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n", "354-X\n",
	    "the reply to DATA" },
	{ HELLO OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n",
	    "250-X\n", "after end of data" },
};

Test(client_bounds, a_reply_without_an_end)
{
	for (size_t i = 0; i < sizeof(endless_rows) /
	    sizeof(endless_rows[0]); i++) {
		struct str text = STR_INIT;

		str_adds(&text, endless_rows[i].before);
		for (int k = 0; k < 1000; k++)
			str_addf(&text, "> %s", endless_rows[i].line);
		str_adds(&text, "~\n");
		client_init(&client, &conf, false);
		listen_to(text.buf);
		deliver(1);
		end();
		cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED, "%s",
		    endless_rows[i].words);
		cr_expect_str_eq(verdicts[0].status, "4.4.2");
		cr_expect(strstr(verdicts[0].text, endless_rows[i].words),
		    "%s", verdicts[0].text);
		cr_expect_null(strstr(verdicts[0].text, "timed out"), "%s",
		    verdicts[0].text);
		script_release(&script);
		str_release(&text);
	}
}
