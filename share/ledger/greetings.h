/* greetings.h - the greylist that all nodes share
 *
 * Every node has its own greylist, too, which decides while Redis is away.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_LEDGER_GREETINGS_H
#define ZM_SHARE_LEDGER_GREETINGS_H

#include "daemon/skeleton.h"
#include "share/redis/store.h"

struct greetings;
struct greeting;

enum { GREETING_AWAY = -1 };

/* wait_s 0: it passes; GREETING_AWAY: nobody knows. */
typedef void greetings_answer_fn(void *context, int64_t wait_s);

/* What is borrowed must outlive it. */
struct greetings *greetings_new(const struct conf_cluster *cluster,
    struct store *store);
/* What is asked is not answered. */
void greetings_free(struct greetings **greetings);

/* Ask what question, of the verb greet, says.  returns the greeting until fn is
 * called; NULL: it was called already. */
struct greeting *greetings_ask(struct greetings *greetings,
    const struct words_question *question, greetings_answer_fn *fn,
    void *context);
/* Nobody waits for it any more; NULL is harmless; nulls *greeting. */
void greetings_forget(struct greeting **greeting);

#endif
