/* test_allowance.c - a warm-up of all nodes together: what is asked, what was
 * given, alone
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "scheduler/plan/plan.h"
#include "scheduler/plan/shaping/zone.h"

enum { DAY = 86400, TODAY = 20001 };

static unsigned caps[] = { 50, 100 };
static const struct conf_zone zone = { .name = "news",
	.warm_start_s = (int64_t)20000 * DAY, .warm_caps = caps,
	.warm_count = 2, .warm_is_shared = true };
static struct allowance_now now = { .ms = 1000000,
	.s = (int64_t)TODAY * DAY + 600, .nodes = 4 };
static struct allowance_table table;
static struct ring ring = { .zone = "news" };
static struct thread thread = { .ring = &ring, .channel = "smtp",
	.host = "a.example", .zone = "news" };
static struct allowance *one;
static int64_t until_ms;

static void
allowance_setup(void)
{
	one = allowance_get(&table, &thread);
	cr_assert_eq(allowance_find(&table, &thread), one);
}

static void
allowance_teardown(void)
{
	allowance_release(&table);
}

TestSuite(allowance, .init = allowance_setup, .fini = allowance_teardown);

static enum allowance_verdict
admits(unsigned ready)
{
	return allowance_admits(&table, one, &zone, ready, &now, &until_ms);
}

/* The only question; "" for none. */
static void
is_asked(const char *want)
{
	struct str out = STR_INIT;

	(void)allowance_question(&table, now.ms, &out);
	cr_expect_str_eq(out.buf, want);
	cr_expect(!allowance_wants(&table));
	str_release(&out);
}

static void
is_answered(const char *number, const char *answer)
{
	cr_assert(allowance_answered(&table, slice_of(number),
	    slice_of(answer), &now), "%s", answer);
}

static bool
fits(unsigned rcpts, unsigned ready)
{
	return allowance_fits(&table, one, &zone, rcpts, ready, &now,
	    &until_ms);
}

Test(allowance, what_was_given_may_go)
{
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	cr_expect_eq(until_ms, now.ms + ALLOWANCE_LOOK_MS);
	is_asked("w1 warm news 0 0 0 1 3 a.example\n");
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_asked("");
	is_answered("1", "given 20001 85800 20000 40 3");
	for (int i = 0; i < 3; i++) {
		cr_expect_eq(admits(3), ALLOWANCE_YES);
		cr_expect(fits(1, 3));
		allowance_spend(one, 1, now.ms);
	}
	/* it was asked ahead when half was spent */
	is_asked("w2 warm news 20001 3 0 0 3 a.example\n");
	cr_expect_eq(admits(3), ALLOWANCE_WAIT, "and nobody goes beyond");
	is_answered("2", "given 20001 85800 20000 100 0");
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_asked("w3 warm news 20001 3 0 1 3 a.example\n");
	is_answered("3", "given 20001 85800 20000 100 0");
	cr_expect_eq(admits(3), ALLOWANCE_NO);
	cr_expect_eq(until_ms, now.ms + ALLOWANCE_AGAIN_MS);
	is_asked("");
	now.ms += ALLOWANCE_AGAIN_MS;
	cr_expect_eq(admits(3), ALLOWANCE_WAIT, "others may give back");
	is_asked("w4 warm news 20001 3 0 1 3 a.example\n");
}

Test(allowance, what_is_not_used_is_given_back)
{
	(void)admits(9);
	is_asked("w1 warm news 0 0 0 1 9 a.example\n");
	is_answered("1", "given 20001 85800 20000 9 9");
	allowance_spend(one, 2, now.ms);
	now.ms += ALLOWANCE_IDLE_MS - 1;
	allowance_tick(&table, now.ms);
	is_asked("");
	now.ms++;
	allowance_tick(&table, now.ms);
	is_asked("w2 warm news 20001 2 7 0 0 a.example\n");
	cr_expect_eq(admits(1), ALLOWANCE_WAIT, "it is gone at once");
	is_answered("2", "given 20001 85800 20000 2 0");
}

Test(allowance, a_message_that_does_not_fit_lets_others_pass)
{
	(void)admits(2);
	is_asked("w1 warm news 0 0 0 1 2 a.example\n");
	is_answered("1", "given 20001 85800 20000 9 2");
	cr_expect(!fits(5, 2));
	cr_expect_eq(until_ms, 0, "another one is tried");
	cr_expect(fits(2, 2));
	cr_expect(!fits(5, 2));
	cr_expect(!fits(4, 2));
	cr_expect_eq(until_ms, now.ms + ALLOWANCE_LOOK_MS);
	is_asked("w2 warm news 20001 0 0 2 4 a.example\n");
	is_answered("2", "given 20001 85800 20000 100 1");
	cr_expect(!fits(5, 1));
	cr_expect_eq(until_ms, now.ms + ALLOWANCE_MISFIT_MS, "as was heard");
	is_asked("");
}

