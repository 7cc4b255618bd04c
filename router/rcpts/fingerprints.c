/* fingerprints.c - a set of fingerprints that remembers the order they came in
 *
 * In     byte strings, hostile ones too
 * Out    whether each is new
 * Holds  two arrays, used again from message to message
 *
 * Open addressing with linear probing, at most half full.  Entries are taken
 * back newest first, so a slot can simply be cleared: whatever was put
 * after it by probing came later and is gone already.
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/rcpts/fingerprints.h"


#include "base/mem.h"

#include "base/banned.h"

enum { FINGERPRINTS_MIN = 16, FINGERPRINTS_KEEP_MAX = 4096 };

void
fingerprints_init(struct fingerprints *set)
{
	*set = (struct fingerprints){ .capacity = 0 };
}

void
fingerprints_release(struct fingerprints *set)
{
	mem_free(&set->list);
	mem_free(&set->slots);
	fingerprints_init(set);
}

void
fingerprints_reset(struct fingerprints *set)
{
	if (set->capacity > FINGERPRINTS_KEEP_MAX)
		fingerprints_release(set);
	else
		fingerprints_truncate(set, 0);
}

/* The slot that holds the fingerprint, or the free one where it belongs. */
static size_t
fingerprints_slot(const struct fingerprints *set,
    const struct siphash *fingerprint)
{
	size_t at = fingerprint->low & set->mask;

	for (; set->slots[at] != 0; at = (at + 1) & set->mask) {
		const struct siphash *other =
		    &set->list[set->slots[at] - 1];

		if (other->low == fingerprint->low && other->high ==
		    fingerprint->high)
			break;
	}
	return at;
}

static void
fingerprints_grow(struct fingerprints *set)
{
	size_t capacity = set->capacity ? set->capacity * 2 :
	    FINGERPRINTS_MIN;

	set->list = mem_grow(set->list, capacity,
	    sizeof(*set->list));
	mem_free(&set->slots);
	set->slots = mem_alloc(capacity * 2, sizeof(*set->slots));
	set->capacity = capacity;
	set->mask = capacity * 2 - 1;
	for (size_t i = 0; i < set->count; i++)
		set->slots[fingerprints_slot(set, &set->list[i])] =
		    (uint32_t)i + 1;
}

bool
fingerprints_add(struct fingerprints *set, struct slice text)
{
	struct siphash fingerprint = siphash(siphash_process_key(), text);
	size_t at;

	if (set->count == set->capacity)
		fingerprints_grow(set);
	at = fingerprints_slot(set, &fingerprint);
	if (set->slots[at] != 0)
		return false;
	set->list[set->count++] = fingerprint;
	set->slots[at] = (uint32_t)set->count;
	return true;
}

void
fingerprints_truncate(struct fingerprints *set, size_t count)
{
	while (set->count > count) {
		set->slots[fingerprints_slot(set,
		    &set->list[set->count - 1])] = 0;
		set->count--;
	}
}
