/* failures.h - how often clients failed to log in lately
 *
 * Memory shared by all workers of an smtpserver, made by the listener before it
 * forks them.  When it is full the oldest are forgotten.  A worker that was
 * taken over can only forget or invent failures.
 *
 * Other machines of a cluster are told of a key by its sum, which is the same
 * on all of them; what they tell counts as if it had been here.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_FAILURES_H
#define ZM_SMTPSERVER_AUTH_FAILURES_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct failures;

enum {
	FAILURES_FOR_MS = 15 * 60 * 1000,	/* since the last one */
	FAILURES_SLOTS = 16384,
	FAILURES_SUM_BYTES = 33		/* hex digits, with the NUL */
};

/* NULL with err. */
struct failures *failures_new(struct err *err);
void failures_free(struct failures **failures);

/* How many failures of key ("address 192.0.2.7", "user bob") count now. */
unsigned failures_count(const struct failures *failures, struct slice key);
/* Add one; returns how many there are now. */
unsigned failures_add(struct failures *failures, struct slice key);
/* Forget them. */
void failures_clear(struct failures *failures, struct slice key);

/* What other machines know a key by. */
void failures_sum(struct slice key, char out[FAILURES_SUM_BYTES]);
/* One failed there so long ago; or its failures were forgotten there. */
void failures_hear(struct failures *failures, struct slice sum,
    int64_t age_ms);
void failures_hear_clear(struct failures *failures, struct slice sum);

#endif
