/* prints.c - a set of fingerprints that remembers the order they came in
 *
 * In     byte strings, hostile ones too
 * Out    whether each is new
 * Holds  two arrays, used again from message to message
 *
 * Open addressing with linear probing, at most half full.  Entries are taken
 * back newest first, so a slot can simply be cleared: whatever was put
 * behind it by probing came later and is gone already.
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/message/prints.h"

#include <string.h>

#include "base/mem.h"

#include "base/banned.h"

enum { PRINTS_MIN = 16, PRINTS_KEEP_MAX = 4096 };

void
prints_init(struct prints *prints)
{
	*prints = (struct prints){ .capacity = 0 };
}

void
prints_release(struct prints *prints)
{
	mem_free(&prints->list);
	mem_free(&prints->slots);
	prints_init(prints);
}

void
prints_reset(struct prints *prints)
{
	if (prints->capacity > PRINTS_KEEP_MAX)
		prints_release(prints);
	else
		prints_truncate(prints, 0);
}

/* The slot that holds the print, or the free one where it belongs. */
static size_t
slot_of(const struct prints *prints, const struct siphash *print)
{
	size_t at = print->low & prints->mask;

	for (; prints->slots[at] != 0; at = (at + 1) & prints->mask) {
		const struct siphash *other =
		    &prints->list[prints->slots[at] - 1];

		if (other->low == print->low && other->high == print->high)
			break;
	}
	return at;
}

static void
grow(struct prints *prints)
{
	size_t capacity = prints->capacity ? prints->capacity * 2 :
	    PRINTS_MIN;

	prints->list = mem_grow(prints->list, capacity,
	    sizeof(*prints->list));
	mem_free(&prints->slots);
	prints->slots = mem_alloc(capacity * 2, sizeof(*prints->slots));
	prints->capacity = capacity;
	prints->mask = capacity * 2 - 1;
	for (size_t i = 0; i < prints->count; i++)
		prints->slots[slot_of(prints, &prints->list[i])] =
		    (uint32_t)i + 1;
}

bool
prints_add(struct prints *prints, struct slice text)
{
	struct siphash print = siphash(siphash_process_key(), text);
	size_t at;

	if (prints->count == prints->capacity)
		grow(prints);
	at = slot_of(prints, &print);
	if (prints->slots[at] != 0)
		return false;
	prints->list[prints->count++] = print;
	prints->slots[at] = (uint32_t)prints->count;
	return true;
}

void
prints_truncate(struct prints *prints, size_t count)
{
	while (prints->count > count) {
		prints->slots[slot_of(prints,
		    &prints->list[prints->count - 1])] = 0;
		prints->count--;
	}
}
