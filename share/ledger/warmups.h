/* warmups.h - what a node may send of a warm-up that all nodes share
 *
 * The scheduler asks ahead and plans with what it was given; while Redis is
 * away it counts for itself, with the plan divided by the nodes.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_LEDGER_WARMUPS_H
#define ZM_SHARE_LEDGER_WARMUPS_H

#include "share/ledger/members.h"
#include "share/redis/store.h"

struct warmups;
struct warmup;

/* What follows "ok ": "given DAY LEFT-S FIRST SENT GIVEN", "alone NODES",
 * "later". */
typedef void warmups_answer_fn(void *context, struct slice answer);

/* What is borrowed must outlive it. */
struct warmups *warmups_new(const struct conf *conf, struct store *store,
    const struct members *members);
/* What is asked is not answered. */
void warmups_free(struct warmups **warmups);

/* Ask what question, of the verb warm, says.  returns the warm-up until fn is
 * called; NULL: it was called already. */
struct warmup *warmups_ask(struct warmups *warmups,
    const struct words_question *question, warmups_answer_fn *fn,
    void *context);
/* Nobody waits for it any more; NULL is harmless; nulls *warmup. */
void warmups_forget(struct warmup **warmup);

#endif
