/* test_record.c - record: what is kept for zmailer replay
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf_case.h"

Test(conf_record, what_each_form_says)
{
	static const struct {
		const char	*in;
		int64_t		 record_ms;
		uint64_t	 bytes, bodies_bytes;
	} rows[] = {
		{ "", 0, 256 << 20, 0 },
		{ "record for 7d\n", 7 * 86400000LL, 256 << 20, 0 },
		{ "record for 1h bodies\n", 3600000, 256 << 20, 1 << 30 },
		{ "record for 1h bodies 5M\nrecord size 1M\n", 3600000,
		    1 << 20, 5 << 20 },
		{ "record bodies 5M\nrecord for 1h\n", 3600000, 256 << 20,
		    5 << 20 },
		{ "record for 1h\nrecord bodies 0\n", 3600000, 256 << 20, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_case c;

		case_good(&c, rows[i].in);
		cr_expect_eq(c.conf->record_ms, rows[i].record_ms, "%zu", i);
		cr_expect_eq(c.conf->record_max_bytes, rows[i].bytes, "%zu",
		    i);
		cr_expect_eq(c.conf->record_bodies_max_bytes,
		    rows[i].bodies_bytes, "%zu", i);
		case_close(&c);
	}
}

Test(conf_record, what_is_wrong_with_one)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "record for 1h bodies 5", "'5' is not" },
		{ "record for 1h bodies 5K", "from 1M to 16384G" },
		{ "record for 1h bodies 5M 6M", "knows no '6M'" },
		{ "record for 1h bodies bodies", "'bodies' is not" },
		{ "record for 1h mails", "knows no 'mails'" },
		{ "record size 1M bodies", "'bodies' stands after a span" },
		{ "record for bodies", "'bodies' is not a length of time" },
		{ "record for 1h bodies\nrecord bodies 5M",
		    "'record bodies' is said twice" },
		{ "record for 1h bodies\nrecord for 2h",
		    "'record for' is said twice" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		case_refused(rows[i].in, rows[i].want);
}
