/* sentinels.h - one of the sentinels is asked where the master is
 *
 * A connection for each question; nothing of it stays.  What one tells is an
 * address, which is checked; that the master is there is for ROLE to say.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_REDIS_SENTINELS_H
#define ZM_SHARE_REDIS_SENTINELS_H

#include "io/loop.h"
#include "share/redis/places.h"
#include "tls/client.h"

enum { SENTINELS_WHY_BYTES = 200 };

struct sentinels;

struct sentinels_goal {		/* borrowed */
	const char		*master;	/* what they call it */
	const char		*password;	/* NULL: they want none */
	struct tls_client	*tls;		/* NULL: in the clear */
};

/* Where the master is, borrowed until the next question; NULL: why says why
 * nobody knows. */
typedef void sentinels_fn(void *context, const struct store_place *master,
    const char *why);

/* patience_ms: from the start of a question to its answer. */
struct sentinels *sentinels_new(struct loop *loop,
    const struct sentinels_goal *goal, int64_t patience_ms, sentinels_fn *fn,
    void *context);
void sentinels_free(struct sentinels **sentinels);

/* Ask the one at this place; fn is called in the loop. */
void sentinels_ask(struct sentinels *sentinels,
    const struct store_place *place);
/* fn is not called any more for what was asked; NULL is harmless. */
void sentinels_stop(struct sentinels *sentinels);

/* What one has answered to "get-master-addr-by-name": the items of an array.
 * Pure.  0; -1: it is no address (err). */
int sentinels_read(struct slice items, struct store_place *out,
    struct err *err);

#endif
