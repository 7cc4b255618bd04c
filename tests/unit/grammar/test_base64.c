/* test_base64.c - letters there and back, and what is no base64
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/base64.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* RFC 4648 section 10 */
Test(base64, vectors)
{
	static const char *const rows[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
		{ "\xff\xfb\xef", "//vv" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str letters = STR_INIT, bytes = STR_INIT;

		base64_add(&letters, slice_of(rows[i][0]));
		cr_expect_str_eq(letters.buf, rows[i][1]);
		cr_expect_eq(base64_decode(slice_of(rows[i][1]), &bytes, NULL),
		    0, "%s", rows[i][1]);
		cr_expect(slice_is(str_slice(&bytes), rows[i][0]), "%s",
		    rows[i][1]);
		str_release(&letters);
		str_release(&bytes);
	}
}

#define A72 "AAAAAAAAAAAAAAAAAAAAAAAA" "AAAAAAAAAAAAAAAAAAAAAAAA" \
	"AAAAAAAAAAAAAAAAAAAAAAAA"

/* As a header field has them: 54 bytes a line, no end after the last. */
Test(base64, folded)
{
	static const struct { size_t n; const char *want; } rows[] = {
		{ 0, "" }, { 1, "AA==" }, { 54, A72 },
		{ 55, A72 "\n\tAA==" }, { 108, A72 "\n\t" A72 },
	};
	static const char zeros[108];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str out = STR_INIT;

		base64_add_folded(&out, (struct slice){ zeros, rows[i].n });
		cr_expect_str_eq(out.buf, rows[i].want, "%zu bytes",
		    rows[i].n);
		str_release(&out);
	}
}

Test(base64, refuses)
{
	static const char *const rows[] = {
		"Z", "Zg", "Zg=", "Zg===", "=", "==", "====", "Z===",
		"Zm8=Zm8=",		/* padding in the middle */
		"Zh==", "Zm9=",		/* bits left over */
		"Zm9v Zm9", "Zm9v\r\n==", "Zm9v\n", " Zm9", "Zm-_", "Zm9\x80",
		"Z=g=", "Zg=a",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str bytes = STR_INIT;
		struct err err;

		str_adds(&bytes, "kept");
		cr_expect_eq(base64_decode(slice_of(rows[i]), &bytes, &err),
		    -1, "%s", rows[i]);
		cr_expect_str_eq(bytes.buf, "kept", "%s", rows[i]);
		str_release(&bytes);
	}
}

Test(base64, a_nul_is_a_byte_and_no_letter)
{
	struct str letters = STR_INIT, bytes = STR_INIT;

	base64_add(&letters, (struct slice){ "\0a\0b", 4 });
	cr_expect_str_eq(letters.buf, "AGEAYg==");
	cr_expect_eq(base64_decode(str_slice(&letters), &bytes, NULL), 0);
	cr_expect(slice_equal(str_slice(&bytes), SLICE("\0a\0b")));
	cr_expect_eq(base64_decode(SLICE("Zm\0="), &bytes, NULL), -1);
	str_release(&letters);
	str_release(&bytes);
}
