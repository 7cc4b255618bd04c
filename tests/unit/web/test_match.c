/* test_match.c - which words the process that orders takes from the other
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "web/ask/wire.h"
#include "web/orders/match.h"

/* role 0: no row; words with blanks, "_" is a blank in one. */
static const struct {
	const char	*words;
	enum role	 role;
	enum match_help	 help;
	int		 id_at, selector_at;
} rows[] = {
	{ "list --json --limit 50", ROLE_LOOK, MATCH_NARROW, -1, -1 },
	{ "list --json --limit 50 -- all", ROLE_LOOK, MATCH_NARROW, -1, 5 },
	{ "list --json --limit 50 --after 361a -- to:x_or_y", ROLE_LOOK,
	    MATCH_NARROW, 5, 7 },
	{ "list --json --limit 50 --after 361a", ROLE_LOOK, MATCH_NARROW, 5,
	    -1 },
	{ "list --json --limit 50 --", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "list --json --limit 51", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "list --json", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "list --json --limit 50 all", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "list --json --limit 50 -- a b", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "list --json --limit 50 --after --x", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "show -- 361a", ROLE_LOOK, MATCH_FIRST, 2, -1 },
	{ "show -- a/b", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "show --raw -- 361a", ROLE_LOOK, MATCH_FIRST, 3, -1 },
	{ "show --raw 361a", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "hold --yes -- id:a", ROLE_ACT, MATCH_NARROW, -1, 3 },
	{ "hold --dry-run --reason --yes -- id:a", ROLE_ACT, MATCH_NARROW,
	    -1, 5 },
	{ "hold --yes|--dry-run -- id:a", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "hold|release --yes -- id:a", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "hold -- id:a", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "release --yes --allow -- id:a", ROLE_ACT, MATCH_ALONE, -1, 4 },
	{ "release --yes -- id:a", ROLE_ACT, MATCH_NARROW, -1, 3 },
	{ "delete --yes -- id:a", ROLE_ACT, MATCH_ALONE, -1, 3 },
	{ "limit dest --yes -- h 4 6/1m", ROLE_ADMINISTER, MATCH_ALONE, -1,
	    -1 },
	{ "limit dest --yes -- h", ROLE_ADMINISTER, MATCH_ALONE, -1, -1 },
	{ "limit dest --yes -- h 4 6/1m x", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "drain --timeout 1s --yes --", ROLE_ADMINISTER, MATCH_ALONE, -1, -1 },
	{ "drain --timeout 1s --yes", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "config diff -- 12", ROLE_LOOK, MATCH_ALONE, -1, -1 },
	{ "config diff -- x", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "config set -- x", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "events --json -n 2000 -- all", ROLE_LOOK, MATCH_ALONE, -1, 5 },
	{ "events --json -n 2000 -- all -f", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "search list --json", ROLE_LOOK, MATCH_OWN, -1, -1 },
	{ "search save -- my_own all", ROLE_LOOK, MATCH_OWN, -1, 4 },
	{ "search save -- all", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "search save -- a all more", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "search remove -- --json", ROLE_LOOK, MATCH_OWN, -1, -1 },
	{ "search remove a", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "stop", ROLE_NONE, MATCH_ALONE, 0, 0 },
	{ "[", ROLE_NONE, MATCH_ALONE, 0, 0 },
};

static void
words_cut(struct arena *arena, const char *text,
    const char *words[QUESTION_WORDS_MAX])
{
	struct slice rest = slice_of(text), word;
	size_t n = 0;

	while (slice_word(&rest, &word)) {
		char *one = slice_dup(arena, word);

		for (char *p = one; *p != '\0'; p++)
			if (*p == '_')
				*p = ' ';
		words[n++] = one;
	}
	words[n] = NULL;
}

Test(match, verbs_of_rows_and_no_others)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *words[QUESTION_WORDS_MAX];
		struct arena *arena = arena_new();
		struct match match;
		bool fits;

		words_cut(arena, rows[i].words, words);
		fits = match_verb(words, &match);
		cr_expect_eq(fits, rows[i].role != ROLE_NONE, "%s",
		    rows[i].words);
		if (fits) {
			cr_expect_eq(match.role, rows[i].role, "%s",
			    rows[i].words);
			cr_expect_eq(match.help, rows[i].help, "%s",
			    rows[i].words);
			cr_expect_eq(match.id_at, rows[i].id_at, "%s",
			    rows[i].words);
			cr_expect_eq(match.selector_at, rows[i].selector_at,
			    "%s", rows[i].words);
		}
		arena_free(&arena);
	}
}

