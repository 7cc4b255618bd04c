/* test_header.c - the header of a message, field by field
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/message/header.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* All of it as "name=value;" then "|body", with "!" when it is broken. */
static void
show(struct str *out, struct slice message)
{
	struct slice rest = message;
	struct header_field field;
	bool is_broken;
	size_t bytes = 0;

	str_reset(out);
	while (header_next(&rest, &field, &is_broken) == 1) {
		cr_assert_not(is_broken);
		cr_assert_eq(field.whole.p, message.p + bytes);
		bytes += field.whole.n;
		cr_assert_eq(rest.p, message.p + bytes);
		str_add_slice(out, field.name);
		str_addc(out, '=');
		str_add_slice(out, field.value);
		str_addc(out, ';');
	}
	str_adds(out, is_broken ? "!" : "|");
	str_add_slice(out, rest);
	cr_expect_eq(header_bytes(message), message.n - rest.n);
}

Test(header, fields_and_body)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "", "|" }, { "\n", "|" }, { "\r\nb", "|b" },
		{ "\nbody\n", "|body\n" },
		{ "a: b\n\nc", "a= b;|c" }, { "a:b\n", "a=b;|" },
		{ "a:b", "a=b;|" }, { "a:", "a=;|" }, { "a:\n", "a=;|" },
		{ "a: b\r\nc: d\r\n\r\ne", "a= b;c= d;|e" },
		{ "a: b\n c\n\td\ne: f\n\n", "a= b\n c\n\td;e= f;|" },
		{ "a: b\n \n\nc", "a= b\n ;|c" },
		{ "a : b\n\n", "a= b;|" }, { "a\t :b\n\n", "a=b;|" },
		{ "a: b\nno field\nc: d\n", "a= b;!no field\nc: d\n" },
		{ "From x@y Mon\na: b\n", "!From x@y Mon\na: b\n" },
		{ " a: b\n", "! a: b\n" }, { ": b\n", "!: b\n" },
		{ "a", "!a" }, { "a \n: b\n", "!a \n: b\n" },
		{ "a\x01: b\n", "!a\x01: b\n" },
		{ "\xc3\xa9: b\n", "!\xc3\xa9: b\n" },
		{ "a\x7f: b\n", "!a\x7f: b\n" }, { "\r", "!\r" },
		{ "a: b\rc: d\n\n", "a= b\rc: d;|" },
		{ "a: b\n\r\nc", "a= b;|c" },
		{ "a: b\n\rc", "a= b;!\rc" },
		{ "a: b:c\n\n", "a= b:c;|" },
		{ "a:\n b\n\n", "a=\n b;|" },
	};
	struct str shown = STR_INIT;

	for (size_t i = 0; i < COUNT(rows); i++) {
		show(&shown, slice_of(rows[i].in));
		cr_expect_str_eq(shown.buf, rows[i].want, "row %zu", i);
	}
	str_release(&shown);
}

Test(header, name_without_case)
{
	struct slice rest = SLICE("subJECT : x\n");
	struct header_field field;
	bool is_broken;

	cr_assert_eq(header_next(&rest, &field, &is_broken), 1);
	cr_expect(header_is(&field, "Subject"));
	cr_expect_not(header_is(&field, "Subjec"));
	cr_expect_not(header_is(&field, "Subjects"));
}

Test(header, unfolds)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "", "" }, { " a", "a" }, { "a \n", "a" }, { "\n a", "a" },
		{ "a\n b", "a b" }, { "a\r\n\tb", "a b" },
		{ "a \r\n \t b", "a b" }, { "a  b", "a  b" },
		{ "a\n \n b", "a b" }, { "a\rb", "a\rb" },
		{ "a\t\n b\n c", "a b c" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str out = STR_INIT;

		header_add_unfolded(&out, slice_of(rows[i].in));
		cr_expect_str_eq(out.buf, rows[i].want, "row %zu", i);
		str_release(&out);
	}
}

