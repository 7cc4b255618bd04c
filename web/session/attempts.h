/* attempts.h - how often somebody gave a wrong password, of late
 *
 * Bounded: when all places are taken the one whose last attempt is longest
 * ago is given away.
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
	ATTEMPTS_PAUSE_MS = 1000	/* between two, of anybody */
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

/* Nobody tried yet. */
void attempts_init(struct attempts *attempts);
/* May this one try now?  NULL; else why not.  What comes next counts as a
 * try. */
const char *attempts_refuse(struct attempts *attempts, const char *client,
    struct slice user, int64_t now_ms);
/* It failed. */
void attempts_failed(struct attempts *attempts, const char *client,
    struct slice user, int64_t now_ms);
/* It did not: what was counted of them is forgotten. */
void attempts_good(struct attempts *attempts, const char *client,
    struct slice user);

#endif
