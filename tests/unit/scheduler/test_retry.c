/* test_retry.c - when a recipient is tried again, and when no more
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "scheduler/plan/retry.h"

static const int64_t list[] = { 60, 300, 900, 3600 };
static const struct retry_waits waits = { list,
    sizeof(list) / sizeof(list[0]), 10 };

Test(retry, the_list_is_walked_and_its_last_entry_repeats)
{
	static const struct { unsigned tries; int64_t want_s; } rows[] = {
		{ 0, 60 }, { 1, 60 }, { 2, 300 }, { 3, 900 }, { 4, 3600 },
		{ 5, 3600 }, { 4000000000u, 3600 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t r = 0; r < 0xfff00000u; r += 0x00fedcbau) {
			int64_t ms = retry_delay_ms(waits, rows[i].tries,
			    r);

			cr_assert_geq(ms, rows[i].want_s * 900);
			cr_assert_leq(ms, rows[i].want_s * 1100);
			cr_assert_leq(ms, retry_delay_max_ms(waits));
		}
}

Test(retry, odd_lists_give_sane_spans)
{
	static const int64_t zero[] = { 0 }, minus[] = { -5 },
	    huge[] = { INT64_MAX };

	cr_expect_eq(retry_delay_ms((struct retry_waits){ NULL, 0, 10 },
	    1, 0), 3600 * 900);
	cr_expect_eq(retry_delay_ms((struct retry_waits){ zero, 1, 10 },
	    1, 7), 1000);
	cr_expect_eq(retry_delay_ms((struct retry_waits){ minus, 1, 10 },
	    1, 7), 1000);
	cr_expect_leq(retry_delay_ms((struct retry_waits){ huge, 1, 10 },
	    1, 7), INT64_C(33) * 86400000);
	cr_expect_gt(retry_delay_max_ms((struct retry_waits){ NULL, 0, 10 }),
	    0);
}

Test(retry, jitter_spreads)
{
	int64_t low = INT64_MAX, high = 0;

	for (uint32_t r = 0; r < 100000; r += 7) {
		int64_t ms = retry_delay_ms(waits, 2, r);

		low = ms < low ? ms : low;
		high = ms > high ? ms : high;
	}
	cr_expect_lt(low, 300 * 910);
	cr_expect_gt(high, 300 * 1090);
}

Test(retry, what_is_left_from_a_record)
{
	static const struct {
		unsigned	tries;
		int64_t		last_s, next_s, now_s, min_ms, max_ms;
	} rows[] = {
		{ 0, 0, 0, 1000, 0, 0 },		/* never tried */
		{ 1, 1000, 0, 1000, 54000, 66000 },
		{ 1, 1000, 0, 1030, 23000, 36000 },
		{ 1, 1000, 0, 1067, 0, 0 },		/* over */
		{ 1, 1000, 1100, 1050, 50000, 50000 },	/* the record's own */
		{ 1, 1000, 1100, 1100, 0, 0 },
		{ 1, 1000, 1100, 9999, 0, 0 },
		/* the clock went back by years: at most the list's span */
		{ 1, 900000000, 0, 1000, 54000, 66000 },
		{ 2, 900000000, 910000000, 1000, 270000, 330000 },
		/* or what was planned */
		{ 2, 900000000, 900000100, 1000, 100000, 100000 },
		{ 1, 1100, 1130, 1050, 30000, 30000 },
		{ 1, 87400, 91000, 1000, 3600000, 3600000 },
		{ 1, INT64_MAX, INT64_MAX, 0, 54000, 66000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t r = 0; r < 60000; r += 999) {
			int64_t ms = retry_left_ms(waits, rows[i].tries,
			    rows[i].last_s, rows[i].next_s, rows[i].now_s, r);

			cr_assert_geq(ms, rows[i].min_ms, "row %zu", i);
			cr_assert_leq(ms, rows[i].max_ms, "row %zu", i);
		}
}

Test(retry, an_agents_wish_is_bounded)
{
	cr_expect_eq(retry_explicit_ms(0), RETRY_EXPLICIT_MIN_S * 1000);
	cr_expect_eq(retry_explicit_ms(60), 60000);
	cr_expect_eq(retry_explicit_ms(INT32_MAX),
	    (int64_t)RETRY_EXPLICIT_MAX_S * 1000);
}

Test(retry, nothing_is_given_up_untried)
{
	const int64_t day_ms = 86400000;

	cr_expect(retry_is_over(6 * day_ms, 5 * 86400, 1, true));
	cr_expect(retry_is_over(5 * day_ms, 5 * 86400, 9, true));
	cr_expect_not(retry_is_over(4 * day_ms, 5 * 86400, 9, true));
	cr_expect_not(retry_is_over(9 * day_ms, 5 * 86400, 0, true));
	cr_expect_not(retry_is_over(9 * day_ms, 5 * 86400, 3, false));
}

Test(retry, a_list_that_stops_is_exhausted_behind_its_last_wait)
{
	struct conf_schedule clause = { .retry_count = 3 };

	cr_expect_not(retry_is_exhausted(&clause, 99));
	clause.retry_stops = true;
	cr_expect_not(retry_is_exhausted(&clause, 3));
	cr_expect(retry_is_exhausted(&clause, 4));
}

Test(retry, what_nobody_tried_is_given_up_later_and_not_right_after_a_start)
{
	static const struct { int64_t age_s, here_s; bool want; } rows[] = {
		{ 599, 9999, false }, { 700, 9999, true }, { 700, 99, false },
		{ 699, 9999, false }, { 700, 100, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(retry_is_untried_over(rows[i].age_s * 1000, 600,
		    100, rows[i].here_s * 1000), rows[i].want, "row %zu", i);
}

Test(retry, notices_by_age)
{
	static const struct { int64_t age_s; unsigned want; } rows[] = {
		{ 0, 0 }, { 99, 0 }, { 100, 1 }, { 199, 1 }, { 200, 2 },
		{ 100000, 2 },
	};
	struct conf_schedule clause = { .warn_s = { 100, 200 },
	    .warn_count = 2 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(retry_warns_due(&clause, rows[i].age_s * 1000),
		    rows[i].want, "row %zu", i);
}
