/* test_import_opensmtpd.c - smtpd.conf as statements
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tools/zmailer/import/opensmtpd/read.h"

TestSuite(import_opensmtpd);

/* Words with blanks between them, a string as 's', a table as <t>; then
 * @LINE|, or !@LINE| when something is wrong. */
static const struct {
	const char *in, *want;
} rows[] = {
	{ "", "" }, { "# nothing\n\n \t\n", "" },
	{ "listen on all\n", "listen on all@1|" },
	{ "listen on all # here\n", "listen on all@1|" },
	{ "a b \\\n  c\nd\n", "a b c@1|d@3|" },
	{ "x \"a b\" 'c'\n", "x 'a b' 'c'@1|" },
	{ "x \"a\\\"b\"\n", "x 'a\"b'@1|" },
	{ "match for domain <d> action a\n",
	    "match for domain <d> action a@1|" },
	{ "table t { a, b = c }\n", "table t { a , b = c }@1|" },
	{ "table t {\n a\n b # c\n}\nx\n", "table t { a b }@1|x@5|" },
	{ "match !from any\n", "match ! from any@1|" },
	{ "m = \"a b\"\nx $m y\n", "m = 'a b'@1|x 'a b' y@2|" },
	{ "m = a\nm = b\nx $m\n", "m = a@1|m = b@2|x b@3|" },
	{ "m = { a, b }\nx $m\n", "m = { a , b }@1|x { a , b }@2|" },
	{ "x $m\n", "x $m!@1|" },
	{ "x \"a\ny\n", "x \"a!@1|y@2|" },
	{ "x \"a\nb\" c\ny\n", "x 'ab' c@1|y@3|" },
	{ "x <a\n", "x  a!@1|" }, { "x a>\n", "x a >!@1|" },
	{ "x { a\n", "x { a!@1|" }, { "x }\ny\n", "x }!@1|y@2|" },
	{ "smtp+tls://a@b:25\n", "smtp+tls://a@b:25@1|" },
	{ "a\r\nb\r\n", "a@1|b@2|" },
};

static void
statement_add(struct str *text, const struct opensmtpd_statement *statement)
{
	for (size_t i = 0; i < statement->count; i++) {
		const struct opensmtpd_word *word = &statement->words[i];
		bool is_table = word->kind == OPENSMTPD_TABLE &&
		    word->text.n > 0;
		bool is_string = word->kind == OPENSMTPD_STRING &&
		    !slice_starts(word->text, "\"");

		str_addf(text, "%s%s" SLICE_FMT "%s", i > 0 ? " " : "",
		    is_table ? "<" : is_string ? "'" : "",
		    SLICE_ARG(word->text), is_table ? ">" : is_string ?
		    "'" : "");
	}
	str_addf(text, "%s@%u|", statement->wrong ? "!" : "",
	    statement->line);
}

Test(import_opensmtpd, statements)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct opensmtpd_reader *reader = arena_alloc(arena,
		    sizeof(*reader));
		struct opensmtpd_statement statement;
		struct str text = STR_INIT;

		*reader = (struct opensmtpd_reader){ .rest = slice_of(
		    rows[i].in) };
		while (opensmtpd_next(arena, reader, &statement))
			statement_add(&text, &statement);
		cr_expect_str_eq(text.buf, rows[i].want, "%s", rows[i].in);
		str_release(&text);
		arena_free(&arena);
	}
}

/* No prefix of a file is read beyond its end. */
Test(import_opensmtpd, prefixes)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t n = 0; n < strlen(rows[i].in); n++) {
			struct arena *arena = arena_new();
			struct opensmtpd_reader *reader = arena_alloc(arena,
			    sizeof(*reader));
			struct opensmtpd_statement statement;
			size_t count = 0;

			*reader = (struct opensmtpd_reader){ .rest =
			    slice_copy(arena, (struct slice){ rows[i].in,
			    n }) };
			while (opensmtpd_next(arena, reader, &statement))
				count++;
			cr_expect(count <= n);
			arena_free(&arena);
		}
}
