/* test_str.c - slices and strings
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "base/str.h"

Test(str, cut_gives_every_piece)
{
	struct slice rest = SLICE("a,,b"), head;
	const char *want[] = { "a", "", "b" };

	for (size_t i = 0; i < 3; i++) {
		cr_assert(slice_cut(&rest, ',', &head));
		cr_assert(slice_is(head, want[i]));
	}
	cr_assert_not(slice_cut(&rest, ',', &head));
}

Test(str, number_refuses_what_is_none)
{
	static const struct { const char *in; bool ok; uint64_t want; } rows[] = {
		{ "0", true, 0 }, { "42", true, 42 }, { "100", true, 100 },
		{ "101", false, 0 }, { "", false, 0 }, { "-1", false, 0 },
		{ "+1", false, 0 }, { " 1", false, 0 }, { "1x", false, 0 },
		{ "18446744073709551616", false, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value = 0;

		cr_expect_eq(slice_number(slice_of(rows[i].in), 0, 100, &value),
		    rows[i].ok, "%s", rows[i].in);
		cr_expect_eq(value, rows[i].want);
	}
}
