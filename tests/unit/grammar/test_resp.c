/* test_resp.c - what Redis answers
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "grammar/resp.h"

Test(resp, is_read_byte_by_byte)
{
	static const struct {
		const char	*bytes, *text;
		enum resp_answer answer;
		size_t		 used;
	} rows[] = {
		{ "$5\r\nab\r\nc\r\n+x", "ab\r\nc", RESP_VALUE, 11 },
		{ "$0\r\n\r\n", "", RESP_VALUE, 6 },
		{ "$-1\r\n", "", RESP_NIL, 5 },
		{ "+OK\r\n", "OK", RESP_VALUE, 5 },
		{ ":12\r\n", "12", RESP_VALUE, 5 },
		{ "-ERR no\r\n", "ERR no", RESP_ERROR, 9 },
		{ "*0\r\n", "", RESP_ARRAY, 4 },
		{ "*-1\r\n", "", RESP_NIL, 5 },
		{ "*3\r\n$6\r\nmaster\r\n:0\r\n*1\r\n:7\r\n+x",
		    "$6\r\nmaster\r\n:0\r\n*1\r\n:7\r\n", RESP_ARRAY, 28 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice whole = slice_of(rows[i].bytes), text;
		size_t used = 0;

		for (size_t n = 0; n < rows[i].used; n++)
			cr_expect_eq(resp_read(slice_first(whole, n), &text,
			    &used), RESP_MORE, "%zu %zu", i, n);
		cr_expect_eq(resp_read(whole, &text, &used), rows[i].answer);
		cr_expect(slice_is(text, rows[i].text), "%zu", i);
		cr_expect_eq(used, rows[i].used);
	}
}

Test(resp, is_bounded)
{
	static const char *const bad[] = { "x\r\n", "\n", "\r\n", "$5\n",
		"$x\r\n", "$-2\r\n", "$65537\r\n", "$2\r\nabc\r\n", "*1025\r\n",
		"*x\r\n", "*1\r\nx\r\n",
		"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
		"$ 1\r\n", "$99999999999999999999\r\n" };
	static char endless[2000];
	struct slice text;
	size_t used;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(resp_read(slice_of(bad[i]), &text, &used),
		    RESP_BAD, "%s", bad[i]);
	memset(endless, '1', sizeof(endless));
	endless[0] = '$';
	cr_expect_eq(resp_read((struct slice){ endless, sizeof(endless) },
	    &text, &used), RESP_BAD);
}

Test(resp, a_key_is_a_word_of_the_command)
{
	const struct slice words[] = { SLICE("GET"),
	    SLICE("a\r\n$3\r\nDEL") };
	struct str out = STR_INIT;

	resp_add_command(&out, words, 2);
	cr_expect_str_eq(out.buf,
	    "*2\r\n$3\r\nGET\r\n$10\r\na\r\n$3\r\nDEL\r\n");
	str_release(&out);
}
