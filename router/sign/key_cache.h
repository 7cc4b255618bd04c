/* key_cache.h - the keys of `sign <table> keys DIR`, read when first asked for
 *
 * It has at most max keys; the one that was not asked for longest is dropped.
 * If a key is asked for KEY_CACHE_LOOK_MS after the last look at its file, the
 * file's inode, time and size are compared again.  If the file is broken or
 * gone, the old key stays in use as long as it is cached.
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
	KEY_CACHE_LOOK_MS = 3 * 1000	/* between two looks at a file */
};

struct evp_pkey_st;
struct key_cache;

/* max: keys, at least 1. */
struct key_cache *key_cache_new(size_t max);
void key_cache_free(struct key_cache **cache);

/* The key in DIR/SELECTOR._domainkey.DOMAIN.private, which the cache owns; it
 * is valid until the next call.  now_ms: clock_steady_ms.  May wait for a disk.
 * NULL: it was never good; err says why, and so did an event the first time. */
struct evp_pkey_st *key_cache_find(struct key_cache *cache, const char *dir,
    struct slice domain, struct slice selector, int64_t now_ms,
    struct err *err);

/* Look at each file again when its key is asked for. */
void key_cache_age(struct key_cache *cache);

/* How many there are, for tests. */
size_t key_cache_count(const struct key_cache *cache);

#endif
