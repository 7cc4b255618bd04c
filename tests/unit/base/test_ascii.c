/* test_ascii.c - each of 256 bytes, against the words of RFC 5234 appendix B
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "base/ascii.h"

static bool
is_one_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

Test(ascii, each_byte_is_of_its_kinds)
{
	static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz";

	for (int i = 0; i < 256; i++) {
		char c = (char)i;
		bool is_upper = is_one_of(c, upper);
		bool is_lower = is_one_of(c, lower);
		bool is_digit = is_one_of(c, "0123456789");

		cr_expect_eq(ascii_is_upper(c), is_upper, "%d", i);
		cr_expect_eq(ascii_is_lower(c), is_lower, "%d", i);
		cr_expect_eq(ascii_is_digit(c), is_digit, "%d", i);
		cr_expect_eq(ascii_is_alpha(c), is_upper || is_lower, "%d", i);
		cr_expect_eq(ascii_is_alnum(c), is_upper || is_lower ||
		    is_digit, "%d", i);
		cr_expect_eq(ascii_is_blank(c), is_one_of(c, " \t"), "%d", i);
		cr_expect_eq(ascii_is_space(c), is_one_of(c, " \t\r\n"),
		    "%d", i);
		cr_expect_eq(ascii_lower(c), is_upper ?
		    lower[strchr(upper, c) - upper] : c, "%d", i);
		cr_expect_eq(ascii_upper(c), is_lower ?
		    upper[strchr(lower, c) - lower] : c, "%d", i);
	}
}

Test(ascii, hexadecimal_digits_of_either_case)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 256; i++) {
		const char *at = i == 0 ? NULL : strchr(digits,
		    ascii_lower((char)i));

		cr_expect_eq(ascii_hex((char)i), at != NULL ?
		    (int)(at - digits) : -1, "%d", i);
	}
}
