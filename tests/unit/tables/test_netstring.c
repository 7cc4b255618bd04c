/* test_netstring.c - what socketmap servers answer
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tables/engine/netstring.h"

Test(tables_netstring, is_read_byte_by_byte)
{
	struct slice whole = SLICE("11:OK a@b.test,5:x"), text;
	size_t used = 0;

	for (size_t n = 0; n < 15; n++)
		cr_expect_eq(netstring_read(slice_first(whole, n), &text,
		    &used), NETSTRING_MORE, "%zu", n);
	cr_assert_eq(netstring_read(whole, &text, &used), NETSTRING_WHOLE);
	cr_expect(slice_is(text, "OK a@b.test"));
	cr_expect_eq(used, 15);
}

Test(tables_netstring, is_bounded)
{
	static const char *const bad[] = { "x", ":", "-1:", "01:a,", "1;a,",
		"1:ab", "100001:", "9999999", "1 :a,", "00:," };
	struct slice text;
	size_t used;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(netstring_read(slice_of(bad[i]), &text, &used),
		    NETSTRING_BAD, "%s", bad[i]);
	cr_expect_eq(netstring_read(SLICE("0:,"), &text, &used),
	    NETSTRING_WHOLE);
	cr_expect_eq(netstring_read(SLICE("100000:"), &text, &used),
	    NETSTRING_MORE);
}
