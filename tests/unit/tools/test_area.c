/* test_area.c - how old a file of the spool is
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "tools/queue/area.h"

Test(area, a_file_is_no_older_than_its_inode)
{
	static const struct {
		const char	*what;
		int64_t		 mtime_s, btime_s;	/* -1: not known */
		int64_t		 want_s;
	} rows[] = {
		{ "written when it was made", 900, 900, 100 },
		{ "written after it was made", 950, 900, 50 },
		{ "copied in by hand with its old time", 10, 940, 60 },
		{ "the same where nobody knows its birth", 10, -1, 990 },
		{ "of the future", 2000, 900, 0 },
		{ "made in the future", 10, 2000, 0 },
		{ "of before 1970", -50, 900, 100 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct statx st = { .stx_mask = STATX_MTIME |
		    (rows[i].btime_s >= 0 ? STATX_BTIME : 0) };

		st.stx_mtime.tv_sec = rows[i].mtime_s;
		/* what is not in the mask means nothing */
		st.stx_btime.tv_sec = rows[i].btime_s >= 0 ?
		    rows[i].btime_s : 999;
		cr_expect_eq(area_age_s(1000, &st), rows[i].want_s, "%s",
		    rows[i].what);
	}
}