/* By a Redis that does not count, or is in wrong hands. */
Test(allowance, more_than_was_asked_for_is_not_given)
{
	(void)admits(9);
	is_asked("w1 warm news 0 0 0 1 9 a.example\n");
	is_answered("1", "given 20001 85800 20000 9 4294967295");
	allowance_spend(one, 9, now.ms);
	cr_expect_eq(admits(9), ALLOWANCE_WAIT);
	is_asked("w2 warm news 20001 9 0 1 9 a.example\n");
}

Test(allowance, a_day_has_no_more_than_its_plan)
{
	unsigned sent = 0;
	char number[24], answer[] = "given 20001 85800 20000 9 4294967295";

	for (unsigned i = 1; i < 100; i++) {
		struct str out = STR_INIT;

		snprintf(number, sizeof(number), "%u", i);
		(void)admits(9);
		if (allowance_question(&table, now.ms, &out))
			is_answered(number, answer);
		str_release(&out);
		while (admits(9) == ALLOWANCE_YES && fits(1, 9) && sent < 500)
			allowance_spend(one, 1, now.ms + sent++);
		now.ms += ALLOWANCE_AGAIN_MS;
	}
	cr_expect_eq(sent, 100, "%u", sent);
}

/* Redis has another plan, as that of a node with an earlier first day: what we
 * may not send is left to the others. */
Test(allowance, what_its_own_plan_does_not_have_is_not_asked_for)
{
	struct str out = STR_INIT;

	(void)admits(200);
	cr_assert(allowance_question(&table, now.ms, &out));
	is_answered("1", "given 20001 85800 19999 150 98");
	allowance_spend(one, 98, now.ms);
	cr_expect(!fits(3, 1));
	cr_expect_eq(until_ms, now.ms + ALLOWANCE_MISFIT_MS);
	is_asked("");
	cr_expect_eq(admits(200), ALLOWANCE_WAIT);
	is_asked("w2 warm news 20001 98 0 1 200 a.example\n");
	is_answered("2", "given 20001 85800 19999 160 10");
	cr_expect_eq(admits(200), ALLOWANCE_YES);
	is_asked("");
	allowance_spend(one, 2, now.ms);
	cr_expect_eq(admits(200), ALLOWANCE_NO);
	is_asked("");
	now.ms += ALLOWANCE_IDLE_MS;
	allowance_tick(&table, now.ms);
	is_asked("w3 warm news 20001 100 8 0 0 a.example\n");
	str_release(&out);
}

Test(allowance, alone_it_has_its_part)
{
	(void)admits(3);
	is_asked("w1 warm news 0 0 0 1 3 a.example\n");
	is_answered("1", "alone 3");
	cr_expect_eq(admits(3), ALLOWANCE_YES);
	cr_expect(fits(33, 3));
	allowance_spend(one, 33, now.ms);
	cr_expect_eq(admits(3), ALLOWANCE_NO, "100 / 3");
	is_asked("");
	now.ms += ALLOWANCE_ALONE_MS;
	cr_expect_eq(admits(3), ALLOWANCE_NO);
	is_asked("w2 warm news 20001 33 0 0 3 a.example\n");
	is_answered("2", "given 20001 85800 20000 70 4");
	cr_expect_eq(admits(3), ALLOWANCE_YES);
	is_asked("");
}

/* Another node has another day, or somebody wrote one into that Redis: the plan
 * goes on by ours, and people are told. */
Test(allowance, a_first_day_that_is_not_ours_is_not_believed)
{
	static const struct { const char *answer, *words; } rows[] = {
		{ "given 20001 85800 20000 9 3",
		    "all nodes together: 9 of 100 today" },
		{ "given 20001 85800 19999 9 3",
		    "all nodes together: 9 of 100 today; Redis says that the "
		    "first day was 2024-10-03, which is not believed" },
		{ "given 20001 85800 0 9 3",
		    "all nodes together: 9 of 100 today; Redis says that the "
		    "first day was 1970-01-01, which is not believed" },
		{ "given 20001 85800 20009 9 3",
		    "all nodes together: 9 of 100 today; Redis says that the "
		    "first day was 2024-10-13, which is not believed" },
	};
	struct str out = STR_INIT;
	char number[8];
	bool is_alone;
	int64_t end_ms;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		allowance_release(&table);
		one = allowance_get(&table, &thread);
		(void)admits(3);
		cr_assert(allowance_question(&table, now.ms, &out));
		snprintf(number, sizeof(number), "%u", i + 1);
		is_answered(number, rows[i].answer);
		cr_expect_eq(allowance_cap_today(one, &zone, &is_alone), 100);
		cr_expect(slice_is(allowance_words(one, &zone, &end_ms),
		    rows[i].words), "row %u", i);
		allowance_spend(one, 3, now.ms);
		cr_expect_eq(admits(3), ALLOWANCE_WAIT, "row %u", i);
	}
	str_release(&out);
}

