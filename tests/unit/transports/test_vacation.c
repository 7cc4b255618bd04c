/* test_vacation.c - who gets an answer, and what it says
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "transports/mailbox/vacation.h"

static const struct { const char *command; bool want; } command_rows[] = {
	{ "vacation", true }, { "/usr/bin/vacation alice", true },
	{ "vacation -a x alice", true }, { "vacations", false },
	{ "/usr/bin/vacation2", false }, { "prog vacation", false },
	{ "", false }, { "/", false },
};

Test(vacation, commands)
{
	for (size_t i = 0; i < sizeof(command_rows) /
	    sizeof(command_rows[0]); i++)
		cr_expect_eq(vacation_is(slice_of(command_rows[i].command)),
		    command_rows[i].want, "%s", command_rows[i].command);
}

static const struct {
	const char	*command;
	int		 want;
	unsigned	 days;
	size_t		 names;
} option_rows[] = {
	{ "vacation", 0, 7, 0 }, { "vacation alice", 0, 7, 0 },
	{ "vacation -t 3d alice", 0, 3, 0 }, { "vacation -t 3", 0, 3, 0 },
	{ "vacation -a al -a a@b.c alice", 0, 7, 2 },
	{ "vacation -t 0", -1, 0, 0 }, { "vacation -t", -1, 0, 0 },
	{ "vacation -x", -1, 0, 0 }, { "vacation -", -1, 0, 0 },
	{ "vacation 'open", -1, 0, 0 },
};

Test(vacation, options)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(option_rows) / sizeof(option_rows[0]);
	    i++) {
		struct vacation got;
		struct err err;
		int result = vacation_parse(arena,
		    slice_of(option_rows[i].command), &got, &err);

		cr_assert_eq(result, option_rows[i].want, "%s",
		    option_rows[i].command);
		if (result < 0)
			continue;
		cr_expect_eq(got.days, option_rows[i].days);
		cr_expect_eq(got.name_count, option_rows[i].names);
	}
	arena_free(&arena);
}

static const struct {
	const char *sender, *header;
	const char *want;		/* part of the reason; NULL: none */
} refusal_rows[] = {
	{ "a@b.c", "To: alice@me.test\n", NULL },
	{ "a@b.c", "TO: X <x@y.z>, Alice <ALICE@me.test>\n", NULL },
	{ "a@b.c", "Cc: al@other.test\n", NULL },
	{ "a@b.c", "Resent-To: alice@me.test\n", NULL },
	{ "a@b.c", "To: alice@me.test\nAuto-Submitted: no\n", NULL },
	{ "a@b.c", "To: alice@me.test\nPrecedence: first-class\n", NULL },
	{ "a@b.c", "To: alice@me.test\nX-Auto-Response-Suppress: None\n",
	    NULL },
	{ "", "To: alice@me.test\n", "no sender" },
	{ "a@b.c", "To: bob@me.test\n", "does not name" },
	{ "a@b.c", "Subject: alice@me.test\n", "does not name" },
	{ "a@b.c", "", "does not name" },
	{ "MAILER-DAEMON@b.c", "To: alice@me.test\n", "a program" },
	{ "owner-x@b.c", "To: alice@me.test\n", "a program" },
	{ "x-request@b.c", "To: alice@me.test\n", "a program" },
	{ "x-bounces@b.c", "To: alice@me.test\n", "a program" },
	{ "no-reply@b.c", "To: alice@me.test\n", "a program" },
	{ "a@b.c", "To: alice@me.test\nAuto-Submitted: auto-replied\n",
	    "submitted by a program" },
	{ "a@b.c", "auto-submitted: auto-generated; x\nTo: alice@me.test\n",
	    "submitted by a program" },
	{ "a@b.c", "To: alice@me.test\nPrecedence: Bulk\n", "bulk" },
	{ "a@b.c", "To: alice@me.test\nPrecedence: junk\n", "bulk" },
	{ "a@b.c", "To: alice@me.test\nList-Id: <x.y>\n", "mailing list" },
	{ "a@b.c", "To: alice@me.test\nlist-unsubscribe: x\n",
	    "mailing list" },
	{ "a@b.c", "To: alice@me.test\nX-Auto-Response-Suppress: OOF\n",
	    "wants no answers" },
	{ "a@b.c", "To: alice@me.test\nX-Spam-Flag: YES\n", "spam" },
	{ "a@b.c", "To: alice@me.test\nContent-Type: multipart/report; x=y\n",
	    "report" },
};

