/* test_date.c - moments as the RFCs write them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/message/date.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(date, parse)
{
	static const struct {
		const char	*in;
		int		 rc;
		int64_t		 want;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", 0, 0 },
		{ "2026-11-20T21:04:00Z", 0, 1795208640 },
		{ "2026-11-20t21:04:00z", 0, 1795208640 },
		{ "2026-11-20T22:04:00+01:00", 0, 1795208640 },
		{ "2026-11-20T16:34:00-04:30", 0, 1795208640 },
		{ "2026-11-20T21:04:00.999999Z", 0, 1795208640 },
		{ "2000-02-29T00:00:00Z", 0, 951782400 },
		{ "2100-03-01T00:00:00Z", 0, 4107542400 },
		{ "2016-12-31T23:59:60Z", 0, 1483228799 },
		{ "9999-12-31T23:59:59Z", 0, 253402300799 },
		{ "2100-02-29T00:00:00Z", -1, 0 },
		{ "2026-02-29T00:00:00Z", -1, 0 },
		{ "2026-13-01T00:00:00Z", -1, 0 },
		{ "2026-00-01T00:00:00Z", -1, 0 },
		{ "2026-01-00T00:00:00Z", -1, 0 },
		{ "2026-01-01T24:00:00Z", -1, 0 },
		{ "2026-01-01T00:60:00Z", -1, 0 },
		{ "2026-01-01T00:00:61Z", -1, 0 },
		{ "2026-01-01 00:00:00Z", -1, 0 },
		{ "2026-01-01T00:00:00", -1, 0 },
		{ "2026-01-01T00:00:00.Z", -1, 0 },
		{ "2026-01-01T00:00:00+0100", -1, 0 },
		{ "2026-01-01T00:00:00+24:00", -1, 0 },
		{ "2026-01-01T00:00:00Zx", -1, 0 },
		{ "1970-01-01T00:00:00+01:00", -1, 0 },
		{ "1969-12-31T00:00:00Z", -1, 0 },
		{ "26-01-01T00:00:00Z", -1, 0 },
		{ "", -1, 0 }, { "2026", -1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { "" };
		int64_t got = 0;

		cr_expect_eq(date_parse(slice_of(rows[i].in), &got, &err),
		    rows[i].rc, "%s: %s", rows[i].in, err.text);
		if (rows[i].rc == 0)
			cr_expect_eq(got, rows[i].want, "%s", rows[i].in);
	}
}

/* Every day of 400 years and more, there and back. */
Test(date, there_and_back)
{
	for (int64_t day = 0; day < 160000; day++) {
		int64_t s = day * 86400 + day % 86400, back = -1;
		struct str text = STR_INIT;
		struct err err;

		date_add(&text, s);
		cr_assert_eq(date_parse(str_slice(&text), &back, &err), 0,
		    "%s", text.buf);
		cr_assert_eq(back, s, "%s", text.buf);
		str_release(&text);
	}
}