Test(header, message_id)
{
	static const struct { const char *in, *want; } rows[] = {
		{ " <a@b>", "<a@b>" }, { "<a@b> <c@d>", "<a@b>" },
		{ "", "" }, { "a@b", "" }, { "<a@b", "" }, { "<>", "" },
		{ "<a b@c> <d@e>", "<d@e>" }, { "<<a@b>>", "<a@b>" },
		{ "x\n <a@b>", "<a@b>" }, { "<a\n@b>", "" },
		{ "<no-at>", "<no-at>" }, { "<a\x7f@b>", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slice got = header_msgid(slice_of(rows[i].in));

		cr_expect(slice_is(got, rows[i].want), "row %zu", i);
	}
}

/* Addresses as "local@domain;", "!" for each bad one. */
static void
show_addresses(struct str *out, struct arena *arena, struct slice value)
{
	struct slice rest = value;
	struct path path;
	struct err err;
	int rc;

	str_reset(out);
	while ((rc = header_address(arena, &rest, &path, &err)) !=
	    HEADER_ADDRESS_END) {
		if (rc < 0) {
			str_addc(out, '!');
			cr_expect_neq(err.text[0], '\0');
			continue;
		}
		path_add(out, &path);
		str_addc(out, ';');
	}
	cr_expect_eq(rest.n, 0);
}

Test(header, addresses)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "", "" }, { " \n ", "" }, { "a@b", "a@b;" },
		{ "a@b, c@d", "a@b;c@d;" }, { "a@b,c@d,", "a@b;c@d;" },
		{ ",, a@b ,,", "a@b;" }, { "a@b; c@d", "a@b;c@d;" },
		{ "A B <a@b>", "a@b;" }, { "<a@b>", "a@b;" },
		{ "\"B, A\" <a@b>, c@d", "a@b;c@d;" },
		{ "John Q. Public <a@b>", "a@b;" },
		{ "=?utf-8?q?J=C3=B6rg?= <a@b>", "a@b;" },
		{ "J\xc3\xb6rg <a@b>", "a@b;" }, { "J\xf6rg <a@b>", "a@b;" },
		{ "a@b (Ann, B.)", "a@b;" }, { "(x (y) \\) z) a@b", "a@b;" },
		{ "a(x)@(y)b(z).c", "a@b.c;" }, { "a . b @ c . d", "a.b@c.d;" },
		{ "a\n @\n b", "a@b;" },
		{ "\"a b\"@c", "\"a b\"@c;" }, { "\"a\\\"b\"@c",
		    "\"a\\\"b\"@c;" },
		{ "\"a\".b@c", "\"a.b\"@c;" },
		{ "\"a\\\"\".\"b\"@c", "\"a\\\".b\"@c;" },
		{ "\"a\n b\"@c", "\"a b\"@c;" },
		{ "a@[192.0.2.1]", "a@[192.0.2.1];" },
		{ "a@[IPv6:::1]", "a@[IPv6:::1];" },
		{ "<@r,@s:a@b>", "a@b;" }, { "< a@b >", "a@b;" },
		{ "x: a@b, c@d;, e@f", "a@b;c@d;e@f;" },
		{ "undisclosed-recipients:;", "" },
		{ "undisclosed-recipients: ;", "" },
		{ "\"My group\": A <a@b>;", "a@b;" },
		{ "root", "root;" }, { "root, a@b", "root;a@b;" },
		{ "Ann <root>", "root;" }, { "\xc3\xb6@b", "\xc3\xb6@b;" },
		/* bad ones, and on after the next comma */
		{ "A B, c@d", "!c@d;" }, { "<>, c@d", "!c@d;" },
		{ "A <>, c@d", "!c@d;" }, { "<a@b, c@d", "!c@d;" },
		{ "<a@b> x, c@d", "!c@d;" }, { "a@b x, c@d", "!c@d;" },
		{ "a@, c@d", "!c@d;" }, { "@a, c@d", "!c@d;" },
		{ "a.@b, c@d", "!c@d;" }, { ".a@b, c@d", "!c@d;" },
		{ "a..b@c, c@d", "!c@d;" }, { "a@b..c, c@d", "!c@d;" },
		{ "a@b., c@d", "!c@d;" }, { "a@b@c, c@d", "!c@d;" },
		{ "a@[x], c@d", "!c@d;" }, { "a@[1.2.3.4, c@d", "!c@d;" },
		{ "\\, c@d", "!" }, { "a@\xff, c@d", "!c@d;" },
		{ "a b@c, c@d", "!c@d;" }, { "a@b c@d, e@f", "!e@f;" },
		{ "\"x, y\" z@w, c@d", "!c@d;" },
		{ "<@r:>, c@d", "!c@d;" }, { "<@r a@b>, c@d", "!c@d;" },
		{ ">, c@d", "!c@d;" }, { ")", "!" },
		{ "a@b (no end, c@d", "!" }, { "\"no end, c@d", "!" },
		{ "(no end", "!" }, { "a(no end", "!" }, { "<(no end", "!" },
		{ "a@(no end", "!" }, { "<a@b(", "!" }, { "<@r:(", "!" },
		{ "a@b <c@d>, e@f", "!e@f;" }, { "<", "!" }, { "<a", "!" },
		{ "<a@b", "!" }, { "<@r", "!" }, { "<@r:", "!" },
		{ "A <", "!" }, { "a@", "!" }, { "a.", "!" },
		{ "\"a\".\"b\\\\c\"@d", "\"a.b\\\\c\"@d;" },
	};
	struct arena *arena = arena_new();
	struct str shown = STR_INIT;

	for (size_t i = 0; i < COUNT(rows); i++) {
		show_addresses(&shown, arena, slice_of(rows[i].in));
		cr_expect_str_eq(shown.buf, rows[i].want, "row %zu: %s", i,
		    rows[i].in);
	}
	str_release(&shown);
	arena_free(&arena);
}

