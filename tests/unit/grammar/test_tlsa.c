/* test_tlsa.c - TLSA records as they should be and as they should not
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "grammar/tlsa.h"

static const struct {
	const char	*numbers;
	size_t		 data_bytes;
	int		 result;
	bool		 is_for_smtp;
	const char	*words;
} rows[] = {
	/* usage, selector, matching type: RFC 7672 section 3.1 */
	{ "\3\1\1", 32, 0, true, "3 1 1" },
	{ "\3\0\1", 32, 0, true, "3 0 1" },
	{ "\2\0\1", 32, 0, true, "2 0 1" },
	{ "\2\1\2", 64, 0, true, "2 1 2" },
	{ "\3\1\2", 64, 0, true, "3 1 2" },
	{ "\3\0\0", 700, 0, true, "3 0 0" },
	{ "\3\1\0", 1, 0, true, "3 1 0" },
	/* section 3.1.3: not for SMTP */
	{ "\0\0\1", 32, 0, false, "0 0 1" },
	{ "\1\1\1", 32, 0, false, "1 1 1" },
	{ "\4\1\1", 32, 0, false, "4 1 1" },
	{ "\377\1\1", 32, 0, false, "255 1 1" },
	{ "\3\2\1", 32, 0, false, "3 2 1" },
	{ "\3\1\3", 32, 0, false, "3 1 3" },
	{ "\3\1\377", 32, 0, false, "3 1 255" },
	/* digests of another length */
	{ "\3\1\1", 31, 0, false, "3 1 1" },
	{ "\3\1\1", 33, 0, false, "3 1 1" },
	{ "\3\1\1", 64, 0, false, "3 1 1" },
	{ "\3\1\2", 32, 0, false, "3 1 2" },
	/* nothing to match */
	{ "\3\1\1", 0, -1, false, "" },
};

Test(tlsa, each_record_is_read_and_judged)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char bytes[1024] = { 0 };
		struct str words = STR_INIT;
		struct tlsa tlsa;

		memcpy(bytes, rows[i].numbers, 3);
		cr_expect_eq(tlsa_parse((struct slice){ bytes,
		    3 + rows[i].data_bytes }, &tlsa), rows[i].result,
		    "row %zu", i);
		if (rows[i].result < 0)
			continue;
		cr_expect_eq(tlsa.data.n, rows[i].data_bytes);
		cr_expect_eq(tlsa_is_for_smtp(&tlsa), rows[i].is_for_smtp,
		    "row %zu", i);
		tlsa_add_words(&words, &tlsa);
		cr_expect_str_eq(words.buf, rows[i].words);
		str_release(&words);
	}
}

Test(tlsa, what_is_too_short_is_none)
{
	struct tlsa tlsa;

	for (size_t n = 0; n <= 3; n++)
		cr_expect_eq(tlsa_parse((struct slice){ "\3\1\1", n },
		    &tlsa), -1);
}

Test(tlsa, words_of_several)
{
	struct str words = STR_INIT;
	struct tlsa tlsa = { 3, 1, 1, { NULL, 0 } };

	tlsa_add_words(&words, &tlsa);
	tlsa.usage = 2;
	tlsa_add_words(&words, &tlsa);
	cr_expect_str_eq(words.buf, "3 1 1, 2 1 1");
	str_release(&words);
}

Test(tlsa, text_of_a_zone_file)
{
	char bytes[TLSA_TEXT_BYTES_MAX] = "\x00\x1f\xff";
	struct str text = STR_INIT;
	struct tlsa tlsa = { 3, 1, 255, { bytes, 3 } };

	cr_expect(tlsa_add_text(&text, &tlsa));
	cr_expect_str_eq(text.buf, "3 1 255 001fff");
	tlsa.data.n = 250;	/* with "255 255 255 " before it */
	cr_expect(tlsa_add_text(&text, &tlsa));
	str_reset(&text);
	tlsa.data.n = 251;
	cr_expect_not(tlsa_add_text(&text, &tlsa));
	cr_expect_eq(text.len, 0);
	str_release(&text);
}
