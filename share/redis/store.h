/* store.h - the Redis that all nodes share: one connection, and a breaker
 *
 * Questions are scripts (count/words.h), sent as they come and answered in
 * order.  One that has no answer within its patience opens the breaker: the
 * connection is given up, all that is asked is answered "away" at once, and
 * every second the addresses are tried again, or the sentinels asked, until one
 * says that it is the master and takes the scripts.  Nothing is kept for later.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_REDIS_STORE_H
#define ZM_SHARE_REDIS_STORE_H

#include "daemon/skeleton.h"
#include "share/count/words.h"
#include "share/redis/places.h"
#include "share/redis/sentinels.h"
#include "tls/client.h"

enum {
	STORE_PROBE_MS = 1000,
	STORE_PROBE_MS_MAX = 30000,	/* of one that answers no question */
	STORE_ASKED_MAX = 8192,	/* in flight */
	STORE_SHAKE_MS = 2000,	/* until it has greeted by TLS: nobody waits
				 * for that */
	STORE_WHY_BYTES = 256
};

struct store;

/* An answer; is_away: there is none, and text says why.  Called in the loop,
 * or before store_ask returns when it is away. */
typedef void store_answer_fn(void *context, bool is_away, struct slice text);

struct store_goal {		/* borrowed */
	const struct places	*places;	/* of Redis, or of sentinels */
	struct sentinels_goal	 sentinels;	/* master NULL: none */
	const char		*password;	/* that it wants to hear; NULL:
						 * none */
	struct tls_client	*tls;	/* NULL: in the clear */
};

/* changed_fn: it answers now, or no more; may be asked then. */
struct store *store_new(struct process *process,
    const struct store_goal *goal, loop_fn *changed_fn, void *context);
void store_free(struct store **store);

struct store_question {		/* a script, on keys, with arguments */
	enum words_script	 script;
	const struct slice	*keys, *args;
	size_t			 key_count, arg_count;
};
/* Run it; what is borrowed is copied. */
void store_ask(struct store *store, const struct store_question *question,
    store_answer_fn *fn, void *context);

/* Would a question be sent on now? */
bool store_is_open(const struct store *store);

struct store_state {
	bool		 is_up;
	bool		 is_opening;	/* nobody knows yet: after the start */
	int64_t		 since_ms;	/* steady */
	const char	*place;		/* the last that was tried */
	const char	*why;		/* it is away */
	uint64_t	 trips;		/* answers, since the start */
};
/* How it stands; borrowed until the next turn. */
struct store_state store_state(const struct store *store);

#endif
