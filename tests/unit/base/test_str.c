/* test_str.c - slices and strings
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

#include "base/str.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct slice nothing = { NULL, 0 };

Test(slice, compares)
{
	cr_expect(slice_equal(SLICE("a"), slice_of("a")));
	cr_expect_not(slice_equal(SLICE("a"), SLICE("A")));
	cr_expect_not(slice_equal(SLICE("a"), SLICE("ab")));
	cr_expect(slice_equal(nothing, SLICE("")));
	cr_expect(slice_equal(slice_of(NULL), nothing));
	cr_expect(slice_equal_nocase(SLICE("aZ[@"), SLICE("Az[@")));
	cr_expect_not(slice_equal_nocase(SLICE("["), SLICE("{")));
	cr_expect_not(slice_equal_nocase(SLICE("\xc3\x89"), SLICE("\xc3\xa9")));
	cr_expect(slice_is(SLICE("a"), "a"));
	cr_expect_not(slice_is(SLICE("a\0b"), "a"));
	cr_expect(slice_is_nocase(SLICE("Ab"), "aB"));
	cr_expect(slice_starts(SLICE("abc"), "ab"));
	cr_expect(slice_starts(nothing, ""));
	cr_expect_not(slice_starts(SLICE("a"), "ab"));
	cr_expect(slice_ends(SLICE("abc"), "bc"));
	cr_expect_not(slice_ends(SLICE("c"), "bc"));
}

Test(slice, parts_never_reach_outside)
{
	struct slice s = SLICE("abc");

	cr_expect(slice_is(slice_from(s, 1), "bc"));
	cr_expect(slice_is(slice_from(s, 3), ""));
	cr_expect(slice_is(slice_from(s, 99), ""));
	cr_expect(slice_is(slice_first(s, 2), "ab"));
	cr_expect(slice_is(slice_first(s, 99), "abc"));
	cr_expect_null(slice_from(nothing, 5).p);
	cr_expect_eq(slice_find(s, 'c'), 2);
	cr_expect_eq(slice_find(s, 'x'), 3);
	cr_expect_eq(slice_find(nothing, 'x'), 0);
	cr_expect_eq(slice_find_text(s, SLICE("bc")), 1);
	cr_expect_eq(slice_find_text(s, SLICE("bcd")), 3);
	cr_expect_eq(slice_find_text(nothing, SLICE("x")), 0);
}

Test(slice, trims_blanks_and_line_ends)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "", "" }, { " ", "" }, { "\t\r\n a b \r\n", "a b" },
		{ "a", "a" }, { "\va", "\va" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect(slice_is(slice_trim(slice_of(rows[i].in)),
		    rows[i].want));
}

Test(slice, utf8_by_the_table_of_rfc_3629)
{
	static const struct { struct slice in; size_t want; } rows[] = {
		{ SLICE(""), 0 }, { SLICE("a"), 0 }, { SLICE("\xc3\xa9"), 2 },
		{ SLICE("\xc3\xa9\xc3"), 2 }, { SLICE("\xe2\x82\xac"), 3 },
		{ SLICE("\xf0\x9f\x93\xa7"), 4 },
		{ SLICE("\xf4\x8f\xbf\xbf"), 4 }, { SLICE("\xc3"), 0 },
		{ SLICE("\xc3("), 0 }, { SLICE("\xe2\x82"), 0 },
		{ SLICE("\xe2\x82("), 0 }, { SLICE("\xf0\x9f\x93"), 0 },
		{ SLICE("\xc0\x80"), 0 }, { SLICE("\xc1\xbf"), 0 },
		{ SLICE("\xe0\x80\x80"), 0 }, { SLICE("\xed\xa0\x80"), 0 },
		{ SLICE("\xf0\x80\x80\x80"), 0 },
		{ SLICE("\xf4\x90\x80\x80"), 0 }, { SLICE("\xff\xff"), 0 },
		{ SLICE("\x80\x80"), 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(slice_utf8(rows[i].in), rows[i].want, "row %zu",
		    i);
}

Test(slice, cut_gives_every_piece)
{
	static const struct { const char *in; size_t count; const char *want[3];
	} rows[] = {
		{ "a,,b", 3, { "a", "", "b" } }, { "", 1, { "" } },
		{ "a,", 2, { "a", "" } }, { ",", 2, { "", "" } },
		{ "ab", 1, { "ab" } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slice rest = slice_of(rows[i].in), head;

		for (size_t k = 0; k < rows[i].count; k++) {
			cr_assert(slice_cut(&rest, ',', &head));
			cr_expect(slice_is(head, rows[i].want[k]));
		}
		cr_expect_not(slice_cut(&rest, ',', &head));
	}
}

Test(slice, words)
{
	struct slice rest = SLICE("  one\ttwo  three "), word;

	cr_expect(slice_word(&rest, &word) && slice_is(word, "one"));
	cr_expect(slice_word(&rest, &word) && slice_is(word, "two"));
	cr_expect(slice_word(&rest, &word) && slice_is(word, "three"));
	cr_expect_not(slice_word(&rest, &word));
}

Test(slice, number_refuses_what_is_none)
{
	static const struct {
		const char	*in;
		bool		 ok;
		uint64_t	 want;
	} rows[] = {
		{ "0", true, 0 }, { "42", true, 42 }, { "100", true, 100 },
		{ "101", false, 0 }, { "", false, 0 }, { "-1", false, 0 },
		{ "+1", false, 0 }, { " 1", false, 0 }, { "1x", false, 0 },
		{ "18446744073709551616", false, 0 }, { "0007", true, 7 },
	};
	uint64_t value = 0;

	for (size_t i = 0; i < COUNT(rows); i++) {
		value = 0;
		cr_expect_eq(slice_number(slice_of(rows[i].in), 0, 100,
		    &value), rows[i].ok, "%s", rows[i].in);
		cr_expect_eq(value, rows[i].want);
	}
	cr_expect_not(slice_number(SLICE("4"), 5, 9, &value));
	cr_expect(slice_number(SLICE("18446744073709551615"), 0, UINT64_MAX,
	    &value));
	cr_expect_eq(value, UINT64_MAX);
}

Test(slice, decimal_is_what_number_reads)
{
	static const uint64_t rows[] = { 0, 1, 9, 10, 4711, UINT32_MAX,
	    INT64_MAX, UINT64_MAX };
	char room[DECIMAL_BYTES], want[32];

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(want, sizeof(want), "%ju", (uintmax_t)rows[i]);
		cr_expect(slice_is(slice_decimal(rows[i], room), want), "%s",
		    want);
	}
}

Test(slice, blank_line_is_found_with_its_end)
{
	static const struct { const char *in; size_t want; } rows[] = {
		{ "", 0 }, { "\n", 0 }, { "\n\n", 0 }, { "a", 1 },
		{ "a\n", 2 }, { "a\n\n", 2 }, { "a\n\nb\n\n", 2 },
		{ "a\nbc\n\nd", 5 }, { "a\nbc\n \n", 7 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(slice_find_blank_line(slice_of(rows[i].in)),
		    rows[i].want, "%s", rows[i].in);
	cr_expect_eq(slice_find_blank_line(nothing), 0);
}

Test(slice, copies)
{
	struct arena *arena = arena_new();

	cr_expect_str_eq(slice_dup(arena, SLICE("ab")), "ab");
	cr_expect_str_eq(slice_dup(arena, nothing), "");
	cr_expect(slice_is(slice_copy(arena, SLICE("aB")), "aB"));
	cr_expect(slice_is(slice_lower(arena, SLICE("aB[\xc3\x89")),
	    "ab[\xc3\x89"));
	arena_free(&arena);
}

Test(str, grows_and_stays_terminated)
{
	struct str s = STR_INIT;

	cr_expect_str_eq(s.buf, "");
	for (size_t i = 0; i < 10000; i++) {
		str_addc(&s, 'x');
		cr_assert_eq(s.buf[s.len], '\0');
	}
	cr_expect_eq(s.len, 10000);
	str_reset(&s);
	cr_expect_str_eq(s.buf, "");
	str_adds(&s, "abc");
	str_add(&s, NULL, 0);
	str_add_slice(&s, SLICE("def"));
	str_addf(&s, "%d", 7);
	cr_expect_str_eq(s.buf, "abcdef7");
	str_truncate(&s, 99);
	cr_expect_str_eq(s.buf, "abcdef7");
	str_truncate(&s, 6);
	cr_expect_str_eq(s.buf, "abcdef");
	str_adds(&s, "7");
	str_consume(&s, 3);
	cr_expect_str_eq(s.buf, "def7");
	str_consume(&s, 99);
	cr_expect_str_eq(s.buf, "");
	str_release(&s);
	str_release(&s);
	cr_expect_eq(s.len, 0);
}

Test(str, long_formats)
{
	struct str s = STR_INIT;

	str_addf(&s, "%5000d|", 1);
	cr_expect_eq(s.len, 5001);
	cr_expect_str_eq(s.buf + 4999, "1|");
	str_release(&s);
}

Test(str, room_nobody_bounded_is_a_panic, .signal = SIGABRT)
{
	struct str s = STR_INIT;

	str_room(&s, SIZE_MAX / 2);
}

Test(str, escaped_text_is_one_safe_line)
{
	struct str s = STR_INIT;

	str_add_escaped(&s, SLICE("a\\b\n\0\x1b\x7f\xc3~ "));
	cr_expect_str_eq(s.buf, "a\\\\b\\x0A\\x00\\x1B\\x7F\\xC3~ ");
	str_release(&s);
}
