/* attempts.h - how often a wrong password was given recently
 *
 * The number of places is bounded: if all are taken, the one with the oldest
 * last attempt is reused.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ATTEMPTS_H
#define ZM_WEB_ATTEMPTS_H

#include "base/siphash.h"

enum {
	ATTEMPTS_PLACES = 1024,
	ATTEMPTS_MS = 15 * 60 * 1000,	/* since the last one */
	ATTEMPTS_OF_CLIENT = 5,
	ATTEMPTS_OF_USER = 20,
	ATTEMPTS_PAUSE_MS = 1000	/* between any two */
};

struct attempts {
	struct attempts_place {
		uint64_t	hash;		/* 0: free */
		unsigned	count;
		int64_t		last_ms;
	}		 places[ATTEMPTS_PLACES];
	int64_t		 last_ms;		/* of anybody; 0: none */
	struct siphash_key key;
};

/* There were no attempts yet. */
void attempts_init(struct attempts *attempts);
/* Why this client and user may not try now; NULL: they may, and this counts as
 * an attempt. */
const char *attempts_refuse(struct attempts *attempts, const char *client,
    struct slice user, int64_t now_ms);
/* It failed. */
void attempts_failed(struct attempts *attempts, const char *client,
    struct slice user, int64_t now_ms);
/* It succeeded: forget what was counted for them. */
void attempts_good(struct attempts *attempts, const char *client,
    struct slice user);

#endif
