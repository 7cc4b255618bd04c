/* bulletin.h - what nodes tell each other: failed logins, and who is blocked
 *
 * A question about news waits until there are some: Redis is looked at every
 * BULLETIN_EVERY_MS.  While it is away nothing is told, and nothing is kept for
 * later.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_LEDGER_BULLETIN_H
#define ZM_SHARE_LEDGER_BULLETIN_H

#include "daemon/skeleton.h"
#include "share/count/news.h"
#include "share/redis/store.h"

enum { BULLETIN_EVERY_MS = 500 };

struct bulletin;
struct bulletin_wait;

/* The answer: lines, each with its LF, the last begins with "ok"
 * (doc/protocol/share.md). */
typedef void bulletin_answer_fn(void *context, struct slice lines);

/* What is borrowed must outlive it. */
struct bulletin *bulletin_new(struct process *process, struct store *store);
/* What is asked is not answered. */
void bulletin_free(struct bulletin **bulletin);

/* Tell the others of a failed login, or that they are forgotten. */
void bulletin_tell(struct bulletin *bulletin,
    const struct news_question *question);

/* Ask one of the other questions.  returns the wait until fn is called; NULL:
 * it was called already. */
struct bulletin_wait *bulletin_ask(struct bulletin *bulletin,
    const struct news_question *question, bulletin_answer_fn *fn,
    void *context);
/* Nobody waits for it any more; NULL is harmless; nulls *wait. */
void bulletin_forget(struct bulletin_wait **wait);

#endif
