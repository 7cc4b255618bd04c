/* test_terms.c - what a sender asked for, there and back
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "mail/terms.h"

Test(terms, what_is_read_is_printed_the_same)
{
	static const char *const rows[] = {
		"", "utf8", "requiretls", "rerouted", "tls-optional",
		"queue-only", "verp", "never-report", "priority=-9",
		"priority=3",
		"hold-until=1700000000", "by=1700000000,R", "by=1,N,T",
		"auth=<>", "zone=bulk", "tried=1", "tried=65535",
		"steered=1,,", "steered=99,smtp:far.test,odd+20words,too",
		("utf8 requiretls tls-optional queue-only verp never-report "
		    "priority=9 hold-until=1 by=2,R,T tried=3 auth=a+3Db@x "
		    "zone=z"),
	};
	struct terms terms;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = { 0 };

		str_init(&out);
		cr_assert_eq(terms_parse(slice_of(rows[i]), &terms, &err), 0,
		    "%s", rows[i]);
		cr_expect_eq(terms_any(&terms), rows[i][0] != '\0');
		cr_expect_eq(terms_add(&out, &terms, &err), 0);
		cr_expect(slice_is(str_slice(&out), rows[i]), "%s", rows[i]);
		str_release(&out);
	}
}

Test(terms, bad_words_are_named)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "utf8 utf8", "'utf8' a second time" },
		{ "utf8=1", "bad value in 'utf8=1'" },
		{ "verp=1", "bad value in 'verp=1'" },
		{ "never-report=1", "bad value in 'never-report=1'" },
		{ "queue-only=2", "bad value in 'queue-only=2'" },
		{ "priority=0", "bad value in 'priority=0'" },
		{ "priority=10", "bad value in 'priority=10'" },
		{ "hold-until=", "bad value in 'hold-until='" },
		{ "by=5", "bad value in 'by=5'" },
		{ "by=5,X", "bad value in 'by=5,X'" },
		{ "by=5,R,U", "bad value in 'by=5,R,U'" },
		{ "tried=0", "bad value in 'tried=0'" },
		{ "tried=65536", "bad value in 'tried=65536'" },
		{ "tried", "bad value in 'tried'" },
		{ "auth", "bad value in 'auth'" },
		{ "steered", "bad value in 'steered'" },
		{ "steered=1", "bad value in 'steered=1'" },
		{ "steered=1,x", "bad value in 'steered=1,x'" },
		{ "steered=0,x,y", "bad value in 'steered=0,x,y'" },
		{ "steered=100,x,y", "bad value in 'steered=100,x,y'" },
		{ "what", "unknown word 'what'" },
	};
	struct terms terms;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(terms_parse(slice_of(rows[i].in), &terms, &err),
		    -1, "%s", rows[i].in);
		cr_expect_str_eq(err.text, rows[i].want);
	}
}

Test(terms, a_blank_in_a_value_is_refused)
{
	struct terms terms = { .auth = SLICE("a b") };
	struct str out;
	struct err err;

	str_init(&out);
	cr_expect_eq(terms_add(&out, &terms, &err), -1);
	cr_expect_eq(out.len, 0);
	str_release(&out);
}
