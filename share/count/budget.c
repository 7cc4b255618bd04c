/* budget.c - what a node may take of a limit that all nodes share
 *
 * In     COUNT and SPAN of a limit, how many nodes there are
 * Out    batches, and what is left of them
 * Holds  nothing
 * Spec   budget.h; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "share/count/budget.h"

#include "base/banned.h"

enum { US_A_SECOND = 1000000 };

uint64_t
budget_batch(uint64_t count, int64_t span_ms, unsigned nodes)
{
	double a_second = (double)count * 1000 /
	    (double)(span_ms > 0 ? span_ms : 1);
	double batch = a_second / (nodes > 0 ? nodes : 1);

	if (batch < 1)
		return 1;
	return batch < (double)count ? (uint64_t)batch : count;
}

uint64_t
budget_alone(uint64_t count, unsigned nodes)
{
	uint64_t alone = count / (nodes > 0 ? nodes : 1);

	return alone > 0 ? alone : 1;
}

int64_t
budget_seconds(int64_t wait_us)
{
	return wait_us <= 0 ? 1 : wait_us / US_A_SECOND + 1;
}

void
purse_fill(struct purse *purse, uint64_t n, int64_t now_ms)
{
	purse->left = n;
	purse->until_ms = now_ms + PURSE_FOR_MS;
}

bool
purse_is_empty(const struct purse *purse, int64_t now_ms)
{
	return purse->left == 0 || now_ms >= purse->until_ms;
}

bool
purse_spend(struct purse *purse, int64_t now_ms)
{
	if (purse_is_empty(purse, now_ms))
		return false;
	purse->left--;
	return true;
}
