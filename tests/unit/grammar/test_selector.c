/* test_selector.c - which messages are meant
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/mem.h"
#include "grammar/selector.h"

static const struct selector_subject subject = {
	.id = SLICE("361g9eyp5bafph4"),
	.from = SLICE("bob@Example.org"),
	.to = SLICE("alice@mail.example.net"),
	.orcpt = SLICE("rfc822;first+2Bx@old.example"),
	.routed = SLICE("ann"),
	.host = SLICE("mx.example"),
	.given = SLICE("team+20a@our.example"),
	.dest = SLICE("smtp/mail.example.net"),
	.dest_state = SLICE("throttled"),
	.state = SLICE("held"),
	.area = SLICE("queue"),
	.class = SLICE("quota"),
	.why = SLICE("452 4.2.2 over quota"),
	.age_s = 7200, .size_bytes = 65536, .tries = 3, .priority = -2
};

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

TestSuite(selector, .init = setup, .fini = teardown);

Test(selector, says_yes_and_no)
{
	static const struct { const char *in; bool want; } rows[] = {
		{ "all", true }, { "not all", false },
		{ "361g", true }, { "361G9EYP5BAFPH4", true },
		{ "361h", false }, { "361g9eyp5bafph4x", false },
		{ "from:bob@example.org", true }, { "from:bob", false },
		{ "from:@example.org", true }, { "from:@ample.org", false },
		{ "from:bob@*", true }, { "from:<>", false },
		{ "from!=bob@example.org", false }, { "to:@*.net", true },
		{ "to:first+x@old.example", true },
		{ "to:ann", true }, { "to:ann@mx.example", true },
		{ "to:@mx.example", true }, { "to:ann@far.example", false },
		{ "to:@old.example", true }, { "to:rfc822*", false },
		{ "to:\"team a@our.example\"", true },
		{ "to!=@our.example", false }, { "to!=@far.example", true },
		{ "from:@our.example", false },
		{ "dest-state=throttled", true },
		{ "dest-state!=throttled", false },
		{ "dest-state=suspended or dest-state=down", false },
		{ "dest-state:thr* state=held", true },
		{ "dest:smtp/*", true }, { "dest:mail.example.net", true },
		{ "dest:*.example.net", true }, { "dest:lmtp/*", false },
		{ "dest!=mail.example.net", false },
		{ "state=held", true }, { "STATE:HELD", true },
		{ "zone:bulk", false }, { "zone!=bulk", true },
		{ "why:\"452 4.2.2 over quota\"", true },
		{ "why:*quota*", true },
		{ "age>1h", true }, { "age>2h", false }, { "age>=2h", true },
		{ "age<2h", false }, { "age<=2h", true }, { "age:2h", true },
		{ "age!=2h", false }, { "size>=64K", true },
		{ "size<64K", false }, { "tries=3", true },
		{ "priority<0", true }, { "priority=-2", true },
		{ "from:x or state=held", true },
		{ "from:x state=held", false },
		{ "from:x and state=held", false },
		{ "state=held or from:x and from:y", true },
		{ "(state=held or from:x) and from:y", false },
		{ "not from:x age>1h", true },
		{ "not (from:x or age>1h)", false },
		{ "not not 361", true },
		{ "id:361*", true },
	};
	struct selector *selector;
	struct err err;
	size_t column;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert_eq(selector_parse(arena, slice_of(rows[i].in),
		    &selector, &column, &err), 0, "%s: %s", rows[i].in,
		    err.text);
		cr_expect_eq(selector_match(selector, &subject),
		    rows[i].want, "%s", rows[i].in);
	}
}

Test(selector, what_is_wrong_has_a_place)
{
	static const struct { const char *in; size_t column; } rows[] = {
		{ "", 0 }, { "  ", 2 }, { "from", 0 }, { "or", 0 },
		{ "fron:x", 0 },
		{ "from:", 5 }, { "from>x", 4 }, { "age>1", 4 },
		{ "age>", 4 }, { "size>1q", 5 }, { "tries=x", 6 },
		{ "(state=held", 0 }, { "state=held)", 10 },
		{ "to:x not", 8 }, { "to:x or", 7 }, { "to:\"x", 3 },
		{ "bob@example.org", 0 }, { "all from", 4 },
	};
	struct selector *selector;
	struct err err;
	size_t column;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(selector_parse(arena, slice_of(rows[i].in),
		    &selector, &column, &err), -1, "%s", rows[i].in);
		cr_expect_eq(column, rows[i].column, "%s: at %zu: %s",
		    rows[i].in, column, err.text);
	}
}

Test(selector, print_and_parse_agree)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "to:x from:y", "to=\"x\" and from=\"y\"" },
		{ "a or b c", "a or b and c" },
		{ "(a or b) c", "(a or b) and c" },
		{ "not (a b)", "not (a and b)" },
		{ "age>1h size<2K", "age>3600s and size<2048B" },
		{ "((all))", "all" },
		{ "from:bo=\"x\"y", "from=bo=\"x\"y" },
		{ "from:\xff\"x", "from=\xff\"x" },
	};
	struct selector *selector;
	struct err err;
	size_t column;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out, again;

		str_init(&out);
		str_init(&again);
		cr_assert_eq(selector_parse(arena, slice_of(rows[i].in),
		    &selector, &column, &err), 0);
		selector_add(&out, selector);
		cr_expect_str_eq(out.buf, rows[i].want);
		cr_assert_eq(selector_parse(arena, str_slice(&out),
		    &selector, &column, &err), 0);
		selector_add(&again, selector);
		cr_expect_str_eq(again.buf, out.buf);
		str_release(&out);
		str_release(&again);
	}
}

Test(selector, depth_and_number_are_bounded)
{
	struct selector *selector;
	struct str text;
	struct err err;
	size_t column;

	str_init(&text);
	for (int i = 0; i < SELECTOR_DEPTH_MAX + 1; i++)
		str_adds(&text, "not ");
	str_adds(&text, "all");
	cr_expect_eq(selector_parse(arena, str_slice(&text), &selector,
	    &column, &err), -1);
	str_reset(&text);
	for (int i = 0; i < SELECTOR_TESTS_MAX + 1; i++)
		str_adds(&text, "a ");
	cr_expect_eq(selector_parse(arena, str_slice(&text), &selector,
	    &column, &err), -1);
	str_release(&text);
}
