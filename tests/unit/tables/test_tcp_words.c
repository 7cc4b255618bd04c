/* test_tcp_words.c - what servers of tcp tables are asked and answer
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tables/engine/tcp_words.h"

Test(tables_tcp_words, keys_are_one_word)
{
	struct str out = STR_INIT;

	tcp_words_ask(&out, SLICE("a b%@v.test\nget c"));
	cr_expect_str_eq(out.buf, "get a%20b%25@v.test%0aget%20c\n");
	str_release(&out);
}

Test(tables_tcp_words, answers)
{
	static const struct {
		const char		*line, *text;
		enum engine_answer	 answer;
	} rows[] = {
		{ "200 bob@v.test", "bob@v.test", ENGINE_FOUND },
		{ "200 a%2c%20b", "a, b", ENGINE_FOUND },
		{ "200 ", "", ENGINE_FOUND },
		{ "500 no", "", ENGINE_NONE },
		{ "400 later", "it says 400 later", ENGINE_TROUBLE },
		{ "", "none of", ENGINE_TROUBLE },
		{ "200", "none of", ENGINE_TROUBLE },
		{ "200x", "none of", ENGINE_TROUBLE },
		{ "300 a", "none of", ENGINE_TROUBLE },
		{ "200 a%2", "none of", ENGINE_TROUBLE },
		{ "200 a%2g", "none of", ENGINE_TROUBLE },
		{ "500 %", "none of", ENGINE_TROUBLE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = STR_INIT;
		struct err err = { "" };

		cr_expect_eq(tcp_words_read(slice_of(rows[i].line), &out,
		    &err), rows[i].answer, "%s", rows[i].line);
		cr_expect_not_null(strstr(rows[i].answer == ENGINE_TROUBLE ?
		    err.text : out.buf, rows[i].text), "%s: %s",
		    rows[i].line, err.text);
		str_release(&out);
	}
}
