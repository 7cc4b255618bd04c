/* test_path.c - the addresses of an SMTP envelope
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/smtp/path.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BARE PATH_BARE_OK

Test(path, reads_what_the_grammar_allows)
{
	static const struct {
		const char	*in;
		unsigned	 flags;
		const char	*local, *domain, *rest;
	} rows[] = {
		{ "<a@b.c>", 0, "a", "b.c", "" },
		{ "<a@b.c> SIZE=1", 0, "a", "b.c", " SIZE=1" },
		{ "<a@b.c>junk", 0, "a", "b.c", "junk" },
		{ "<a@b>>", 0, "a", "b", ">" },
		{ "<>", PATH_NULL_OK, "", "", "" },
		{ "<> RET=HDRS", PATH_NULL_OK, "", "", " RET=HDRS" },
		{ "", PATH_NULL_OK | BARE, "", "", "" },
		{ "<@r1:a@b.c>", 0, "a", "b.c", "" },
		{ "<@r1,@r2.org,@[192.0.2.1]:a@b.c>", 0, "a", "b.c", "" },
		{ "<\"a b\"@c>", 0, "\"a b\"", "c", "" },
		{ "<\"a\\\"b\"@c>", 0, "\"a\\\"b\"", "c", "" },
		{ "<\"a\\@b\"@c>", 0, "\"a\\@b\"", "c", "" },
		{ "<\"a>b\"@c>", 0, "\"a>b\"", "c", "" },
		{ "<\"\"@c>", 0, "\"\"", "c", "" },
		{ "<\"\\\\\"@c>", 0, "\"\\\\\"", "c", "" },
		{ "<a%b@c>", 0, "a%b", "c", "" },
		{ "<a!b@c>", 0, "a!b", "c", "" },
		{ "<|prog@d>", 0, "|prog", "d", "" },
		{ "</tmp/x@d>", 0, "/tmp/x", "d", "" },
		{ "<-froot@d>", 0, "-froot", "d", "" },
		{ "<user+tag@d>", 0, "user+tag", "d", "" },
		{ "<a@[192.0.2.1]>", 0, "a", "[192.0.2.1]", "" },
		{ "<a@[IPv6:::1]>", 0, "a", "[IPv6:::1]", "" },
		{ "<a@[ipv6:2001:db8::1]>", 0, "a", "[ipv6:2001:db8::1]", "" },
		{ "<a@b_c.d>", 0, "a", "b_c.d", "" },
		{ "<a@1.2.3.4>", 0, "a", "1.2.3.4", "" },
		{ "<postmaster>", PATH_POSTMASTER_OK, "postmaster", "", "" },
		{ "<PostMaster>", PATH_POSTMASTER_OK, "PostMaster", "", "" },
		{ "<root>", PATH_LOCAL_OK, "root", "", "" },
		{ "root", PATH_LOCAL_OK | BARE, "root", "", "" },
		{ "a@b, c@d", BARE, "a", "b", ", c@d" },
		{ "<a@b>, c@d", BARE, "a", "b", ", c@d" },
		{ "@r:a@b", BARE, "a", "b", "" },
		{ "<\xc3\xa9@\xc3\xa9.org>", PATH_UTF8, "\xc3\xa9",
		    "\xc3\xa9.org", "" },
		{ "<\"\\\\\xc3\xa9\"@c>", PATH_UTF8, "\"\\\\\xc3\xa9\"", "c",
		    "" },
		{ "<\xf0\x9f\x93\xa7@b>", PATH_UTF8, "\xf0\x9f\x93\xa7", "b",
		    "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { "" };
		struct slice rest;
		struct path path;

		cr_expect_eq(path_parse(slice_of(rows[i].in), rows[i].flags,
		    &path, &rest, &err), 0, "%s: %s", rows[i].in, err.text);
		cr_expect(slice_is(path.local, rows[i].local), "%s",
		    rows[i].in);
		cr_expect(slice_is(path.domain, rows[i].domain), "%s",
		    rows[i].in);
		cr_expect(slice_is(rest, rows[i].rest), "%s", rows[i].in);
	}
}

Test(path, refuses_the_rest_and_says_why)
{
	static const struct {
		struct slice	 in;
		unsigned	 flags;
		const char	*words;
	} rows[] = {
		{ SLICE("a@b.c"), 0, "must stand in < >" },
		{ SLICE(""), 0, "must stand in < >" },
		{ SLICE(""), BARE, "ends in the local part" },
		{ SLICE("<>"), 0, "<> is not an address" },
		{ SLICE("<>"), BARE, "<> is not an address" },
		{ SLICE("<a@b"), 0, "no > at its end" },
		{ SLICE("<a"), PATH_LOCAL_OK, "no > at its end" },
		{ SLICE("<a"), 0, "needs a domain" },
		{ SLICE("<a>"), 0, "needs a domain" },
		{ SLICE("<a>"), PATH_POSTMASTER_OK, "needs a domain" },
		{ SLICE("<<a@b>>"), 0, "unexpected '<'" },
		{ SLICE("< a@b>"), 0, "blank or control" },
		{ SLICE("<a@b >"), 0, "blank or control" },
		{ SLICE("<a @b>"), 0, "blank or control" },
		{ SLICE("<a\tb@c>"), 0, "blank or control" },
		{ SLICE("<a\0b@c>"), 0, "blank or control" },
		{ SLICE("<a\x7f@c>"), 0, "blank or control" },
		{ SLICE("<\"a\rb\"@c>"), 0, "blank or control" },
		{ SLICE("<\"a\tb\"@c>"), 0, "blank or control" },
		{ SLICE("<\"a\\\nb\"@c>"), 0, "blank or control" },
		{ SLICE("<\"ab@c>"), 0, "has no end" },
		{ SLICE("<\"ab\\"), 0, "has no end" },
		{ SLICE("<\"a\"b@c>"), 0, "unexpected 'b'" },
		{ SLICE("<a\"b\"@c>"), 0, "unexpected '\"'" },
		{ SLICE("<.a@b>"), 0, "dot at an end" },
		{ SLICE("<a.@b>"), 0, "dot at the end of the local" },
		{ SLICE("<a."), 0, "dot at the end of the local" },
		{ SLICE("<a.>"), 0, "dot at the end of the local" },
		{ SLICE("<a..b@c>"), 0, "two dots" },
		{ SLICE("<a@>"), 0, "unexpected '>' in the domain" },
		{ SLICE("<a@"), 0, "ends in the domain" },
		{ SLICE("<@b>"), 0, "no ':' after it" },
		{ SLICE("<@b,c:d@e>"), 0, "@ before each host" },
		{ SLICE("<@b:>"), 0, "unexpected '>'" },
		{ SLICE("<a@b@c>"), 0, "unexpected '@'" },
		{ SLICE("<a@.b>"), 0, "empty label" },
		{ SLICE("<a@b..c>"), 0, "empty label" },
		{ SLICE("<a@b.>"), 0, "dot at the end of the domain" },
		{ SLICE("<a@-b>"), 0, "hyphen" },
		{ SLICE("<a@b-.c>"), 0, "hyphen" },
		{ SLICE("<a@b/c>"), 0, "unexpected '/'" },
		{ SLICE("<a@[1.2.3]>"), 0, "not an address literal" },
		{ SLICE("<a@[1.2.3.999]>"), 0, "not an address literal" },
		{ SLICE("<a@[x:y]>"), 0, "not an address literal" },
		{ SLICE("<a@[]>"), 0, "not an address literal" },
		{ SLICE("<a@[1.2.3.4\0]>"), 0, "not an address literal" },
		{ SLICE("<a@[1.2.3.4>"), 0, "has no ]" },
		{ SLICE("<a@[1.2.3.4]b>"), 0, "unexpected 'b'" },
		{ SLICE("<\xc3\xa9@b>"), 0, "needs SMTPUTF8" },
		{ SLICE("<a\xc3\xa9@b>"), 0, "needs SMTPUTF8" },
		{ SLICE("<a@b\xc3\xa9>"), 0, "needs SMTPUTF8" },
		{ SLICE("<\"\xc3\xa9\"@b>"), 0, "needs SMTPUTF8" },
		{ SLICE("<\xff@b>"), PATH_UTF8, "not valid UTF-8" },
		{ SLICE("<\xc0\x80@b>"), PATH_UTF8, "not valid UTF-8" },
		{ SLICE("<a\xed\xa0\x80@b>"), PATH_UTF8, "not valid UTF-8" },
		{ SLICE("<a@b\xc3>"), PATH_UTF8, "not valid UTF-8" },
		{ SLICE("<\"\\\xc3\xa9\"@b>"), PATH_UTF8, "not valid UTF-8" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { "" };
		struct slice rest;
		struct path path;

		cr_expect_eq(path_parse(rows[i].in, rows[i].flags, &path,
		    &rest, &err), -1, "%s", rows[i].in.p);
		cr_expect_not_null(strstr(err.text, rows[i].words), "%s: %s",
		    rows[i].in.p, err.text);
	}
}

/* n times c, then tail. */
static struct slice
long_text(struct str *out, const char *head, char c, size_t n,
    const char *tail)
{
	str_reset(out);
	str_adds(out, head);
	for (size_t i = 0; i < n; i++)
		str_addc(out, c);
	str_adds(out, tail);
	return str_slice(out);
}

