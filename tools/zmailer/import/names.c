/* names.c - which names there are, found by a hash
 *
 * In     names
 * Out    the number that each has
 * Holds  nothing; slots lie in the arena
 * Spec   tools/zmailer/import/import.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/siphash.h"
#include "tools/zmailer/import/import.h"

#include "base/banned.h"

/* Where that name is, or may be put. */
static struct import_name *
names_slot(const struct import_names *names, struct slice name)
{
	struct siphash hash = siphash(siphash_process_key(), name);
	size_t at = (size_t)hash.low & (names->size - 1);

	while (names->slots[at].number != 0 &&
	    !slice_equal(names->slots[at].name, name))
		at = (at + 1) & (names->size - 1);
	return &names->slots[at];
}

/* Half of it stays free. */
static void
names_grow(struct arena *arena, struct import_names *names)
{
	struct import_names old = *names;

	if (2 * (old.count + 1) <= old.size)
		return;
	names->size = old.size == 0 ? 64 : 2 * old.size;
	names->slots = arena_alloc(arena, names->size *
	    sizeof(*names->slots));
	memset(names->slots, 0, names->size * sizeof(*names->slots));
	for (size_t i = 0; i < old.size; i++)
		if (old.slots[i].number != 0)
			*names_slot(names, old.slots[i].name) = old.slots[i];
}

uint32_t
import_name_number(const struct import_names *names, struct slice name)
{
	return names->size == 0 ? 0 : names_slot(names, name)->number;
}

void
import_name_put(struct arena *arena, struct import_names *names,
    struct slice name, uint32_t number)
{
	struct import_name *slot;

	names_grow(arena, names);
	slot = names_slot(names, name);
	if (slot->number == 0) {
		slot->name = slice_copy(arena, name);
		names->count++;
	}
	slot->number = number;
}
