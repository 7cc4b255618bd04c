/* holdings.h - the places of a limit that all nodes share
 *
 * Who takes one gets a name for it and says, every SHARE_KEEP_EVERY_MS, that it
 * is held still; one that nobody keeps for HOLDINGS_FOR_MS is free again, here
 * and in Redis: so nothing stays taken that belonged to a process, or a node,
 * which is gone.  While Redis is away this node allows its part of COUNT, and
 * when it is back all that is held here is entered again.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_LEDGER_HOLDINGS_H
#define ZM_SHARE_LEDGER_HOLDINGS_H

#include "daemon/skeleton.h"
#include "io/consult/share_ask.h"
#include "share/ledger/members.h"
#include "share/redis/store.h"

enum {
	HOLDINGS_MAX = 65536,		/* held, and asked for */
	HOLDINGS_FOR_MS = SHARE_KEEP_EVERY_MS * 3,
	HOLDINGS_BATCH = 64		/* kept by one script */
};

struct holdings;
struct holding_wait;

/* name: of the place that was taken; borrowed.  NULL: all are taken. */
typedef void holdings_answer_fn(void *context, const char *name);

/* What is borrowed must outlive it. */
struct holdings *holdings_new(struct process *process, struct store *store,
    const struct members *members);
/* Waits are not answered. */
void holdings_free(struct holdings **holdings);

/* Take one of COUNT places of key.  returns the wait until fn is called; NULL:
 * it was called already. */
struct holding_wait *holdings_take(struct holdings *holdings, struct slice key,
    uint64_t count, holdings_answer_fn *fn, void *context);
/* Nobody waits for it any more: what it takes is given back.  NULL is
 * harmless; nulls *wait. */
void holdings_forget(struct holding_wait **wait);
/* Is there room for one more? */
bool holdings_have_room(const struct holdings *holdings);

/* It is held still, or it is given back: one that holdings_take named, in this
 * process or one before it. */
void holdings_keep(struct holdings *holdings, struct slice name,
    struct slice key, uint64_t count);
void holdings_drop(struct holdings *holdings, struct slice name,
    struct slice key, uint64_t count);

/* Redis answers, or no more. */
void holdings_change(struct holdings *holdings);

/* How many are held by this node. */
size_t holdings_held(const struct holdings *holdings);

#endif