Test(path, has_limits)
{
	static const struct {
		const char	*head;
		size_t		 n;
		const char	*tail;
		int		 want;
	} rows[] = {
		{ "<", 64, "@b.c>", 0 }, { "<", 65, "@b.c>", 0 },
		{ "<", 252, "@b>", 0 }, { "<", 253, "@b>", -1 },
		{ "<a@", 63, ">", 0 }, { "<a@", 64, ">", -1 },
		{ "<a@b.", 63, ".c>", 0 }, { "<a@b.", 64, ".c>", -1 },
	};
	struct str text = STR_INIT;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slice rest;
		struct path path;

		cr_expect_eq(path_parse(long_text(&text, rows[i].head, 'x',
		    rows[i].n, rows[i].tail), 0, &path, &rest, NULL),
		    rows[i].want, "%s %zu", rows[i].head, rows[i].n);
	}
	str_release(&text);
}

Test(path, domain_alone)
{
	static const struct { struct slice in; int want; } rows[] = {
		{ SLICE("mail.example.org"), 0 }, { SLICE("a"), 0 },
		{ SLICE("[127.0.0.1]"), 0 }, { SLICE("[IPv6:::1]"), 0 },
		{ SLICE("a_b.example"), 0 }, { SLICE("[999.1.1.1]"), -1 },
		{ SLICE(""), -1 }, { SLICE("a b"), -1 }, { SLICE("a."), -1 },
		{ SLICE("a\0"), -1 }, { SLICE("a\t"), -1 },
		{ SLICE("\xc3\xa9.org"), -1 }, { SLICE("[1.2.3.4]x"), -1 },
		{ SLICE("["), -1 }, { SLICE("a@b"), -1 },
	};
	struct str text = STR_INIT;

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(domain_parse(rows[i].in, NULL), rows[i].want,
		    "%s", rows[i].in.p);
	for (size_t i = 0; i < 127; i++)
		str_adds(&text, "a.");
	str_addc(&text, 'a');
	cr_expect_eq(domain_parse(str_slice(&text), NULL), 0);
	str_addc(&text, 'a');
	cr_expect_eq(domain_parse(str_slice(&text), NULL), -1);
	str_release(&text);
}

