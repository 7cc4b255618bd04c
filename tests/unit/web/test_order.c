/* test_order.c - which verb an order becomes, and which it never does
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "web/orders/match.h"
#include "web/pages/pages.h"

enum { NOW_S = 1000 };

static const struct {
	const char	*form, *want;	/* words with blanks; NULL: refused */
} rows[] = {
	{ "do=hold&id=361a", "hold --dry-run -- id:361a" },
	{ "do=hold&id=361a&id=361b",
	    "hold --dry-run -- id:361a or id:361b" },
	{ "do=hold&id=361a&reason=x", "hold --dry-run -- id:361a" },
	{ "do=delete&id=361a&step=do", "delete --yes -- id:361a" },
	{ "do=delete&id=361a&step=do&reason=--to",
	    "delete --yes --reason --to -- id:361a" },
	{ "do=retry&every=1&q=to:b", "retry --dry-run -- (to:b) age>=2s" },
	{ "do=retry&every=1", "retry --dry-run -- (all) age>=2s" },
	{ "do=retry&every=1&step=do&shown=990&q=to:a+or+to:b",
	    "retry --yes -- (to:a or to:b) age>=11s" },
	{ "do=release&every=1&id=361a&q=to:x",
	    "release --dry-run -- (to:x) age>=2s" },
	{ "do=hold&every=1&q=to:a)+or+(to:b", NULL },
	{ "do=hold&every=1&q=to:a)", NULL }, { "do=hold&every=1&q=x:y", NULL },
	{ "do=hold", NULL }, { "do=hold&q=all", NULL },
	{ "do=bounce&id=361a", "bounce --dry-run -- id:361a" },
	{ "do=allow&id=361a&step=do&reason=r",
	    "release --yes --allow --reason r -- id:361a" },
	{ "do=forward&id=361a&to=x@y",
	    "forward --dry-run --to postmaster -- id:361a" },
	{ "do=forward&id=361a&to=--yes&step=do&reason=r",
	    "forward --yes --to --yes --reason r -- id:361a" },
	{ "do=note&id=361a", "note --dry-run --reason - -- id:361a" },
	{ "do=note&id=361a&reason=why&step=do",
	    "note --yes --reason why -- id:361a" },
	{ "do=note&id=361a&step=do", NULL },
	{ "do=forward&id=361a&step=do", NULL },
	{ "id=361a", NULL }, { "do=freeze&id=361a", NULL },
	{ "do=hold&id=", NULL }, { "do=hold&id=a+or+all", NULL },
	{ "do=hold&id=--yes", NULL }, { "do=hold&every=1&shown=1001", NULL },
	{ "do=hold&every=1&shown=x", NULL },
	{ "do=hold&every=2", NULL },
};

static void
order_join(const struct question *question, struct str *out)
{
	for (size_t i = 0; question->words[i] != NULL; i++)
		str_addf(out, "%s%s", i > 0 ? " " : "", question->words[i]);
}

Test(order, becomes_these_words)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct visit visit = { .arena = arena, .page = &page_order,
		    .csrf = "c", .now_s = NOW_S, .out = STR_INIT };
		struct str words = STR_INIT;
		struct match match;
		int result;

		cr_assert_eq(form_read_fields(slice_of(rows[i].form), arena,
		    &visit.form), 0);
		result = page_order.begin(&visit);
		cr_expect_eq(result, rows[i].want == NULL ? -1 : 0, "%s",
		    rows[i].form);
		if (result == 0) {
			order_join(&visit.questions[0], &words);
			cr_expect_str_eq(words.buf, rows[i].want);
			cr_expect(match_verb(visit.questions[0].words,
			    &match) && match.role == ROLE_ACT, "%s",
			    rows[i].form);
			question_release(&visit.questions[0]);
		} else {
			cr_expect_eq(visit.status, 400, "%s", rows[i].form);
		}
		str_release(&words);
		str_release(&visit.out);
		arena_free(&arena);
	}
}
