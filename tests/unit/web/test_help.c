/* test_help.c - what who helps users of some domains is shown
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "base/mem.h"
#include "web/orders/help.h"

#define DOMAINS "a.test b.test"

Test(help, selectors_are_narrowed)
{
	static const struct {
		const char	*typed, *want;	/* NULL: it is none */
	} rows[] = {
		{ "all", "(all) (from:@a.test or to:@a.test or from:@b.test "
		    "or to:@b.test)" },
		{ "to:x or to:y", "(to:x or to:y) (from:@a.test or to:@a.test "
		    "or from:@b.test or to:@b.test)" },
		{ "all) or (all", NULL }, { "all)", NULL }, { "((", NULL },
		{ "", NULL }, { "x:y", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		const char *got = help_narrow(arena, DOMAINS,
		    slice_of(rows[i].typed));

		if (rows[i].want == NULL)
			cr_expect_null(got, "%s", rows[i].typed);
		else
			cr_expect_str_eq(got, rows[i].want);
		arena_free(&arena);
	}
}

Test(help, addresses_of_domains)
{
	static const struct {
		const char	*address;
		bool		 want;
	} rows[] = {
		{ "x@a.test", true }, { "x@B.Test", true },
		{ "x@y@b.test", true }, { "x@xa.test", false },
		{ "x@a.test.evil", false }, { "x@sub.a.test", false },
		{ "a.test", false }, { "@", false }, { "", false },
		{ "x@a.test b.test", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(help_is_address(DOMAINS,
		    slice_of(rows[i].address)), rows[i].want, "%s",
		    rows[i].address);
}

#define FROM(id, from) "{\"ev\":\"message.accepted\",\"id\":\"" id \
	"\",\"from\":\"" from "\"}\n"
#define TO(id, to) "{\"ev\":\"rcpt.ok\",\"id\":\"" id "\",\"to\":\"" to "\"}\n"
#define AS(id, to, orcpt) "{\"id\":\"" id "\",\"to\":\"" to "\",\"orcpt\":\"" \
	orcpt "\"}\n"

Test(help, events_are_sifted)
{
	static const struct {
		const char	*in, *want;
	} rows[] = {
		{ FROM("1", "x@a.test") TO("1", "y@c.test"),
		    FROM("1", "x@a.test") TO("1", "y@c.test") },
		{ FROM("1", "x@c.test") TO("1", "y@a.test") TO("1", "z@c.test"),
		    FROM("1", "x@c.test") TO("1", "y@a.test") },
		{ FROM("1", "x@c.test") TO("1", "y@c.test"), "" },
		{ FROM("1", "x@a.test") FROM("2", "x@c.test")
			TO("2", "y@c.test"),
		    FROM("1", "x@a.test") },
		{ FROM("1", "x@c.test") AS("1", "y@c.test", "z@b.test"),
		    FROM("1", "x@c.test") AS("1", "y@c.test", "z@b.test") },
		{ "{\"ev\":\"x\",\"from\":\"x@a.test\"}\n", "" },
		{ "no event\n", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str events = STR_INIT;

		str_adds(&events, rows[i].in);
		cr_expect_eq(help_sift(DOMAINS, &events),
		    rows[i].want[0] != '\0', "%s", rows[i].in);
		cr_expect_str_eq(events.buf, rows[i].want);
		str_release(&events);
	}
}

Test(help, recipients_are_sifted)
{
	struct str lines = STR_INIT;

	str_adds(&lines, TO("1", "y@c.test") TO("1", "y@a.test")
	    "{\"next\":\"2\"}\n"
	    "{\"id\":\"3\",\"from\":\"x@b.test\",\"to\":\"y@c.test\"}\n");
	help_sift_recipients(DOMAINS, true, &lines);
	cr_expect(slice_starts(str_slice(&lines), TO("1", "y@c.test")));
	help_sift_recipients(DOMAINS, false, &lines);
	cr_expect_str_eq(lines.buf, TO("1", "y@a.test") "{\"next\":\"2\"}\n"
	    "{\"id\":\"3\",\"from\":\"x@b.test\",\"to\":\"y@c.test\"}\n");
	str_release(&lines);
}

Test(help, a_message_is_there_by_its_whole_id)
{
	struct slice list = SLICE(FROM("12", "x@a.test"));

	cr_expect(help_has_message(list, SLICE("12")));
	cr_expect(!help_has_message(list, SLICE("1")));
	cr_expect(!help_has_message(list, SLICE("")));
	cr_expect(!help_has_message(SLICE(""), SLICE("12")));
	cr_expect(help_is_from(DOMAINS, list));
	cr_expect(!help_is_from("c.test", list));
}
