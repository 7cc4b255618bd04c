/* memo.c - a set of byte strings that remembers the order they came in
 *
 * In     keys, hostile ones too
 * Out    their numbers
 * Holds  nothing but arena memory
 *
 * Open addressing with linear probing, at most half full.  Entries are taken
 * back newest first, so a slot can simply be cleared: whatever was put
 * after it by probing came later and is gone already.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "router/rcpts/memo.h"

#include "base/banned.h"

enum { MEMO_ENTRIES_MIN = 4 };

static uint64_t
memo_seed(void)
{
	static uint64_t seed;

	while (seed == 0)
		seed = (uint64_t)arc4random() << 32 | arc4random();
	return seed;
}

static uint64_t
memo_mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

static uint32_t
memo_hash(struct slice key)
{
	uint64_t h = memo_seed() ^ key.n, word;

	for (; key.n >= 8; key = slice_from(key, 8)) {
		memcpy(&word, key.p, 8);
		h = memo_mix(h ^ word);
	}
	word = 0;
	if (key.n > 0)
		memcpy(&word, key.p, key.n);
	return (uint32_t)memo_mix(h ^ word);
}

/* The slot that holds key, or the free one where it belongs. */
static size_t
memo_slot(const struct memo *memo, struct slice key, uint32_t hash)
{
	size_t at = hash & memo->mask;

	for (; memo->slots[at] != 0; at = (at + 1) & memo->mask) {
		const struct memo_entry *e =
		    &memo->entries[memo->slots[at] - 1];

		if (e->hash == hash && slice_equal(e->key, key))
			break;
	}
	return at;
}

static void
memo_resize(struct memo *memo, size_t capacity)
{
	struct memo_entry *entries;

	entries = arena_alloc(memo->arena, capacity * sizeof(*entries));
	if (memo->count > 0)
		memcpy(entries, memo->entries, memo->count * sizeof(*entries));
	memo->entries = entries;
	memo->capacity = capacity;
	memo->mask = capacity * 2 - 1;
	memo->slots = arena_alloc(memo->arena,
	    capacity * 2 * sizeof(*memo->slots));
	for (size_t i = 0; i < memo->count; i++)
		memo->slots[memo_slot(memo, entries[i].key, entries[i].hash)] =
		    (uint32_t)i + 1;
}

void
memo_init(struct memo *memo, struct arena *arena, size_t expected)
{
	size_t capacity = MEMO_ENTRIES_MIN;

	*memo = (struct memo){ .arena = arena };
	while (capacity < expected)
		capacity *= 2;
	memo_resize(memo, capacity);
}

bool
memo_add(struct memo *memo, struct slice key, size_t *out_number)
{
	uint32_t hash = memo_hash(key);
	size_t at = memo_slot(memo, key, hash);

	if (memo->slots[at] != 0) {
		*out_number = memo->slots[at] - 1;
		return false;
	}
	if (memo->count == memo->capacity) {
		memo_resize(memo, memo->capacity * 2);
		at = memo_slot(memo, key, hash);
	}
	memo->entries[memo->count] = (struct memo_entry){ key, hash };
	*out_number = memo->count++;
	memo->slots[at] = (uint32_t)memo->count;
	return true;
}

bool
memo_find(const struct memo *memo, struct slice key, size_t *out_number)
{
	size_t at = memo_slot(memo, key, memo_hash(key));

	if (memo->slots[at] == 0)
		return false;
	*out_number = memo->slots[at] - 1;
	return true;
}

void
memo_truncate(struct memo *memo, size_t count)
{
	while (memo->count > count) {
		struct memo_entry *e = &memo->entries[memo->count - 1];

		memo->slots[memo_slot(memo, e->key, e->hash)] = 0;
		memo->count--;
	}
}
