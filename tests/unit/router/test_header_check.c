/* test_header_check.c - what is wrong with headers, and who may touch them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "base/mem.h"
#include "router/header/headers.h"

TestSuite(header_check);

/* ---- one field ---------------------------------------------------------- */

static const struct {
	const char	*field;
	bool		 is_stranger;
	const char	*want;		/* in the reason; NULL: good */
} rows[] = {
	{ "From: a@b.test\n", true, NULL },
	{ "From: Ann <a@b.test>, c@d.test\n", true, NULL },
	{ "From: ann\n", true, "without a domain" },
	{ "From: ann\n", false, NULL },
	{ "From:\n", false, "no address" },
	{ "from: undisclosed:;\n", true, "no address" },
	{ "From: <a@b.test\n", true, ">" },
	{ "From: a@b@c.test\n", true, "" },
	{ "Sender: a@b.test, c@d.test\n", true, "more than one address" },
	{ "Sender: a@b.test\n", true, NULL },
	{ "Reply-To: (nobody)\n", true, "no address" },
	{ "To: undisclosed-recipients:;\n", true, NULL },
	{ "To: (cut\n", true, "comment" },
	{ "Cc:\n", true, NULL },
	{ "Bcc: \"a b@c.test\n", true, "\"" },
	{ "Resent-To: a@b.test\n", true, NULL },
	{ "Resent-Sender: a@b.test, c@d.test\n", true, "more than one" },
	{ "Message-ID: <1@b.test>\n", true, NULL },
	{ "Message-Id: 1@b.test\n", true, "angle brackets" },
	{ "Resent-Message-Id: none\n", true, "angle brackets" },
	{ "Date: yesterday\n", true, "day of the week" },
	{ "Resent-Date: 1 Jan 2026 25:00 +0000\n", true, "time of the day" },
	{ "In-Reply-To: your message of Monday\n", true, NULL },
	{ "Subject: (((\n", true, NULL },
	{ "X-From: <<<\n", true, NULL },
};

Test(header_check, fields)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct header_wrongs wrongs = { .count = 0 };
		struct slice rest = slice_of(rows[i].field);
		struct header_field field;
		const char *name = NULL;
		struct err err = { "" };
		bool is_broken;
		int got;

		cr_assert_eq(header_next(&rest, &field, &is_broken), 1);
		got = header_check_field(arena, &wrongs, &field,
		    rows[i].is_stranger, &name, &err);
		cr_expect_eq(got, rows[i].want == NULL ? 0 : -1, "%s: %s",
		    rows[i].field, err.text);
		if (got == 0 || rows[i].want == NULL)
			continue;
		cr_expect(strstr(err.text, rows[i].want) != NULL, "%s: %s",
		    rows[i].field, err.text);
		cr_expect(header_is(&field, name), "%s is not %s",
		    rows[i].field, name);
	}
	arena_free(&arena);
}

/* ---- whole headers ------------------------------------------------------ */

struct trial {
	struct arena	*arena;
	struct conf	*conf;
	struct headers	 headers;
	struct str	 out;
};

static void
trial_open(struct trial *t, const char *repair)
{
	struct conf_report report;

	t->arena = arena_new();
	t->conf = conf_parse("test", slice_of(arena_printf(t->arena,
	    "host mx.test\nheader-check copy\nheader-repair %s\n", repair)),
	    t->arena, &report);
	cr_assert_neq(t->conf, NULL);
	str_init(&t->out);
}

static void
trial_close(struct trial *t)
{
	str_release(&t->out);
	conf_free(&t->conf);
	arena_free(&t->arena);
}

/* NOBODY: a user's, from <>. */
enum from_where { LOCAL, USER, NOBODY, STRANGER };

/* What goes on, after our Received. */
static const char *
pass(struct trial *t, enum from_where where, const char *header)
{
	struct envelope envelope = { .id = "01jd3x8k2mc4n7",
	    .is_external = where != LOCAL };
	const char *behind;

	envelope.from.local = SLICE("ann");
	envelope.is_error = where == NOBODY;
	if (where == USER || where == NOBODY)
		envelope.user = SLICE("ann");
	str_reset(&t->out);
	headers_pass(t->arena, slice_of(header), &envelope, t->conf,
	    &t->headers, &t->out);
	behind = strchr(t->out.buf, '\n');
	while (behind != NULL && behind[1] == '\t')
		behind = strchr(behind + 1, '\n');
	cr_assert_neq(behind, NULL);
	return behind + 1;
}

