/* cache.h - short answers that are valid for a while
 *
 * A fixed number of slots; of two answers for the same slot the newer stays.
 * For answers that may be forgotten at any time.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_CACHE_H
#define ZM_BASE_CACHE_H

#include <stdint.h>

#include "base/str.h"

struct cache;

/* slots: a power of two.  Never NULL; cache_free sets *cache to NULL. */
struct cache *cache_new(size_t slots);
void cache_free(struct cache **cache);
/* The answer to key; false: there is none that is valid at now_ms
 * (clock_steady_ms).  *out_answer can be read until the next call. */
bool cache_find(const struct cache *cache, struct slice key, int64_t now_ms,
    struct slice *out_answer);
/* For how many ms from now_ms on the answer to key is valid; 0: there is
 * none. */
int64_t cache_valid_for(const struct cache *cache, struct slice key,
    int64_t now_ms);
/* Forget all answers. */
void cache_clear(struct cache *cache);
/* Keep an answer (copied) until until_ms. */
void cache_add(struct cache *cache, struct slice key, struct slice answer,
    int64_t until_ms);

#endif
