/* test_change.c - which verb a change becomes, and which it never does
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "web/orders/match.h"
#include "web/pages/pages.h"

/* want: words with blanks; "{": a question to the scheduler begins so; NULL:
 * refused. */
static const struct {
	const char	*form, *want;
} rows[] = {
	{ "do=block&whom=@x", "block --dry-run -- @x" },
	{ "do=block&whom=--yes&for=1h&reason=r",
	    "block --dry-run --for 1h -- --yes" },
	{ "do=block&whom=@x&for=1h&reason=--for&step=do",
	    "block --yes --for 1h --reason --for -- @x" },
	{ "do=unblock&whom=@x&for=1h&step=do", "unblock --yes -- @x" },
	{ "do=limit-sender&whom=bob&rate=20/1h",
	    "limit sender --dry-run -- bob 20/1h" },
	{ "do=limit-dest&whom=h&sessions=4&rate=",
	    "limit dest --dry-run -- h 4" },
	{ "do=limit-dest&whom=h&sessions=+&rate=6/1m&step=do",
	    "limit dest --yes -- h 6/1m" },
	{ "do=unlimit-dest&whom=h&step=do",
	    "limit remove dest --yes -- h" },
	{ "do=undo&version=3&step=do", "config undo --yes -- 3" },
	{ "do=suspend&whom=smtp/*",
	    "{\"v\":1,\"op\":\"destinations\",\"channel\":\"smtp\","
	    "\"host\":\"*\"" },
	{ "do=suspend&whom=h", "{\"v\":1,\"op\":\"destinations\","
	    "\"host\":\"h\"" },
	{ "do=resume&whom=all", "{\"v\":1,\"op\":\"destinations\"" },
	{ "do=drain", "{\"v\":1,\"op\":\"destinations\"" },
	{ "do=suspend&whom=h\"x", "{\"v\":1,\"op\":\"destinations\","
	    "\"host\":\"h\\\"x\"" },
	{ "do=suspend&whom=smtp/*&for=2h&step=do",
	    "suspend --yes --for 2h -- smtp/*" },
	{ "do=pin&whom=h&limit=3&step=do", "pin --yes --limit 3 -- h" },
	{ "do=unpin&whom=h&step=do", "pin --limit 0 --yes -- h" },
	{ "do=drain&step=do&reason=r",
	    "drain --timeout 1s --yes --reason r --" },
	{ "do=undrain&step=do&reason=r", "undrain --yes --" },
	{ "do=block", NULL }, { "do=block&whom=+", NULL },
	{ "do=block&whom=list", NULL }, { "do=pin&whom=h", NULL },
	{ "do=limit-sender&whom=bob", NULL }, { "do=undo", NULL },
	{ "do=config", NULL }, { "whom=@x", NULL }, { "do=", NULL },
};

static void
change_join(const struct question *question, struct str *out)
{
	if (question->is_socket)
		str_add_slice(out, str_slice(&question->request));
	for (size_t i = 0; question->words[i] != NULL; i++)
		str_addf(out, "%s%s", i > 0 ? " " : "", question->words[i]);
}

Test(change, becomes_these_words)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct visit visit = { .arena = arena, .page = &page_change,
		    .csrf = "c", .out = STR_INIT };
		struct str words = STR_INIT;
		struct match match;
		int result;

		cr_assert_eq(form_read_fields(slice_of(rows[i].form), arena,
		    &visit.form), 0);
		result = page_change.begin(&visit);
		cr_expect_eq(result, rows[i].want == NULL ? -1 : 0, "%s",
		    rows[i].form);
		if (result == 0) {
			change_join(&visit.questions[0], &words);
			cr_expect_str_eq(words.buf, rows[i].want);
			cr_expect(visit.questions[0].is_socket ||
			    (match_verb(visit.questions[0].words, &match) &&
			    match.role == ROLE_ADMINISTER), "%s",
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
