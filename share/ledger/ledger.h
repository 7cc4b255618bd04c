/* ledger.h - who may take what of the limits that all nodes share
 *
 * A question is answered from the batch that its key has, from Redis, or,
 * while that is away, from buckets of this node alone: COUNT divided by the
 * nodes that were seen last.  There is always an answer.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_LEDGER_LEDGER_H
#define ZM_SHARE_LEDGER_LEDGER_H

#include "daemon/skeleton.h"
#include "share/ledger/bulletin.h"
#include "share/ledger/greetings.h"
#include "share/ledger/holdings.h"
#include "share/ledger/warmups.h"
#include "share/redis/store.h"

enum {
	LEDGER_SEEN_EVERY_MS = 5000,	/* say that we are there */
	LEDGER_WAITS_MAX = 65536
};

struct ledger;
struct ledger_wait;

/* wait_s 0: taken; else it is over the limit, for so many seconds. */
typedef void ledger_answer_fn(void *context, int64_t wait_s);

/* What is borrowed must outlive it. */
struct ledger *ledger_new(struct process *process,
    const struct store_goal *goal);
/* Waits are not answered. */
void ledger_free(struct ledger **ledger);

/* Take one of COUNT in SPAN of key.  returns the wait until fn is called; NULL:
 * it was called already. */
struct ledger_wait *ledger_take(struct ledger *ledger, struct slice key,
    uint64_t count, int64_t span_ms, ledger_answer_fn *fn, void *context);
/* Nobody waits for it any more; NULL is harmless; nulls *wait. */
void ledger_forget(struct ledger_wait **wait);

/* The places of its limits, who was seen before, what nodes tell, and what they
 * may send of a warm-up. */
struct holdings *ledger_holdings(const struct ledger *ledger);
struct greetings *ledger_greetings(const struct ledger *ledger);
struct bulletin *ledger_bulletin(const struct ledger *ledger);
struct warmups *ledger_warmups(const struct ledger *ledger);

/* Append the lines of a status, each with TOKEN in front
 * (doc/protocol/share.md). */
void ledger_add_status(const struct ledger *ledger, struct slice token,
    struct str *out);

#endif
