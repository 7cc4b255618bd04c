/* cache.c - short answers that count for a while
 *
 * In     keys, answers, moments
 * Out    answers
 * Holds  one text a slot: the key and the answer
 * Trusts no key: the hash is seeded, slots cannot be aimed at
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/cache.h"

#include "base/banned.h"

struct cache_slot {
	struct str	text;		/* key, then answer */
	size_t		key_bytes;
	int64_t		until_ms;
};

struct cache {
	struct cache_slot	*slots;
	size_t			 count;
	uint32_t		 seed;
};

struct cache *
cache_new(size_t slots)
{
	struct cache *cache = mem_alloc(1, sizeof(*cache));

	cache->slots = mem_alloc(slots, sizeof(*cache->slots));
	cache->count = slots;
	cache->seed = arc4random();
	for (size_t i = 0; i < slots; i++)
		str_init(&cache->slots[i].text);
	return cache;
}

void
cache_free(struct cache **cache)
{
	if (*cache == NULL)
		return;
	for (size_t i = 0; i < (*cache)->count; i++)
		str_release(&(*cache)->slots[i].text);
	mem_free(&(*cache)->slots);
	mem_free(cache);
}

/* FNV-1a over the seed and the key. */
static struct cache_slot *
cache_slot(const struct cache *cache, struct slice key)
{
	uint32_t hash = cache->seed ^ 2166136261u;

	for (size_t i = 0; i < key.n; i++)
		hash = (hash ^ (unsigned char)key.p[i]) * 16777619u;
	return &cache->slots[(hash ^ hash >> 16) & (cache->count - 1)];
}

bool
cache_find(const struct cache *cache, struct slice key, int64_t now_ms,
    struct slice *out_answer)
{
	const struct cache_slot *slot = cache_slot(cache, key);
	struct slice text = str_slice(&slot->text);

	if (now_ms >= slot->until_ms || slot->key_bytes != key.n ||
	    !slice_equal(slice_first(text, key.n), key))
		return false;
	*out_answer = slice_from(text, key.n);
	return true;
}

int64_t
cache_valid_for(const struct cache *cache, struct slice key, int64_t now_ms)
{
	struct slice answer;

	return cache_find(cache, key, now_ms, &answer) ?
	    cache_slot(cache, key)->until_ms - now_ms : 0;
}

void
cache_clear(struct cache *cache)
{
	for (size_t i = 0; i < cache->count; i++)
		cache->slots[i].until_ms = 0;
}

void
cache_add(struct cache *cache, struct slice key, struct slice answer,
    int64_t until_ms)
{
	struct cache_slot *slot = cache_slot(cache, key);

	str_reset(&slot->text);
	str_add_slice(&slot->text, key);
	str_add_slice(&slot->text, answer);
	slot->key_bytes = key.n;
	slot->until_ms = until_ms;
}