Test(vacation, who_gets_an_answer)
{
	const struct slice own[] = { SLICE("alice@me.test"), SLICE("al") };
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(refusal_rows) /
	    sizeof(refusal_rows[0]); i++) {
		const char *got = vacation_refusal(arena,
		    slice_of(refusal_rows[i].sender),
		    slice_of(refusal_rows[i].header), own, 2);

		if (refusal_rows[i].want == NULL)
			cr_expect_null(got, "row %zu: %s", i, got);
		else
			cr_expect(got != NULL && strstr(got,
			    refusal_rows[i].want), "row %zu: %s", i, got);
	}
	arena_free(&arena);
}

Test(vacation, the_last_answer)
{
	struct slice memory = SLICE("100 a@b.c\n200 A@B.C\nx a@b.c\n"
	    "300 z@b.c\n400 a@b.c.d\n");

	cr_expect_eq(vacation_last(memory, SLICE("a@b.c")), 200);
	cr_expect_eq(vacation_last(memory, SLICE("q@b.c")), 0);
	cr_expect_eq(vacation_last(SLICE(""), SLICE("q@b.c")), 0);
}

Test(vacation, what_still_counts)
{
	struct str kept = STR_INIT;

	vacation_since(SLICE("100 a@b.c\n200 z@b.c\nx a@b.c\n\n300 c@b.c\n"
	    "40"), 150, &kept);
	cr_expect_str_eq(kept.buf, "200 z@b.c\n300 c@b.c\n");
	str_release(&kept);
}

static const struct { const char *message, *header, *body; } answer_rows[] = {
	{ "I am away.\n", "From: <alice@me.test>\nTo: <a@b.c>\n"
	    "Subject: Auto: lunch today\nIn-Reply-To: <1@b.c>\n"
	    "References: <1@b.c>\nAuto-Submitted: auto-replied (vacation)\n"
	    "Precedence: bulk\nMIME-Version: 1.0\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: 8bit\n", "I am away.\n" },
	{ "From: Alice <al@other.test>\nSubject: away (Re: $SUBJECT)\n"
	    "Bcc: spy@x.y\nPrecedence: list\n\nAbout $SUBJECT: later",
	    "To: <a@b.c>\nIn-Reply-To: <1@b.c>\nReferences: <1@b.c>\n"
	    "Auto-Submitted: auto-replied (vacation)\nPrecedence: bulk\n"
	    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: 8bit\n"
	    "From: Alice <al@other.test>\n"
	    "Subject: away (Re: lunch today)\n",
	    "About lunch today: later\n" },
	{ "", NULL, "" },
};

Test(vacation, what_it_says)
{
	for (size_t i = 0; i < sizeof(answer_rows) / sizeof(answer_rows[0]);
	    i++) {
		struct str header = STR_INIT, body = STR_INIT;

		vacation_answer(&header, &body,
		    slice_of(answer_rows[i].message),
		    SLICE("Message-Id: <1@b.c>\nSubject: lunch\n today\n"),
		    "alice@me.test", SLICE("a@b.c"));
		if (answer_rows[i].header != NULL)
			cr_expect_str_eq(header.buf, answer_rows[i].header);
		cr_expect_str_eq(body.buf, answer_rows[i].body);
		str_release(&header);
		str_release(&body);
	}
}
