/* fuzz_date.c - any bytes as a moment and as the date of a header
 *
 * Grammar: libzm/grammar/message/date.c (RFC 3339 section 5.6), header_date.c
 * (RFC
 * 5322 section 3.3, 4.3).  A moment that is taken is printed, and read as the
 * same second; a date that is one is one on one line, too.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/message/date.h"
#include "grammar/message/header.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct str text = STR_INIT, flat = STR_INIT;
	struct err err = { "" };
	int64_t at = 0, again = 0;
	int rc;

	if (date_parse(in, &at, &err) == 0) {
		date_add(&text, at);
		MUST(date_parse(str_slice(&text), &again, &err) == 0);
		MUST(again == at);
	} else {
		MUST(err.text[0] != '\0');
		MUST(!fuzz_has_control(slice_of(err.text)));
	}
	(void)date_is_over(in, at);
	err.text[0] = '\0';
	rc = header_date(in, &err);
	MUST(rc == 0 || err.text[0] != '\0');
	header_add_unfolded(&flat, in);
	if (rc == 0)
		MUST(header_date(str_slice(&flat), &err) == 0);
	str_release(&text);
	str_release(&flat);
	return 0;
}
