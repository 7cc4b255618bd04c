/* test_xtext.c - the +HH encoding
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/smtp/xtext.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(xtext, every_byte_there_and_back)
{
	for (int c = 0; c < 256; c++) {
		struct str encoded = STR_INIT, decoded = STR_INIT;
		char byte = (char)c;
		int rc;

		xtext_encode(&encoded, (struct slice){ &byte, 1 });
		rc = xtext_decode(str_slice(&encoded), &decoded, NULL);
		if (c == 0 || c == '\r' || c == '\n') {
			cr_expect_eq(rc, -1, "byte %d", c);
		} else {
			cr_expect_eq(rc, 0, "byte %d", c);
			cr_expect(slice_equal(str_slice(&decoded),
			    (struct slice){ &byte, 1 }), "byte %d", c);
		}
		cr_expect_eq(encoded.len == 1,
		    c > 32 && c < 127 && c != '+' && c != '=');
		str_release(&encoded);
		str_release(&decoded);
	}
}

Test(xtext, decodes)
{
	static const struct {
		struct slice	 in;
		int		 rc;
		const char	*want;
	} rows[] = {
		{ SLICE(""), 0, "" }, { SLICE("abc"), 0, "abc" },
		{ SLICE("a+2Bb"), 0, "a+b" }, { SLICE("+2b"), 0, "+" },
		{ SLICE("+3D"), 0, "=" }, { SLICE("+20"), 0, " " },
		{ SLICE("+"), -1, "" }, { SLICE("+2"), -1, "" },
		{ SLICE("a+2G"), -1, "a" }, { SLICE("+G2"), -1, "" },
		{ SLICE("+/0"), -1, "" },
		{ SLICE("+:0"), -1, "" }, { SLICE("+@0"), -1, "" },
		{ SLICE("a=b"), -1, "a" }, { SLICE("a b"), -1, "a" },
		{ SLICE("a\0"), -1, "a" }, { SLICE("\x7f"), -1, "" },
		{ SLICE("\xc3\xa9"), -1, "" }, { SLICE("+00"), -1, "" },
		{ SLICE("+0D"), -1, "" }, { SLICE("+0a"), -1, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str out = STR_INIT;
		struct err err = { "" };

		cr_expect_eq(xtext_decode(rows[i].in, &out, &err), rows[i].rc,
		    "row %zu", i);
		cr_expect_str_eq(out.buf, rows[i].want, "row %zu", i);
		cr_expect_eq(err.text[0] != '\0', rows[i].rc < 0);
		str_release(&out);
	}
}
