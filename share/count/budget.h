/* budget.h - what a node may take of a limit that all nodes share
 *
 * Pure: time is an argument.  A hot key is not asked for every recipient: a
 * node takes a batch, at most what a second of the rate brings, divided by
 * the nodes, and spends it within a second; what is left then is lost.  So
 * all batches of a second together are no more than what comes back in it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COUNT_BUDGET_H
#define ZM_SHARE_COUNT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PURSE_FOR_MS = 1000	/* a batch is spent within */
};

/* The largest batch of COUNT/SPAN with so many nodes; at least 1. */
uint64_t budget_batch(uint64_t count, int64_t span_ms, unsigned nodes);

/* The COUNT of a node that counts for itself; at least 1. */
uint64_t budget_alone(uint64_t count, unsigned nodes);

/* The seconds to say to who waits so long; at least 1. */
int64_t budget_seconds(int64_t wait_us);

/* What was taken of one key and is not spent. */
struct purse {			/* zeroed: empty */
	uint64_t	left;
	int64_t		until_ms;
};

/* It holds n now, and what it held is lost. */
void purse_fill(struct purse *purse, uint64_t n, int64_t now_ms);
/* Take one.  false: there is none. */
bool purse_spend(struct purse *purse, int64_t now_ms);
/* Is there nothing in it any more? */
bool purse_is_empty(const struct purse *purse, int64_t now_ms);

#endif
