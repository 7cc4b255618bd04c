/* test_reply.c - replies of an SMTP or LMTP server
 *
 * Each row runs whole and one byte at a time.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/smtp/reply.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The first answer that is not "more", given ever longer prefixes. */
static int
parse_slowly(struct slice in, struct reply *out)
{
	int rc = 0;

	for (size_t n = 0; n <= in.n && rc == 0; n++)
		rc = reply_parse(slice_first(in, n), out, NULL);
	return rc;
}

Test(reply, parses)
{
	static const struct {
		struct slice	 in;
		int		 rc, code;
		const char	*status, *text;
		size_t		 bytes;
	} rows[] = {
		{ SLICE("250 ok\r\n"), 1, 250, "", "250 ok", 8 },
		{ SLICE("250 ok\r\n354"), 1, 250, "", "250 ok", 8 },
		{ SLICE("250\r\n"), 1, 250, "", "250", 5 },
		{ SLICE("250 \r\n"), 1, 250, "", "250", 6 },
		{ SLICE("250 ok\n"), 1, 250, "", "250 ok", 7 },
		{ SLICE("250-a\r\n250 b\r\n"), 1, 250, "", "250 a b", 14 },
		{ SLICE("250-a\n250-\n250\n"), 1, 250, "", "250 a", 15 },
		{ SLICE("550 5.1.1 no\r\n"), 1, 550, "5.1.1", "550 5.1.1 no",
		    14 },
		{ SLICE("421-4.3.2 x\r\n421 4.3.2 y\r\n"), 1, 421, "4.3.2",
		    "421 4.3.2 x 4.3.2 y", 26 },
		{ SLICE("550 4.1.1 x\r\n"), 1, 550, "", "550 4.1.1 x", 13 },
		{ SLICE("550 5.1.1\r\n"), 1, 550, "5.1.1", "550 5.1.1", 11 },
		{ SLICE("550 5.1.1x\r\n"), 1, 550, "", "550 5.1.1x", 12 },
		{ SLICE("550 5.1.1111 x\r\n"), 1, 550, "", "550 5.1.1111 x",
		    16 },
		{ SLICE("550 5..1 x\r\n"), 1, 550, "", "550 5..1 x", 12 },
		{ SLICE("550 5.1\r\n"), 1, 550, "", "550 5.1", 9 },
		{ SLICE("250 a\0b\r\n"), 1, 250, "", "250 a\\x00b", 9 },
		{ SLICE("250 a\rb\x1b\r\n"), 1, 250, "", "250 a\\x0Db\\x1B",
		    10 },
		{ SLICE("250 \xc3\xa9\xff\r\n"), 1, 250, "",
		    "250 \xc3\xa9\\xFF", 9 },
		{ SLICE("250 a\\b\tc\r\n"), 1, 250, "", "250 a\\b\\x09c", 11 },
		{ SLICE(""), 0, 0, "", "", 0 },
		{ SLICE("2"), 0, 0, "", "", 0 },
		{ SLICE("250 ok"), 0, 0, "", "", 0 },
		{ SLICE("250 ok\r"), 0, 0, "", "", 0 },
		{ SLICE("250-ok\r\n"), 0, 0, "", "", 0 },
		{ SLICE("250-ok\r\n251 x\r\n"), -1, 0, "", "", 0 },
		{ SLICE("\r\n"), -1, 0, "", "", 0 },
		{ SLICE("25\r\n"), -1, 0, "", "", 0 },
		{ SLICE("150 x\r\n"), -1, 0, "", "", 0 },
		{ SLICE("650 x\r\n"), -1, 0, "", "", 0 },
		{ SLICE("2a0 x\r\n"), -1, 0, "", "", 0 },
		{ SLICE("250x\r\n"), -1, 0, "", "", 0 },
		{ SLICE("250\tx\r\n"), -1, 0, "", "", 0 },
		{ SLICE("SSH-2.0-x\r\n"), -1, 0, "", "", 0 },
		{ SLICE("250-a\r\nb\r\n"), -1, 0, "", "", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reply whole, slow;
		struct str text = STR_INIT;

		cr_expect_eq(reply_parse(rows[i].in, &whole, NULL),
		    rows[i].rc, "row %zu", i);
		cr_expect_eq(parse_slowly(rows[i].in, &slow), rows[i].rc,
		    "row %zu", i);
		if (rows[i].rc != 1)
			continue;
		cr_expect_eq(whole.code, rows[i].code, "row %zu", i);
		cr_expect_str_eq(whole.status, rows[i].status, "row %zu", i);
		cr_expect_eq(whole.bytes, rows[i].bytes, "row %zu", i);
		reply_add_text(&text, &whole);
		cr_expect_str_eq(text.buf, rows[i].text, "row %zu", i);
		cr_expect_eq(slow.code, whole.code);
		cr_expect_eq(slow.bytes, whole.bytes);
		cr_expect(slice_equal(slow.text, whole.text));
		str_release(&text);
	}
}

static void
add_times(struct str *out, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		str_adds(out, text);
}

Test(reply, limits)
{
	static const struct {
		const char	*line;
		size_t		 lines;
		size_t		 text;	/* bytes of the last line's text */
		bool		 has_end;
		int		 want;
		const char	*words;
	} rows[] = {
		{ "250-x\r\n", 99, 1, true, 1, "" },
		{ "250-x\r\n", 100, 1, true, -1, "more than 100 lines" },
		{ "250-x\r\n", 100, 0, false, -1, "more than 100 lines" },
		{ "", 0, 2042, true, 1, "" },
		{ "", 0, 2043, true, -1, "longer than 2048" },
		{ "", 0, 2044, false, -1, "longer than 2048" },
		{ "", 0, 2043, false, 0, "" },
		{ "", 0, 1000000, false, -1, "longer than 2048" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str in = STR_INIT;
		struct err err = { "" };
		struct reply reply;

		add_times(&in, rows[i].line, rows[i].lines);
		if (rows[i].text > 0)
			str_adds(&in, "250 ");
		add_times(&in, "x", rows[i].text);
		str_adds(&in, rows[i].has_end ? "\r\n" : "");
		cr_expect_eq(reply_parse(str_slice(&in), &reply, &err),
		    rows[i].want, "row %zu: %s", i, err.text);
		cr_expect_not_null(strstr(err.text, rows[i].words),
		    "row %zu: %s", i, err.text);
		str_release(&in);
	}
}

Test(reply, limit_of_the_whole)
{
	struct str in = STR_INIT, line = STR_INIT;
	struct err err = { "" };
	struct reply reply;

	str_adds(&line, "250-");
	add_times(&line, "x", 1000);
	str_adds(&line, "\r\n");
	add_times(&in, line.buf, 16);
	str_adds(&in, "250 ");
	add_times(&in, "x", 200);
	str_adds(&in, "\r\n");
	cr_expect_eq(reply_parse(str_slice(&in), &reply, NULL), REPLY_DONE);
	str_reset(&in);
	add_times(&in, line.buf, 17);
	cr_expect_eq(reply_parse(str_slice(&in), &reply, &err), REPLY_BAD);
	cr_expect_not_null(strstr(err.text, "longer than 16384"));
	str_release(&in);
	str_release(&line);
}

Test(reply, lines)
{
	static const char *const want[] = { "mx.example", "SIZE 10", "", "X" };
	struct reply reply;
	struct slice text;
	size_t cursor = 0, i = 0;

	cr_assert_eq(reply_parse(SLICE("250-mx.example\r\n250-SIZE 10\n"
	    "250-\r\n250 X\r\n"), &reply, NULL), REPLY_DONE);
	while (reply_line(&reply, &cursor, &text)) {
		cr_assert_lt(i, COUNT(want));
		cr_expect(slice_is(text, want[i]), "line %zu", i);
		i++;
	}
	cr_expect_eq(i, COUNT(want));
}

/* Cut at 500, never inside an escape or a character. */
Test(reply, text_is_cut)
{
	static const struct { const char *unit; size_t want; } rows[] = {
		{ "x", 500 }, { "\x01", 500 }, { "\xc3\xa9", 500 },
		{ "\xe2\x82\xac", 499 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str in = STR_INIT, text = STR_INIT;
		struct reply reply;

		str_adds(&in, "250 ");
		add_times(&in, rows[i].unit, 600);
		str_adds(&in, "\r\n");
		cr_assert_eq(reply_parse(str_slice(&in), &reply, NULL),
		    REPLY_DONE);
		reply_add_text(&text, &reply);
		cr_expect_eq(text.len, rows[i].want, "row %zu %zu", i,
		    text.len);
		str_release(&in);
		str_release(&text);
	}
}

Test(reply, status)
{
	static const struct {
		int		 code;
		const char	*text, *want;
	} rows[] = {
		{ 550, "5.7.1 no", "5.7.1" }, { 550, "no", "5.0.0" },
		{ 450, "", "4.0.0" }, { 250, "2.0.0 ok", "2.0.0" },
		{ 250, "ok", "2.0.0" }, { 450, "5.1.1 x", "4.0.0" },
		{ 550, "5.123.456 x", "5.123.456" }, { 354, "go", "4.0.0" },
		{ 354, "3.0.0 go", "4.0.0" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char status[12];

		reply_status(rows[i].code, slice_of(rows[i].text), status);
		cr_expect_str_eq(status, rows[i].want);
	}
}