#define SIGNED "DKIM-Signature: v=1; a=rsa-sha256; d=b.test; s=x;\n" \
	"\th=From : Date:\n\tMessage-Id : Subject; bh=x; b=y\n"
#define BAD "From: <a@b.test\nDate: never\nMessage-Id: none\nno field\n" \
	"Subject: x\nSubject: y\n"

/* What is signed, and what a stranger wrote, keeps its bytes whatever is
 * wrong with it and whatever the configuration allows. */
Test(header_check, signed_mail_and_strangers_keep_their_bytes)
{
	static const struct {
		enum from_where where;
		const char *header;
	} same[] = {
		{ LOCAL, SIGNED BAD }, { USER, SIGNED BAD },
		{ LOCAL, BAD SIGNED }, { STRANGER, SIGNED BAD },
		{ STRANGER, BAD },
		{ LOCAL, "ARC-Message-Signature: i=1; h=from:date:"
		    "message-id\n" BAD },
		/* a missing Date that is signed for stays missing */
		{ USER, SIGNED "From: a@b.test\n" },
		{ STRANGER, "From: a@b.test\n" },
		{ STRANGER, "Subject: nobody, never\n" },
	};
	struct trial t;

	trial_open(&t, "own");
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		const char *got = pass(&t, same[i].where, same[i].header);

		if (strstr(same[i].header, "<a@b.test") != NULL)
			cr_expect_eq(t.headers.wrongs.count, 5, "row %zu: %u",
			    i, t.headers.wrongs.count);
		cr_expect_str_eq(got, same[i].header, "row %zu: %s", i, got);
	}
	trial_close(&t);
}

Test(header_check, our_own_is_repaired_where_policy_says_so)
{
	static const struct {
		const char *repair; enum from_where where; bool want;
	} policy[] = {
		{ "none", LOCAL, false }, { "none", USER, false },
		{ "local", LOCAL, true }, { "local", USER, false },
		{ "own", LOCAL, true }, { "own", USER, true },
		{ "own", STRANGER, false },
	};
	struct trial t;

	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++) {
		trial_open(&t, policy[i].repair);
		pass(&t, policy[i].where, BAD);
		for (unsigned k = 0; k < t.headers.wrongs.count; k++)
			cr_expect(t.headers.wrongs.list[k].line == 0 ||
			    t.headers.wrongs.list[k].is_repaired ==
			    policy[i].want, "row %zu", i);
		trial_close(&t);
	}
	trial_open(&t, "local");
	cr_expect(strncmp(pass(&t, LOCAL, BAD), "Illegal-Object: From found "
	    "by mx.test:\n\t", 40) == 0, "%s", t.out.buf);
	cr_expect(strstr(t.out.buf, "\n\tFrom: <a@b.test\n") != NULL);
	cr_expect(strstr(t.out.buf, "\n\tDate: never\n") != NULL);
	cr_expect(strstr(t.out.buf, "\n\tMessage-Id: none\n") != NULL);
	cr_expect(strstr(t.out.buf, "\n\tno field\nSubject: x\nIllegal-Object:"
	    " Subject found by mx.test:\n\tit is there a second time\n\t"
	    "Subject: y\n") != NULL, "%s", t.out.buf);
	cr_expect(strstr(t.out.buf, "\nFrom: ann@mx.test\n") != NULL);
	cr_expect(strstr(t.out.buf, "\nDate: ") != NULL);
	cr_expect(strstr(t.out.buf, "\nMessage-Id: <01jd3x8k2mc4n7@mx.test>\n")
	    != NULL);
	trial_close(&t);
}

/* RFC 6409 section 8: a submission server may add, a relay may not; Bcc is
 * a submission's secret (RFC 5322 section 3.6.3). */
