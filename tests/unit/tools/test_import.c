/* test_import.c - the files of Postfix as rows
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tools/zmailer/import/read.h"

TestSuite(import);

/* Settings as "NAME=VALUE@LINE|", those that are none as "!NAME@LINE|". */
static const struct {
	const char *in, *want;
} mains[] = {
	{ "", "" },
	{ "# nothing\n\n  \t\n", "" },
	{ "a = b\n", "a=b@1|" },
	{ "a=b", "a=b@1|" },
	{ "a =\n", "a=@1|" },
	{ "a = b = c\n", "a=b = c@1|" },
	{ "\n# c\na = b\n  c\n\td\nx = y\n", "a=b c d@3|x=y@6|" },
	{ "a = b\n# between\n\n  c\n", "a=b c@1|" },
	{ "a = b\n  # between\n  c\n", "a=b c@1|" },
	{ "a = b\r\nc = d\r\n", "a=b@1|c=d@2|" },
	{ "a\n = b\n", "a=b@1|" },
	{ " a = b\n", "a=b@1|" },
	{ "a\n", "!a@1|" },
	{ "= b\n", "!@1|" },
	{ "a b = c\n", "!a b@1|" },
};

Test(import, main_cf)
{
	for (size_t i = 0; i < sizeof(mains) / sizeof(mains[0]); i++) {
		struct arena *arena = arena_new();
		struct import_settings got;
		struct str text = STR_INIT;

		import_read_main(arena, slice_of(mains[i].in), &got);
		for (size_t k = 0; k < got.count; k++) {
			str_addf(&text, "%s" SLICE_FMT, got.rows[k].wrong ?
			    "!" : "", SLICE_ARG(got.rows[k].name));
			if (got.rows[k].wrong == NULL)
				str_addf(&text, "=" SLICE_FMT,
				    SLICE_ARG(got.rows[k].value));
			str_addf(&text, "@%u|", got.rows[k].line);
		}
		cr_expect_str_eq(text.buf, mains[i].want, "%s", mains[i].in);
		str_release(&text);
		arena_free(&arena);
	}
}

Test(import, master_cf)
{
	static const char in[] = "smtp inet n - y - - smtpd\n"
	    "relay unix - - y - - smtp\n  -o a=b\n  -o { c = d e }\n"
	    "short unix - -\n";
	struct arena *arena = arena_new();
	struct import_services got;
	struct slice rest, word;

	import_read_master(arena, slice_of(in), &got);
	cr_assert_eq(got.count, 3);
	cr_expect(slice_is(got.rows[0].command, "smtpd"));
	cr_expect_eq(got.rows[0].arguments.n, 0);
	cr_expect(slice_is(got.rows[1].type, "unix"));
	cr_expect_eq(got.rows[1].line, 2);
	rest = got.rows[1].arguments;
	cr_expect(import_word_next(&rest, &word) && slice_is(word, "-o"));
	cr_expect(import_word_next(&rest, &word) && slice_is(word, "a=b"));
	cr_expect(import_word_next(&rest, &word) && slice_is(word, "-o"));
	cr_expect(import_word_next(&rest, &word) && slice_is(word, "c = d e"));
	cr_expect_not(import_word_next(&rest, &word));
	cr_expect_not_null(got.rows[2].wrong);
	cr_expect_eq(got.rows[2].line, 5);
	arena_free(&arena);
}

Test(import, table)
{
	static const char in[] = "# aliases and others\n"
	    "root: a,\n  b\n\"two words\": c\nd\te  f\nlone\n";
	static const char *const want[][2] = { { "root", "a, b" },
		{ "\"two words\"", "c" }, { "d", "e  f" }, { "lone", "" } };
	struct arena *arena = arena_new();
	struct import_entries got;

	import_read_table(arena, slice_of(in), &got);
	cr_assert_eq(got.count, 4);
	for (size_t i = 0; i < got.count; i++) {
		cr_expect(slice_is(got.rows[i].key, want[i][0]), "%zu", i);
		cr_expect(slice_is(got.rows[i].value, want[i][1]), "%zu", i);
	}
	cr_expect_eq(got.rows[1].line, 4);
	arena_free(&arena);
}

static bool
lookup(void *context, struct slice name, struct slice *out_value)
{
	static const struct { const char *name, *value; } rows[] = {
		{ "a", "1" }, { "b", "$a$a" }, { "empty", "" },
		{ "self", "x$self" }, { "left", "$right" },
		{ "right", "${left}" },
	};

	(void)context;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(name, rows[i].name)) {
			*out_value = slice_of(rows[i].value);
			return true;
		}
	return false;
}

static const struct {
	const char *in, *want;		/* NULL: an error */
} expansions[] = {
	{ "", "" }, { "x", "x" }, { "$a", "1" }, { "${a}", "1" },
	{ "$(a)", "1" }, { "$b!", "11!" }, { "$none", "" }, { "$$a", "$a" },
	{ "5$", "5$" }, { "$ a", "$ a" }, { "$a.$a", "1.1" },
	{ "${a?yes}", "yes" }, { "${empty?yes}", "" }, { "${empty:no}", "no" },
	{ "${a:no}", "" }, { "${a?{$b}:{no}}", "11" },
	{ "${none?{yes}:{no $a}}", "no 1" }, { "${a?{}}", "" },
	{ "${a?${b?${a}}}", "1" },
	{ "${a", NULL }, { "$(a", NULL }, { "${}", NULL },
	{ "${{a} == {b} ? {c} : {d}}", NULL },
	{ "$self", NULL }, { "$left", NULL },
};

Test(import, expand)
{
	for (size_t i = 0; i < sizeof(expansions) / sizeof(expansions[0]);
	    i++) {
		struct arena *arena = arena_new();
		struct slice out;
		struct err err;
		int result = import_expand(arena, slice_of(expansions[i].in),
		    lookup, NULL, &out, &err);

		cr_expect_eq(result, expansions[i].want == NULL ? -1 : 0,
		    "%s", expansions[i].in);
		if (result == 0 && expansions[i].want != NULL)
			cr_expect(slice_is(out, expansions[i].want),
			    "%s: " SLICE_FMT, expansions[i].in,
			    SLICE_ARG(out));
		arena_free(&arena);
	}
}
