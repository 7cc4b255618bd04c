/* test_first_line.c - what a message file promises, and what is no promise
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "mail/first_line.h"

Test(first_line, is_read_as_it_was_written)
{
	struct first_line in = { 999999999999u, 0x0a1b2c3du }, out;
	char line[DRAFT_FIRST_LINE_BYTES + 1];

	first_line_make(&in, line);
	cr_assert_str_eq(line, "complete 999999999999 0a1b2c3d\n");
	cr_assert(first_line_read(slice_of(line), &out));
	cr_expect_eq(out.bytes, in.bytes);
	cr_expect_eq(out.crc, in.crc);
}

Test(first_line, what_is_not_whole_is_none)
{
	static const char whole[] = "complete 000000004711 1a2b3c4d\n";
	static const char *const bad[] = {
		"complete 000000004711 1A2b3c4d\n",
		"complete 00000000471x 1a2b3c4d\n",
		"complete 000000004711-1a2b3c4d\n",
		"complete 000000004711 1a2b3c4d ",
		"complete                      \n",
		"id 0123456789abc\nfrom a@src.tes\n"
	};
	struct first_line out;

	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		cr_expect_not(first_line_read((struct slice){ whole, n },
		    &out), "%zu", n);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(first_line_read(slice_of(bad[i]), &out), "%s",
		    bad[i]);
	cr_expect(first_line_is_there(slice_of(whole)));
	cr_expect_not(first_line_is_there(slice_of(bad[5])));
}
