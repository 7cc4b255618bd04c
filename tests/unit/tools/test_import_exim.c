/* test_import_exim.c - exim4.conf as statements, its values
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tools/zmailer/import/exim/read.h"
#include "tools/zmailer/import/exim/text.h"

TestSuite(import_exim);

/* SECTION KIND [VERB/]NAME=VALUE@LINE|, with ! in front when it is wrong. */
static const struct {
	const char *in, *want;
} rows[] = {
	{ "", "" }, { "# nothing\n\n \t\n", "" },
	{ "a = b\n", "0o a=b@1|" }, { "a=b\n", "0o a=b@1|" },
	{ "no_a\n", "0o no_a=@1|" }, { "a b\n", "!0o a=b@1|" },
	{ "hide a = b\n", "0o a=b@1|" },
	{ "a = b\\\n  c \\\n# not this\n d\ne = f\n",
	    "0o a=bc d@1|0o e=f@5|" },
	{ "a = b\\\n", "0o a=b@1|" }, { "\\\n", "" },
	{ "\\\n\nx\n", "0o x=@3|" },
	{ "domainlist x = y : z\n", "0l domainlist/x=y : z@1|" },
	{ "A = b\nx = A\n", "0m A=b@1|0o x=b@2|" },
	{ "A = b\nAB = c\nx = AB\n", "0m A=b@1|0m AB=c@2|0o x=bB@3|" },
	{ "A = b\nA == c\nx = A A\n", "0m A=b@1|0m A=c@2|0o x=c c@3|" },
	{ ".ifdef A\nx\n.else\ny\n.endif\nz\n",
	    "0b .ifdef=A@1|0o y=@4|0o z=@6|" },
	{ "A = 1\n.ifdef A\nx\n.else\ny\n.endif\n",
	    "0m A=1@1|0o x=@3|0b .else=@4|" },
	{ "A = 1\n  .ifndef A\nx\n.elifdef A\ny\n.elifdef A\nz\n.endif\n",
	    "0m A=1@1|0b .ifndef=A@2|0o y=@5|0b .elifdef=A@6|" },
	{ ".ifdef _HAVE_TLS\nx\n.endif\n", "0o x=@2|" },
	{ ".ifdef B\n.ifdef C\nx\n.endif\n.endif\ny\n",
	    "0b .ifdef=B@1|0o y=@6|" },
	{ ".endif\n", "!0b .endif=@1|" },
	{ ".include /x\n", "0i .include=/x@1|" },
	{ "begin acl\nc:\n deny\n  !verify = sender\naccept hosts = :\n",
	    "0g begin=acl@1|1d c=@2|1c deny/=@3|1c !verify=sender@4|"
	    "1c accept/hosts=:@5|" },
	{ "begin routers\nr:\n driver = x\n no_more\nbegin retry\n* * F,1h\n",
	    "0g begin=routers@1|2d r=@2|2o driver=x@3|2o no_more=@4|"
	    "2g begin=retry@5|4r *=* F,1h@6|" },
	{ "begin rewrite\n\"a b\" c d\n", "0g begin=rewrite@1|"
	    "5r \"a b\"=c d@2|" },
	{ "begin magic\nx y\n", "0g begin=magic@1|7r x=y@2|" },
};

static void
statement_add(struct str *text, const struct exim4_statement *said)
{
	static const char kinds[] = "oldrcmgib";

	str_addf(text, "%s%d%c " SLICE_FMT "%s" SLICE_FMT "=" SLICE_FMT
	    "@%u|", said->wrong ? "!" : "", (int)said->section,
	    kinds[said->kind], SLICE_ARG(said->verb), said->verb.n > 0 ?
	    "/" : "", SLICE_ARG(said->name), SLICE_ARG(said->value),
	    said->line);
}

Test(import_exim, statements)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct exim4_reader *reader = arena_alloc(arena,
		    sizeof(*reader));
		struct exim4_statement said;
		struct str text = STR_INIT;

		*reader = (struct exim4_reader){ .rest = slice_of(
		    rows[i].in) };
		while (exim4_next(arena, reader, &said))
			statement_add(&text, &said);
		cr_expect_str_eq(text.buf, rows[i].want, "%s: %s",
		    rows[i].in, text.buf);
		str_release(&text);
		arena_free(&arena);
	}
}

/* No prefix of a file is read beyond its end. */
Test(import_exim, prefixes)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t n = 0; n < strlen(rows[i].in); n++) {
			struct arena *arena = arena_new();
			struct exim4_reader *reader = arena_alloc(arena,
			    sizeof(*reader));
			struct exim4_statement said;
			size_t count = 0;

			*reader = (struct exim4_reader){ .rest = slice_copy(
			    arena, (struct slice){ rows[i].in, n }) };
			while (exim4_next(arena, reader, &said))
				count++;
			cr_expect(count <= n);
			arena_free(&arena);
		}
}