Test(header, addresses_of_control_bytes)
{
	static const struct slice rows[] = {
		SLICE("a\0b@c"), SLICE("\0"), SLICE("a@\0"), SLICE("<\0>"),
		SLICE("a\x01@b"), SLICE("\x7f@b"), SLICE("\"\0\"@b"),
		SLICE("\"a\x01\"@b"), SLICE("a@[\0]"), SLICE("<a@b\0>"),
	};
	struct arena *arena = arena_new();
	struct str shown = STR_INIT;

	for (size_t i = 0; i < COUNT(rows); i++) {
		show_addresses(&shown, arena, rows[i]);
		cr_expect_str_eq(shown.buf, "!", "row %zu", i);
	}
	str_release(&shown);
	arena_free(&arena);
}

Test(header, a_slice_where_nothing_needs_rewriting)
{
	static const char value[] = " Ann <a@b>, \"c d\"@e";
	struct arena *arena = arena_new();
	struct slice rest = SLICE(value);
	struct path path;

	while (header_address(arena, &rest, &path, NULL) == HEADER_ADDRESS) {
		cr_expect(path.local.p > value &&
		    path.local.p < value + sizeof(value));
	}
	cr_expect_eq(arena_used_bytes(arena), 0);
	arena_free(&arena);
}

/* A header of a megabyte of any one byte costs no more than its length:
 * this ends at once or, were it quadratic, not within the test's time. */
Test(header, hostile_lists_are_linear, .timeout = 20)
{
	static const char *const patterns[] = {
		"(", ")", "\"", "<", ",", ":", ";", "@", ".", "a.", "a,",
		"\\", "((a)", "\"a\",", "<a@b>,", "a:", "(\\", "[", "a@[",
		"\n", "\n ", "a\n", "a:b\n",
	};
	struct arena *arena = arena_new();
	struct str text = STR_INIT, shown = STR_INIT;

	for (size_t i = 0; i < COUNT(patterns); i++) {
		struct header_field field;
		struct slice rest;
		bool is_broken;

		str_reset(&text);
		while (text.len < 1000000)
			str_adds(&text, patterns[i]);
		show_addresses(&shown, arena, str_slice(&text));
		header_msgid(str_slice(&text));
		str_reset(&shown);
		header_add_unfolded(&shown, str_slice(&text));
		rest = str_slice(&text);
		while (header_next(&rest, &field, &is_broken) == 1)
			;
		arena_reset(arena);
	}
	str_release(&shown);
	str_release(&text);
	arena_free(&arena);
}

/* RFC 5322 section 3.3, 4.3 */
Test(header, dates)
{
	static const struct { const char *value, *want; } dates[] = {
		{ " Fri, 20 Nov 2026 21:04:00 +0000", NULL },
		{ "20 Nov 2026 21:04 -0330", NULL },
		{ " Fri (was Thu), 1 Jan 99 1:2:3 GMT (winter\n time)", NULL },
		{ "Mon,\n 2 feb 2026 03:04:60 Z", NULL },
		{ "1 Jan 126 00:00 EST", NULL },
		{ "", "no day of the month" },
		{ "Fry, 20 Nov 2026 21:04:00 +0000", "day of the week" },
		{ "Fri 20 Nov 2026 21:04:00 +0000", "no comma" },
		{ "Fri, 32 Nov 2026 21:04:00 +0000", "day of the month" },
		{ "Fri, 20 Brumaire 2026 21:04:00 +0000", "no month" },
		{ "Fri, 20 Nov 6 21:04:00 +0000", "no year" },
		{ "Fri, 20 Nov 2026 24:04:00 +0000", "time of the day" },
		{ "Fri, 20 Nov 2026 21 +0000", "time of the day" },
		{ "Fri, 20 Nov 2026 21:04:00:00 +0000", "time of the day" },
		{ "Fri, 20 Nov 2026 21:04:00", "no time zone" },
		{ "Fri, 20 Nov 2026 21:04:00 +000", "four digits" },
		{ "Fri, 20 Nov 2026 21:04:00 +0000 CET", "after" },
		{ "Fri, 20 Nov 2026 21:04:00 (+0000", "no time zone" },
		{ "2026-11-20T21:04:00Z", "day of the month" },
	};

	for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
		struct err err = { "" };
		int got = header_date(slice_of(dates[i].value), &err);

		cr_expect_eq(got, dates[i].want == NULL ? 0 : -1, "%s: %s",
		    dates[i].value, err.text);
		if (dates[i].want != NULL)
			cr_expect(strstr(err.text, dates[i].want) != NULL,
			    "%s: %s", dates[i].value, err.text);
	}
}
