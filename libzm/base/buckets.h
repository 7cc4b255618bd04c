/* buckets.h - rates, and how many at a time, counted for any key
 *
 * Pure: time is an argument.  A rate is a bucket of COUNT that refills evenly
 * within SPAN; a hold is one of N slots, taken until it is released or too
 * old.  The number of keys is bounded: if there are too many, those without
 * state (full buckets, no holds) are forgotten first, then any.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_BUCKETS_H
#define ZM_BASE_BUCKETS_H

#include <stdint.h>

#include "base/str.h"

enum {
	BUCKETS_MAX = 1 << 17,
	HOLDS_MAX = 1 << 16,
	HOLD_FOR_MS = 60 * 60 * 1000	/* after that its holder must be dead */
};

struct buckets;

/* Buckets and holds in memory; no key is known yet.  Never NULL. */
struct buckets *buckets_new(void);
/* Free all and set *buckets to NULL. */
void buckets_free(struct buckets **buckets);

/* Take one from the key's bucket of count.  returns 0: there was one; else in
 * how many milliseconds there will be one. */
int64_t buckets_take(struct buckets *buckets, struct slice key,
    uint64_t count, int64_t span_ms, int64_t now_ms);

/* Take one of the key's max slots.  returns a number for buckets_release; 0:
 * all are taken. */
uint64_t buckets_hold(struct buckets *buckets, struct slice key,
    uint64_t max, int64_t now_ms);
/* Give a slot back; harmless when it was given back already. */
void buckets_release(struct buckets *buckets, uint64_t hold);

/* For tests: how many keys are known now. */
size_t buckets_count(const struct buckets *buckets);

#endif