/* A macro that doubles each time ends somewhere. */
Test(import_exim, doubling)
{
	struct arena *arena = arena_new();
	struct exim4_reader *reader = arena_alloc(arena, sizeof(*reader));
	struct exim4_statement said;
	struct str text = STR_INIT;
	bool is_wrong = false;

	str_adds(&text, "A_ = 0123456789\n");
	for (char c = 'B'; c <= 'Z'; c++)
		str_addf(&text, "%c_ = %c_%c_%c_%c_\n", c, c - 1, c - 1,
		    c - 1, c - 1);
	*reader = (struct exim4_reader){ .rest = str_slice(&text) };
	while (exim4_next(arena, reader, &said))
		is_wrong |= said.wrong != NULL;
	cr_expect(is_wrong);
	cr_expect(reader->made_bytes < 2 * EXIM4_MADE_BYTES_MAX);
	str_release(&text);
	arena_free(&arena);
}

static const struct { const char *in, *want; } lists[] = {
	{ "", "" }, { ":", "[]" }, { "a", "[a]" }, { "a:b", "[a][b]" },
	{ " a : b : ", "[a][b]" }, { "a::b:c", "[a:b][c]" },
	{ "<; a;b:c ; d", "[a][b:c][d]" }, { "<;", "" },
	{ "::::1 : b", "[::1][b]" }, { "${x:y}:z", "[${x:y}][z]" },
};

Test(import_exim, lists)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct arena *arena = arena_new();
		struct str text = STR_INIT;
		struct exim4_list list;
		struct slice item;

		exim4_list_begin(slice_of(lists[i].in), &list);
		while (exim4_list_next(arena, &list, &item))
			str_addf(&text, "[" SLICE_FMT "]", SLICE_ARG(item));
		cr_expect_str_eq(text.buf, lists[i].want, "%s: %s",
		    lists[i].in, text.buf);
		str_release(&text);
		arena_free(&arena);
	}
}

/* TYPE KEY PLACE FOUND, or "-". */
static const struct { const char *in, *want; } lookups[] = {
	{ "x", "-" }, { "${lookup", "-" }, { "${lookup{a}", "-" },
	{ "${lookup{$local_part}lsearch{/x}}", "lsearch $local_part /x "
	    "$value" },
	{ "${lookup{${lc:$local_part}}lsearch*@{/x}{$value}fail}",
	    "lsearch $local_part /x $value *@" },
	{ "${lookup {$local_part_data} partial-lsearch {/x} {a} {b}}",
	    "lsearch $local_part /x a partial" },
	{ "${lookup mysql{SELECT a}}", "mysql  SELECT a $value" },
	{ "${lookup{a}lsearch{/x}} more", "-" },
};

Test(import_exim, lookups)
{
	for (size_t i = 0; i < sizeof(lookups) / sizeof(lookups[0]); i++) {
		struct arena *arena = arena_new();
		struct exim4_lookup lookup;
		const char *got = "-";

		if (exim4_lookup_cut(arena, slice_of(lookups[i].in),
		    &lookup))
			got = arena_printf(arena, SLICE_FMT " " SLICE_FMT " "
			    SLICE_FMT " " SLICE_FMT "%s%s", SLICE_ARG(
			    lookup.type), SLICE_ARG(lookup.key), SLICE_ARG(
			    lookup.place), SLICE_ARG(lookup.found),
			    lookup.is_star_at ? " *@" : "",
			    lookup.is_partial ? " partial" : "");
		cr_expect_str_eq(got, lookups[i].want, "%s: %s",
		    lookups[i].in, got);
		arena_free(&arena);
	}
}

static bool
file_is_yes(void *context, struct slice path)
{
	(void)context;
	return slice_is(path, "/yes");
}

static const struct { const char *in, *want; } folds[] = {
	{ "", "" }, { "a", "a" }, { "${if exists{/yes}{a}{b}}", "a" },
	{ "x ${if exists{/no}{a}{b}} y", "x b y" },
	{ "${if exists{/no}{a}fail}", "" },
	{ "${if exists{/yes}{${if exists{/no}{a}{b}}}{c}}", "b" },
	{ "${if exists{$home/x}{a}{b}}", "${if exists{$home/x}{a}{b}}" },
	{ "${if exists{/yes", "${if exists{/yes" },
};

Test(import_exim, folds)
{
	for (size_t i = 0; i < sizeof(folds) / sizeof(folds[0]); i++) {
		struct arena *arena = arena_new();
		struct slice got = exim4_fold(arena, slice_of(folds[i].in),
		    file_is_yes, NULL);

		cr_expect(slice_is(got, folds[i].want), "%s: " SLICE_FMT,
		    folds[i].in, SLICE_ARG(got));
		arena_free(&arena);
	}
}
