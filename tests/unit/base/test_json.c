/* test_json.c - flat JSON objects, a line each
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "base/json.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(json, writes_one_line)
{
	static const struct slice list[] = { SLICE("a\"b"), SLICE("") };
	struct str line = STR_INIT;

	json_open(&line);
	json_text(&line, "t", SLICE("x"));
	json_number(&line, "n", -12);
	json_bool(&line, "b", true);
	json_bool(&line, "c", false);
	json_list(&line, "l", list, 2);
	json_list(&line, "e", NULL, 0);
	json_close(&line);
	cr_expect_str_eq(line.buf, "{\"t\":\"x\",\"n\":-12,\"b\":true,"
	    "\"c\":false,\"l\":[\"a\\\"b\",\"\"],\"e\":[]}\n");
	str_release(&line);
}

/* Lines one after the other in one buffer: the first member of the second
 * has no comma in front. */
Test(json, a_second_line_in_the_same_buffer)
{
	struct str line = STR_INIT;

	for (int i = 0; i < 2; i++) {
		json_open(&line);
		json_number(&line, "n", i);
		json_close(&line);
	}
	cr_expect_str_eq(line.buf, "{\"n\":0}\n{\"n\":1}\n");
	str_release(&line);
}

/* What goes in as valid UTF-8 comes back; the rest becomes U+FFFD. */
Test(json, round_trip)
{
	static const struct { struct slice in; struct slice want; } rows[] = {
		{ SLICE(""), SLICE("") }, { SLICE("plain"), SLICE("plain") },
		{ SLICE("\"\\/"), SLICE("\"\\/") },
		{ SLICE("\0\x01\n\r\t\x1f\x7f"),
		    SLICE("\0\x01\n\r\t\x1f\x7f") },
		{ SLICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x93\xa7"),
		    SLICE("\xc3\xa9\xe2\x82\xac\xf0\x9f\x93\xa7") },
		{ SLICE("a\xff" "b"), SLICE("a\xef\xbf\xbd" "b") },
		{ SLICE("\xc3"), SLICE("\xef\xbf\xbd") },
		{ SLICE("\xed\xa0\x80"), SLICE("\xef\xbf\xbd\xef\xbf\xbd"
		    "\xef\xbf\xbd") },
		{ SLICE("\xc2\x9b" "31m\xe2\x80\xae\xe2\x81\xa6\xc2\xa0"),
		    SLICE("\xc2\x9b" "31m\xe2\x80\xae\xe2\x81\xa6\xc2\xa0") },
		{ SLICE("{\"x\":[1,2]},"), SLICE("{\"x\":[1,2]},") },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str line = STR_INIT, value = STR_INIT;

		json_open(&line);
		json_text(&line, "first", SLICE("1"));
		json_text(&line, "key", rows[i].in);
		json_text(&line, "last", SLICE("2"));
		json_close(&line);
		cr_expect(json_get(str_slice(&line), "key", &value));
		cr_expect(slice_equal(str_slice(&value), rows[i].want),
		    "row %zu: %s", i, line.buf);
		cr_expect(json_get(str_slice(&line), "last", &value));
		cr_expect_str_eq(value.buf, "2");
		cr_expect_not(json_get(str_slice(&line), "other", &value));
		str_release(&line);
		str_release(&value);
	}
}

Test(json, control_bytes_and_quotes_never_break_the_line)
{
	struct str line = STR_INIT;
	char bytes[256];

	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	json_open(&line);
	json_text(&line, "k", (struct slice){ bytes, 256 });
	json_close(&line);
	for (size_t i = 0; i + 1 < line.len; i++)
		cr_expect_geq((unsigned char)line.buf[i], 32);
	str_release(&line);
}

Test(json, what_a_terminal_obeys_is_written_in_digits)
{
	struct str line = STR_INIT;

	json_open(&line);
	json_text(&line, "k", SLICE("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0|"
	    "\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae"
	    "\xe2\x80\xaf|\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa"));
	json_close(&line);
	cr_expect(strstr(line.buf, "\"\\u0080\\u009b\\u009f\xc2\xa0|"
	    "\xe2\x80\x8d\\u200e\xe2\x80\xa7\\u2028\\u202e\xe2\x80\xaf|"
	    "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa\""), "%s", line.buf);
	str_release(&line);
}

