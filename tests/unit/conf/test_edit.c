/* test_edit.c - statements are put in and taken out, the rest stays
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "conf/edit.h"

static struct arena *arena;

static void
setup(void)
{
	arena = arena_new();
}

static void
teardown(void)
{
	arena_free(&arena);
}

TestSuite(conf_edit, .init = setup, .fini = teardown);

/* The statement that begins with these two words; fails when none does. */
static struct conf_piece
piece_of(const struct str *text, const char *first, const char *second)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(arena, str_slice(text), &pieces);

	for (size_t i = 0; i < count; i++)
		if (conf_piece_is(&pieces[i], 0, first) &&
		    conf_piece_is(&pieces[i], 1, second))
			return pieces[i];
	cr_assert_fail("no %s %s in:\n%s", first, second, text->buf);
	return (struct conf_piece){ .words = NULL };
}

enum edit { TAKE, BEFORE, BEHIND, LAST, WORD, FIRST_OF, LAST_OF };

static const struct row {
	enum edit	 edit;
	const char	*in, *first, *second, *want;
} rows[] = {
	{ TAKE, "a 1\nb 2\nc 3\n", "b", "2", "a 1\nc 3\n" },
	{ TAKE, "a 1; b 2; c 3\n", "b", "2", "a 1;  c 3\n" },
	{ TAKE, "b 2", "b", "2", "" },
	{ TAKE, "# x\n  b 2 { c 3\n  d 4 }\nz 1\n", "b", "2",
	    "# x\nz 1\n" },
	{ TAKE, "b 2 # why\nz 1\n", "b", "2", "# why\nz 1\n" },
	{ TAKE, "b \"2\" {\n}\n", "b", "2", "" },
	{ BEFORE, "a 1\n# about b\n# more\nb 2\n", "b", "2",
	    "a 1\nNEW\n# about b\n# more\nb 2\n" },
	{ BEFORE, "b 2", "b", "2", "NEW\nb 2" },
	{ BEHIND, "a 1\nb 2 {\n c 3 }\nz 1\n", "b", "2",
	    "a 1\nb 2 {\n c 3 }\nNEW\nz 1\n" },
	{ BEHIND, "b 2", "b", "2", "b 2\nNEW\n" },
	{ LAST, "b 2", "b", "2", "b 2\nNEW\n" },
	{ LAST, "b 2\n", "b", "2", "b 2\nNEW\n" },
	{ WORD, "b 2 three\n", "b", "2", "b three\n" },
	{ WORD, "b x 2\n", "b", "x", "b 2\n" },
	{ FIRST_OF, "a 1\nb 2\nc 3\nb 4\n", "b", "2",
	    "a 1\nNEW\nb 2\nc 3\nb 4\n" },
	{ FIRST_OF, "a 1\nz 2\nb 3\n", "a", "1", "a 1\nNEW\nz 2\nb 3\n" },
	{ FIRST_OF, "a 1\n", "a", "1", "a 1\nNEW\n" },
	{ LAST_OF, "b 2\na 1\nz 3\nc 4\n", "b", "2",
	    "b 2\na 1\nz 3\nNEW\nc 4\n" },
	{ LAST_OF, "a 1", "a", "1", "a 1\nNEW\n" },
};

Test(conf_edit, an_edit_touches_its_own_bytes)
{
	static const char *const some[] = { "b", "z", NULL };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = STR_INIT;
		struct conf_piece piece;

		str_adds(&text, rows[i].in);
		piece = piece_of(&text, rows[i].first, rows[i].second);
		if (rows[i].edit == TAKE)
			conf_take_piece(&text, &piece);
		else if (rows[i].edit == BEFORE)
			conf_put_before(&text, &piece, "NEW\n");
		else if (rows[i].edit == BEHIND)
			conf_put_after(&text, &piece, "NEW\n");
		else if (rows[i].edit == LAST)
			conf_put_last(&text, "NEW\n");
		else if (rows[i].edit == FIRST_OF)
			conf_put_before_first(arena, &text, some, "NEW\n");
		else if (rows[i].edit == LAST_OF)
			conf_put_after_last(arena, &text, some, "NEW\n");
		else
			conf_take_word(&text, &piece.words[1]);
		cr_expect_str_eq(text.buf, rows[i].want, "row %zu: %s", i,
		    text.buf);
		str_release(&text);
	}
}

Test(conf_edit, a_broken_text_has_pieces_inside_of_it)
{
	static const char *const texts[] = { "", "}", "{", "a {", "a \"",
		"a } b", "a { b { c", "\x01", "<x", "A='", "a\n}\n{ b }" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct conf_piece *pieces;
		size_t n = strlen(texts[i]), count = conf_pieces(arena,
		    slice_of(texts[i]), &pieces);

		for (size_t k = 0; k < count; k++) {
			cr_expect(pieces[k].begin <= pieces[k].end);
			cr_expect(pieces[k].end <= n);
			cr_expect(pieces[k].word_count > 0);
		}
	}
}

Test(conf_edit, a_draft_stands_for_its_file)
{
	struct conf_draft drafts[] = {
		{ "/nowhere/main.conf", SLICE("include other.conf\n") },
		{ "/nowhere/other.conf", SLICE("host draft.test\n") },
	};
	struct conf_report report;
	struct conf *conf = conf_load_drafts(drafts[0].path, drafts, 2, arena,
	    &report);
	const char *sources[4];

	cr_assert_not_null(conf);
	cr_expect_str_eq(conf->host, "draft.test");
	cr_expect_eq(conf_sources(conf, sources, 4), 2);
	cr_expect_str_eq(sources[0], "/nowhere/main.conf");
	cr_expect_str_eq(sources[1], "/nowhere/other.conf");
	conf_free(&conf);
}
