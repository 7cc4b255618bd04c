/* test_import_sendmail.c - sendmail.mc as calls
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tools/zmailer/import/sendmail/read.h"

TestSuite(import_sendmail);

/* NAME(A;B)@LINE|, a text as 'LINE OF IT'@LINE|, !...@LINE| when something
 * is wrong. */
static const struct {
	const char *in, *want;
} rows[] = {
	{ "", "" }, { "# nothing\n\n \t\n", "" }, { "dnl x(`y')\n", "" },
	{ "OSTYPE(`linux')\n", "OSTYPE(linux)@1|" },
	{ "OSTYPE(linux)dnl x\nMAILER(smtp)", "OSTYPE(linux)@1|"
	    "MAILER(smtp)@2|" },
	{ "define(`a', `b')dnl\n", "define(a;b)@1|" },
	{ "define(`a',\n\n  `b')\nx()\n", "define(a;b)@1|x()@4|" },
	{ "define(`a',dnl why\n`b,c')\n", "define(a;b,c)@1|" },
	{ "f(`a `b' c')", "f(a `b' c)@1|" }, { "f(`a'b)", "f(ab)@1|" },
	{ "f(a(b,c),d)", "f(a(b,c);d)@1|" }, { "f(,)", "f(;)@1|" },
	{ "f( `a' )", "f(a )@1|" },
	{ "f(x`y')", "f(xy)@1|" },
	{ "f(`a\n", "!f()@1|" }, { "f(`a\ng(b)\n", "!f()@1|g(b)@2|" },
	{ "f(a\ng(b)\n", "!f()@1|g(b)@2|" },
	{ "f)\n", "text:f)@1|" }, { "`f'\n", "text:`f'@1|" },
	{ "LOCAL_CONFIG\nCwa b\n# x\nKc d dnl e\nMAILER(x)\n",
	    "LOCAL_CONFIG:Cwa b@2|LOCAL_CONFIG:Kc d@4|MAILER(x)@5|" },
	{ "MAILER_DEFINITIONS\nx y\n", "text:x y@2|" },
	{ "LOCAL_RULE_0\nR$* $: $(a $1)\n",
	    "LOCAL_RULE_0:R$* $: $(a $1)@2|" },
	{ "divert(-1)\nwords here\nf(x)\ndivert(0)\nmore\n",
	    "divert(-1)@1|f(x)@3|divert(0)@4|text:more@5|" },
	{ "9f(a)\n", "text:9f(a)@1|" }, { "f(a) g(b)\n", "f(a)@1|g(b)@1|" },
	{ "f(a)dnlg(b)\n", "f(a)@1|dnlg(b)@1|" },
};

static void
call_add(struct str *text, const struct sendmail_call *call)
{
	str_addf(text, "%s" SLICE_FMT "%c", call->wrong ? "!" : "",
	    SLICE_ARG(call->name), call->is_text ? ':' : '(');
	for (size_t i = 0; i < call->count && call->wrong == NULL; i++)
		str_addf(text, "%s" SLICE_FMT, i > 0 ? ";" : "",
		    SLICE_ARG(call->arguments[i]));
	str_addf(text, "%s@%u|", call->is_text ? "" : ")", call->line);
}

Test(import_sendmail, calls)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct sendmail_reader reader = { .rest = slice_of(
		    rows[i].in) };
		struct sendmail_call call;
		struct str text = STR_INIT;

		while (sendmail_next(arena, &reader, &call))
			call_add(&text, &call);
		cr_expect_str_eq(text.buf, rows[i].want, "%s", rows[i].in);
		str_release(&text);
		arena_free(&arena);
	}
}

/* No prefix of a file is read beyond its end. */
Test(import_sendmail, prefixes)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t n = 0; n < strlen(rows[i].in); n++) {
			struct arena *arena = arena_new();
			struct sendmail_reader reader = { .rest =
			    slice_copy(arena, (struct slice){ rows[i].in,
			    n }) };
			struct sendmail_call call;
			size_t count = 0;

			while (sendmail_next(arena, &reader, &call))
				count++;
			cr_expect(count <= n);
			arena_free(&arena);
		}
}

/* What is not closed costs no more than a call may be long. */
Test(import_sendmail, bounds)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct sendmail_reader reader;
	struct sendmail_call call;
	size_t count = 0;

	for (int i = 0; i < 5000; i++)
		str_adds(&text, "f(`\n");
	reader = (struct sendmail_reader){ .rest = str_slice(&text) };
	while (sendmail_next(arena, &reader, &call)) {
		cr_expect(call.wrong != NULL);
		count++;
	}
	cr_expect_eq(count, 5000);
	str_release(&text);
	arena_free(&arena);
}