Test(header_check, what_is_missing_and_what_is_secret)
{
	static const struct {
		enum from_where where;
		const char *header;
		bool has_date, has_from, has_msgid, has_bcc;
	} cases[] = {
		{ LOCAL, "Subject: x\nBcc: s@b.test\n", true, true, true,
		    false },
		{ USER, "Subject: x\nBcc: s@b.test\n", true, true, true,
		    false },
		{ USER, "From: a@b.test\nresent-bcc: x@c.test,\n s@b.test\n",
		    true, true, true, false },
		{ NOBODY, "Subject: x\nBcc: s@b.test\n", true, false, true,
		    false },
		{ STRANGER, "Subject: x\nBcc: s@b.test\n", false, false,
		    false, true },
		{ LOCAL, "Resent-From: a@b.test\nResent-Bcc: s@b.test\n"
		    "Resent-To: c@d.test\n", true, true, true, false },
		{ LOCAL, SIGNED "From: a@b.test\nBcc: s@b.test\n", false,
		    true, false, false },
	};
	struct trial t;

	trial_open(&t, "none");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pass(&t, cases[i].where, cases[i].header);
		cr_expect_eq(strstr(t.out.buf, "\nDate: ") != NULL,
		    cases[i].has_date, "row %zu: %s", i, t.out.buf);
		cr_expect_eq(strstr(t.out.buf, "\nFrom: ") != NULL,
		    cases[i].has_from, "row %zu: %s", i, t.out.buf);
		cr_expect_eq(strstr(t.out.buf, "\nMessage-Id: ") != NULL,
		    cases[i].has_msgid, "row %zu: %s", i, t.out.buf);
		cr_expect_eq(strstr(t.out.buf, "s@b.test") != NULL,
		    cases[i].has_bcc, "row %zu: %s", i, t.out.buf);
	}
	trial_close(&t);
}

Test(header_check, the_reason_has_no_byte_of_another_line)
{
	struct header_wrongs wrongs = { .count = 0 };
	struct arena *arena = arena_new();

	for (unsigned i = 0; i < HEADER_WRONGS_MAX + 3; i++)
		header_wrong_add(arena, &wrongs, "To", "bad '\n\xff' byte", i,
		    false);
	cr_expect_eq(wrongs.count, HEADER_WRONGS_MAX);
	cr_expect_str_eq(wrongs.list[0].reason, "bad '\?\?' byte");
	arena_free(&arena);
}

/* ---- TLS-Required ------------------------------------------------------- */

#define FIELD "TLS-Required:"

/* RFC 8689 section 5: the word No, comments around it, one field. */
Test(header_check, what_asks_for_no_policy)
{
	static const struct { const char *header; bool want; } fields[] = {
		{ FIELD " No\n", true }, { "tls-required:nO\n", true },
		{ FIELD "\n\t(a (nested \\) one))\n No (b)\n", true },
		{ FIELD "(a)No(b)\n", true },
		{ FIELD " Yes\n", false }, { FIELD " None\n", false },
		{ FIELD " No No\n", false }, { FIELD "\n", false },
		{ FIELD " N\n", false }, { FIELD " (No)\n", false },
		{ FIELD " (No\n", false }, { FIELD " (\\\n", false },
		{ FIELD " \"No\"\n", false }, { FIELD " No)\n", false },
		{ FIELD " No\n" FIELD " No\n", false },
		{ FIELD " No\n" FIELD " Yes\n", false },
		{ FIELD " Yes\n" FIELD " No\n", false },
		{ FIELD " No\n" FIELD " No\n" FIELD " No\n", false },
		{ "X-" FIELD " No\n", false }, { "Subject: x\n", false },
	};
	struct trial t;

	trial_open(&t, "none");
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		pass(&t, STRANGER, fields[i].header);
		cr_expect_eq(t.headers.is_tls_optional, fields[i].want,
		    "%s", fields[i].header);
	}
	trial_close(&t);
}

/* Comments nested a thousand deep, and the same without their ends. */
Test(header_check, deep_comments_are_walked)
{
	struct trial t;
	struct str header = STR_INIT;

	trial_open(&t, "none");
	for (int is_closed = 0; is_closed < 2; is_closed++) {
		str_reset(&header);
		str_adds(&header, FIELD " ");
		for (int i = 0; i < 1000; i++)
			str_addc(&header, '(');
		for (int i = 0; i < 1000 * is_closed; i++)
			str_addc(&header, ')');
		str_adds(&header, "No\n");
		pass(&t, STRANGER, header.buf);
		cr_expect_eq(t.headers.is_tls_optional, is_closed == 1);
	}
	str_release(&header);
	trial_close(&t);
}
