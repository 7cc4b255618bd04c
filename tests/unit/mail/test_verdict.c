/* test_verdict.c - outcomes keep the words of who said them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "mail/verdict.h"

Test(verdict, words_stay_one_line)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "550 5.1.1 no such user", "550 5.1.1 no such user" },
		{ "550 5.1.1 no such user\r\n", "550 5.1.1 no such user" },
		{ "550 DOMAIN\\user", "550 DOMAIN\\user" },
		{ "a\r\nb", "a\\x0d\\x0ab" },
		{ "\033[2J", "\\x1b[2J" },
		{ "caf\303\251", "caf\\xc3\\xa9" },
		{ "", "" },
	};
	struct verdict v;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		verdict_set(&v, VERDICT_FAILED, NULL, "mx[1.2.3.4]", "%s",
		    rows[i].in);
		cr_expect_str_eq(v.text, rows[i].want);
	}
}

Test(verdict, status_has_a_default_by_kind)
{
	static const char *const want[VERDICT_KINDS] =
	    { "2.0.0", "2.0.0", "2.0.0", "4.0.0", "5.0.0" };
	struct verdict v;

	for (int i = 0; i < VERDICT_KINDS; i++) {
		verdict_set(&v, (enum verdict_kind)i, NULL, NULL, "x");
		cr_expect_str_eq(v.status, want[i]);
		cr_expect_eq(verdict_kind_parse(slice_of(verdict_names[i])),
		    i);
		cr_expect_eq(verdict_is_final(v.kind), i != VERDICT_DEFERRED);
	}
	cr_expect_eq(verdict_kind_parse(SLICE("deferall")), -1);
}

Test(verdict, long_words_are_cut_not_split)
{
	char longest[3 * VERDICT_TEXT_BYTES];
	struct verdict v;

	memset(longest, '\001', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	verdict_set(&v, VERDICT_FAILED, "5.0.0", longest, "%s", longest);
	cr_expect_lt(strlen(v.text), sizeof(v.text));
	cr_expect_eq(strlen(v.text) % 4, 0);	/* whole \x01 only */
	cr_expect_eq(strlen(v.who) % 4, 0);
}