Test(allowance, nobody_answers)
{
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_asked("w1 warm news 0 0 0 1 3 a.example\n");
	now.ms += ALLOWANCE_PATIENCE_MS - 1;
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	now.ms++;
	cr_expect_eq(admits(3), ALLOWANCE_YES, "alone, of 4");
	cr_expect(fits(25, 3));
	cr_expect(fits(30, 3), "the first of the day");
	allowance_spend(one, 24, now.ms);
	cr_expect(!fits(2, 3));
	allowance_lost(&table);
	cr_expect(!allowance_answered(&table, SLICE("1"), SLICE("alone 2"),
	    &now), "that question is gone");
}

/* The cluster has more patience with its Redis: who went alone meanwhile would
 * send what others are given. */
Test(allowance, as_patient_as_the_cluster)
{
	now.patience_ms = 10300;
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_asked("w1 warm news 0 0 0 1 3 a.example\n");
	now.ms += 10299;
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_answered("1", "given 20001 85800 20000 99 1");
	cr_expect_eq(admits(3), ALLOWANCE_YES);
	allowance_spend(one, 1, now.ms);
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_asked("w2 warm news 20001 1 0 1 3 a.example\n");
	now.ms += 10299;
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	now.ms++;
	cr_expect_eq(admits(3), ALLOWANCE_YES, "alone, of 4");
	now.patience_ms = 0;
}

Test(allowance, after_the_start_of_share)
{
	(void)admits(3);
	is_asked("w1 warm news 0 0 0 1 3 a.example\n");
	is_answered("1", "later");
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_asked("");
	now.ms += ALLOWANCE_LATER_MS;
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_asked("w2 warm news 0 0 0 1 3 a.example\n");
}

/* What was given is of the day, which is that of Redis. */
Test(allowance, the_day_ends)
{
	(void)admits(3);
	is_asked("w1 warm news 0 0 0 1 3 a.example\n");
	is_answered("1", "given 20000 10 20000 3 3");
	allowance_spend(one, 1, now.ms);
	now.ms += 9999;
	cr_expect_eq(admits(3), ALLOWANCE_YES);
	now.ms++;
	cr_expect_eq(admits(3), ALLOWANCE_WAIT);
	is_asked("w2 warm news 20000 1 0 1 3 a.example\n");
	is_answered("2", "given 20001 86400 20000 3 3");
	allowance_spend(one, 1, now.ms);
	now.ms += ALLOWANCE_IDLE_MS;
	allowance_tick(&table, now.ms);
	is_asked("w3 warm news 20001 1 2 0 0 a.example\n");
}

Test(allowance, nonsense_is_refused)
{
	static const char *const rows[] = {
		"", "given", "given 20001 86401 20000 0 0",
		"given 20001 85800 20000 0", "given 20001 85800 20000 0 0 0",
		"given 99999999999 85800 20000 0 0",
		"given 20001 85800 3000001 0 0", "alone", "alone 0",
		"alone x", "ok",
	};
	char number[8];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)admits(1);
		snprintf(number, sizeof(number), "%zu", i + 1);
		{
			struct str out = STR_INIT;

			cr_assert(allowance_question(&table, now.ms, &out));
			str_release(&out);
		}
		cr_expect(!allowance_answered(&table, slice_of(number),
		    slice_of(rows[i]), &now), "%s", rows[i]);
	}
	cr_expect(!allowance_answered(&table, SLICE("x"), SLICE("later"),
	    &now));
}

Test(allowance, what_was_sent_survives_a_restart)
{
	struct warm_table first = { .size = 0 }, again = { .size = 0 };
	struct str text = STR_INIT;

	one = allowance_get(&first.shared, &thread);
	(void)allowance_admits(&first.shared, one, &zone, 3, &now,
	    &until_ms);
	cr_assert(allowance_question(&first.shared, now.ms, &text));
	cr_assert(allowance_answered(&first.shared, SLICE("1"),
	    SLICE("given 20001 85800 20000 9 9"), &now));
	allowance_spend(one, 7, now.ms);
	str_reset(&text);
	warm_add_lines(&first, &text);
	cr_expect_str_eq(text.buf, "%warms\tnews\ta.example\t20001\t7\n");
	str_adds(&text, "%warms\tx\n%warms\ta\tb\t20001\tmany\n\n%warms");
	warm_read(&again, str_slice(&text), now.s);
	cr_expect_eq(again.shared.count, 1);
	one = allowance_find(&again.shared, &thread);
	cr_assert_not_null(one);
	(void)allowance_admits(&again.shared, one, &zone, 3, &now,
	    &until_ms);
	str_reset(&text);
	cr_assert(allowance_question(&again.shared, now.ms, &text));
	cr_expect_str_eq(text.buf,
	    "w1 warm news 20001 7 0 1 3 a.example\n");
	warm_release(&first);
	warm_release(&again);
	str_release(&text);
}