Test(match, what_is_typed_has_bounds)
{
	static char text[MATCH_TEXT_BYTES_MAX + 2];
	const char *words[] = { "block", "--yes", "--", text, NULL };
	const char *none[] = { NULL };
	struct match match;

	memset(text, 'x', MATCH_TEXT_BYTES_MAX);
	cr_expect(match_verb(words, &match));
	text[MATCH_TEXT_BYTES_MAX] = 'x';
	cr_expect(!match_verb(words, &match));
	cr_expect(!match_verb(none, &match));
}

Test(match, requests_are_made_anew)
{
	static const struct {
		const char	*line, *want;	/* NULL: refused */
	} lines[] = {
		{ "{\"v\":1,\"op\":\"count\",\"by\":\"state\"}",
		    "{\"v\":1,\"op\":\"count\",\"by\":\"state\"" },
		{ "{\"op\":\"count\",\"select\":\"all\",\"yes\":true}",
		    "{\"v\":1,\"op\":\"count\"" },
		{ "{\"op\":\"count\",\"op\":\"delete\"}",
		    "{\"v\":1,\"op\":\"count\"" },
		{ "{\"op\":\"history\",\"span_s\":60,\"points\":\"x\"}",
		    "{\"v\":1,\"op\":\"history\",\"span_s\":60,"
		    "\"points\":0" },
		{ "{\"op\":\"why\",\"id\":\"a\\\"b\"}",
		    "{\"v\":1,\"op\":\"why\",\"id\":\"a\\\"b\"" },
		{ "{\"op\":\"delete\",\"op\":\"count\"}", NULL },
		{ "{\"op\":\"delete\"}", NULL }, { "{\"by\":\"state\"}", NULL },
		{ "", NULL }, { "op", NULL }, { "{\"op\":1}", NULL },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct str out = STR_INIT;
		struct match match;
		bool fits = match_socket(slice_of(lines[i].line), &out,
		    &match);

		cr_expect_eq(fits, lines[i].want != NULL, "%s",
		    lines[i].line);
		if (fits)
			cr_expect_str_eq(out.buf, lines[i].want);
		str_release(&out);
	}
}

Test(wire, a_call_comes_as_it_went)
{
	const char *words[] = { "ask", "", "a b\nc", "\xff", NULL };
	const char *got[WIRE_WORDS_MAX];
	struct arena *arena = arena_new();
	struct str line = STR_INIT;
	unsigned serial;

	wire_add_call(&line, 7, words);
	cr_assert_eq(wire_read_call(slice_trim(str_slice(&line)), arena,
	    &serial, got), 0);
	cr_expect_eq(serial, 7);
	for (size_t i = 0; i < 4; i++)
		cr_expect_str_eq(got[i], words[i]);
	cr_expect_null(got[4]);
	str_release(&line);
	arena_free(&arena);
}

Test(wire, what_is_no_call_is_none)
{
	static const char *const bad[] = { "", "7", "x .YQ==", "0 .YQ==",
		"7 YQ==", "7 .YQ", "7 .YQ== x", "7 .AA==", "4294967296 .YQ==",
		"-1 .YQ==", "7 . . . . . . . . . . . . . . . . . . . . ." };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *words[WIRE_WORDS_MAX];
		struct arena *arena = arena_new();
		unsigned serial;

		cr_expect_eq(wire_read_call(slice_of(bad[i]), arena, &serial,
		    words), -1, "%s", bad[i]);
		arena_free(&arena);
	}
}

Test(wire, heads_of_answers)
{
	static const struct {
		const char	*line;
		int		 want;
	} lines[] = {
		{ "7 0 0 0 0", 0 }, { "0 0 1 4194304 0", 0 },
		{ "7 0 0 4194305 0", -1 }, { "7 8 0 0 0", -1 },
		{ "7 0 2 0 0", -1 }, { "7 0 0 0", -1 }, { "7 0 0 0 0 0", -1 },
		{ "x 0 0 0 0", -1 }, { "", -1 },
	};
	struct wire_answer head;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		cr_expect_eq(wire_read_answer(slice_of(lines[i].line), &head),
		    lines[i].want, "%s", lines[i].line);
}