Test(json, reads_what_others_write)
{
	static const struct { const char *line, *want; } rows[] = {
		{ "{\"k\":\"v\"}", "v" },
		{ " { \"a\" : 1 , \"k\" : \"v\" } \n", "v" },
		{ "{\"k\":12}", "12" }, { "{\"k\":-1.5e3}", "-1.5e3" },
		{ "{\"k\":true}", "true" }, { "{\"k\":null}", "null" },
		{ "{\"k\":[\"a\",\"]\"],\"b\":1}", "[\"a\",\"]\"]" },
		{ "{\"k\": [ 1 , 2 ] }", "[ 1 , 2 ]" },
		{ "{\"k\":\"\\u0041\\u00e9\\u20ac\"}",
		    "A\xc3\xa9\xe2\x82\xac" },
		{ "{\"k\":\"\\b\\f\\n\\r\\t\\/\\\\\\\"\"}", "\b\f\n\r\t/\\\"" },
		{ "{\"k\":\"1\",\"k\":\"2\"}", "1" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str value = STR_INIT;

		cr_expect(json_get(slice_of(rows[i].line), "k", &value), "%s",
		    rows[i].line);
		cr_expect_str_eq(value.buf, rows[i].want);
		str_release(&value);
	}
}

Test(json, malformed_lines_have_no_such_key)
{
	static const char *const rows[] = {
		"", " ", "{", "{}", "[]", "x", "{k:1}", "{\"k\"", "{\"k\":",
		"{\"k\":}", "{\"k\":\"", "{\"k\":\"v", "{\"k\":\"\\",
		"{\"k\":\"\\x\"}", "{\"k\":\"\\u12\"}", "{\"k\":\"\\u12g4\"}",
		"{\"k\":[\"}", "{\"k\":]}", "{\"a\" 1,\"k\":\"v\"}",
		"{\"a\":1 \"k\":\"v\"}", "{,\"k\":\"v\"}", "\"k\":\"v\"}",
		"{\"k\":1",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str value = STR_INIT;

		cr_expect_not(json_get(slice_of(rows[i]), "k", &value), "%s",
		    rows[i]);
		cr_expect_eq(value.len, 0, "%s", rows[i]);
		str_release(&value);
	}
}

Test(json, walks_all_members)
{
	static const char *const want[] = { "a", "1", "b", "x", "c", "[]" };
	struct slice line = SLICE("{\"a\":1,\"b\":\"x\",\"c\":[]}"), key;
	struct str value = STR_INIT;
	size_t cursor = 0, i = 0;

	while (json_next(line, &cursor, &key, &value)) {
		cr_assert_lt(i, COUNT(want));
		cr_expect(slice_is(key, want[i]));
		cr_expect_str_eq(value.buf, want[i + 1]);
		i += 2;
	}
	cr_expect_eq(i, COUNT(want));
	str_release(&value);
}

Test(json, numbers_and_words_of_a_line)
{
	static const struct { const char *line; int64_t want; } rows[] = {
		{ "{\"k\":12}", 12 }, { "{\"k\":\"12\"}", 12 },
		{ "{\"k\":9223372036854775807}", INT64_MAX },
		{ "{\"k\":9223372036854775808}", 0 }, { "{\"k\":-1}", 0 },
		{ "{\"k\":1.5}", 0 }, { "{\"k\":true}", 0 }, { "{}", 0 },
		{ "{\"k\":\"1\\u00002\"}", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(json_get_number(slice_of(rows[i].line), "k"),
		    rows[i].want, "%s", rows[i].line);
	cr_expect(json_is(SLICE("{\"k\":true}"), "k", "true"));
	cr_expect(json_is(SLICE("{\"k\":\"x y\"}"), "k", "x y"));
	cr_expect_not(json_is(SLICE("{\"k\":\"true \"}"), "k", "true"));
	cr_expect_not(json_is(SLICE("{\"j\":true}"), "k", "true"));
}