static struct path
path_of(const char *text)
{
	struct slice rest;
	struct path path;

	cr_assert_eq(path_parse(slice_of(text), PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_NULL_OK, &path, &rest, NULL), 0, "%s", text);
	return path;
}

Test(path, equal_as_mailboxes)
{
	static const struct { const char *a, *b; bool want; } rows[] = {
		{ "a@b", "a@B", true }, { "a@b", "A@b", false },
		{ "\"a\"@b", "a@b", true }, { "\"\\a\"@b", "a@b", true },
		{ "\"a b\"@c", "\"a\\ b\"@c", true },
		{ "\"\"@c", "\"\"@c", true }, { "\"\"@c", "<>", false },
		{ "<>", "<>", true }, { "<>", "a", false },
		{ "a", "a", true },
		{ "a", "a@b", false }, { "ab@c", "a@c", false },
		{ "a@c", "ab@c", false }, { "\"a\\\\\"@c", "\"a\"@c", false },
		{ "\"\\\"\"@c", "\"\\\"\"@c", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct path a = path_of(rows[i].a), b = path_of(rows[i].b);

		cr_expect_eq(path_equal(&a, &b), rows[i].want, "%s %s",
		    rows[i].a, rows[i].b);
	}
}

Test(path, plain_local_part)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "a@b", "a" }, { "\"a b\"@c", "a b" }, { "\"\"@c", "" },
		{ "\"a\\\"b\"@c", "a\"b" }, { "\"\\\\\"@c", "\\" },
		{ "<>", "" }, { "x", "x" },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct path path = path_of(rows[i].in);

		cr_expect(slice_is(path_local_plain(arena, &path),
		    rows[i].want), "%s", rows[i].in);
	}
	arena_free(&arena);
}

Test(path, written_and_read_back)
{
	static const char *const rows[] = {
		"a@b.c", "\"a b\"@c", "root", "", "a@[192.0.2.1]",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct path path = path_of(rows[i]);
		struct str text = STR_INIT;

		path_add(&text, &path);
		cr_expect_str_eq(text.buf, rows[i]);
		cr_expect_eq(path_is_null(&path), *rows[i] == '\0');
		str_release(&text);
	}
}

/* A question without a sender has no bytes at all. */
Test(path, no_bytes)
{
	const struct slice nothing = { NULL, 0 };
	struct slice rest;
	struct path path;
	struct err err;

	cr_expect_eq(path_parse(nothing, PATH_NULL_OK | PATH_BARE_OK, &path,
	    &rest, &err), 0, "%s", err.text);
	cr_expect(path_is_null(&path));
	cr_expect_eq(rest.n, 0);
	cr_expect_eq(path_parse(nothing, 0, &path, &rest, &err), -1);
	cr_expect_eq(domain_parse(nothing, &err), -1);
}
