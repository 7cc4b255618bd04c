/* key_cache.h - the keys of `sign <table> keys DIR`, read when first asked for
 *
 * So many at a time; the one that nobody has asked for longest goes.  A key
 * that is asked for KEY_CACHE_LOOK_MS after it was looked at is looked at
 * again: its file's inode, time and size.  One that broke, or went, leaves the
 * one before in use, as long as it is kept here.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_SIGN_KEY_CACHE_H
#define ZM_ROUTER_SIGN_KEY_CACHE_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	KEY_CACHE_MAX = 1024,		/* keys */
	KEY_CACHE_LOOK_MS = 3 * 1000	/* then its file is looked at again */
};

struct evp_pkey_st;
struct key_cache;

/* max: keys, at least 1. */
struct key_cache *key_cache_new(size_t max);
void key_cache_free(struct key_cache **cache);

/* The key in DIR/SELECTOR._domainkey.DOMAIN.private, which is the cache's and
 * good until the next call.  now_ms: clock_steady_ms.  Looks at a disk.  NULL:
 * it was never any good; err says why, and an event did so the first time. */
struct evp_pkey_st *key_cache_find(struct key_cache *cache, const char *dir,
    struct slice domain, struct slice selector, int64_t now_ms,
    struct err *err);

/* Look at all of them again when they are asked for. */
void key_cache_age(struct key_cache *cache);

/* How many there are, for tests. */
size_t key_cache_count(const struct key_cache *cache);

#endif
