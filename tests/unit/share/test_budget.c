/* test_budget.c - batches, and what a node counts by alone
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "share/count/budget.h"

enum { HOUR_MS = 3600000 };

Test(share_budget, a_batch_is_a_second_of_the_rate_for_each_node)
{
	static const struct {
		uint64_t count;
		int64_t	 span_ms;
		unsigned nodes;
		uint64_t batch;
	} rows[] = {
		{ 10, HOUR_MS, 2, 1 },		/* less than one a second */
		{ 3600, HOUR_MS, 1, 1 },
		{ 7200, HOUR_MS, 1, 2 },
		{ 7200, HOUR_MS, 2, 1 },
		{ 6000, 60000, 1, 100 },
		{ 6000, 60000, 3, 33 },
		{ 6000, 60000, 0, 100 },
		{ 5, 10, 1, 5 },		/* never more than there is */
		{ 1, 1000, 1, 1 },
		{ UINT32_MAX, 1, 1, UINT32_MAX },
		{ 10, 0, 1, 10 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(budget_batch(rows[i].count, rows[i].span_ms,
		    rows[i].nodes), rows[i].batch, "%zu", i);
}

Test(share_budget, all_batches_of_a_second_are_what_comes_back_in_it)
{
	for (unsigned nodes = 1; nodes <= 100; nodes++)
		cr_expect_leq(nodes * budget_batch(600000, 60000, nodes),
		    10000, "%u", nodes);
}

Test(share_budget, alone_a_node_has_its_part_and_at_least_one)
{
	static const struct { uint64_t count; unsigned nodes;
		uint64_t alone;
	} rows[] = {
		{ 10, 2, 5 }, { 10, 3, 3 }, { 10, 1, 10 }, { 10, 11, 1 },
		{ 1, 100, 1 }, { 10, 0, 10 }, { UINT32_MAX, 1, UINT32_MAX },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(budget_alone(rows[i].count, rows[i].nodes),
		    rows[i].alone, "%zu", i);
}

Test(share_budget, what_is_in_a_purse_is_spent_within_a_second)
{
	struct purse purse = { .left = 0 };

	cr_expect(!purse_spend(&purse, 1000));
	purse_fill(&purse, 2, 1000);
	cr_expect(purse_spend(&purse, 1000));
	cr_expect(!purse_is_empty(&purse, 1999));
	cr_expect(purse_spend(&purse, 1999));
	cr_expect(!purse_spend(&purse, 1999));
	purse_fill(&purse, 2, 5000);
	cr_expect(purse_is_empty(&purse, 5000 + PURSE_FOR_MS));
	cr_expect(!purse_spend(&purse, 5000 + PURSE_FOR_MS));
	purse_fill(&purse, 5, 7000);
	purse_fill(&purse, 1, 7001);	/* what it held is lost */
	cr_expect(purse_spend(&purse, 7002));
	cr_expect(!purse_spend(&purse, 7002));
}

Test(share_budget, who_waits_is_told_at_least_a_second)
{
	cr_expect_eq(budget_seconds(0), 1);
	cr_expect_eq(budget_seconds(-5), 1);
	cr_expect_eq(budget_seconds(1), 1);
	cr_expect_eq(budget_seconds(999999), 1);
	cr_expect_eq(budget_seconds(1000000), 2);
	cr_expect_eq(budget_seconds(360000000), 361);
}
