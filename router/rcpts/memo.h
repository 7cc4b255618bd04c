/* memo.h - a set of byte strings that remembers the order they came in
 *
 * Numbers are given from 0 up; the newest can be taken back (an alias that
 * became too large is undone).  Everything lives in the arena.  The hash is
 * seeded, so that whoever chooses the strings cannot choose collisions.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_MEMO_H
#define ZM_ROUTER_MEMO_H

#include "base/str.h"

struct memo_entry {
	struct slice	key;
	uint32_t	hash;
};

struct memo {
	struct arena		*arena;
	struct memo_entry	*entries;
	size_t			 count, capacity;
	uint32_t		*slots;		/* entry number + 1; 0 free */
	size_t			 mask;		/* slots - 1 */
};

/* An empty set.  expected: how many are likely; more cost a copy of the
 * tables. */
void memo_init(struct memo *memo, struct arena *arena, size_t expected);

/* The number of key, which is added if it is new (key is kept, not copied).
 * Returns whether it is new. */
bool memo_add(struct memo *memo, struct slice key, size_t *out_number);

/* The number of key; false (and *out_number unchanged) if it is not there. */
bool memo_find(const struct memo *memo, struct slice key,
    size_t *out_number);

/* Forget all but the first count. */
void memo_truncate(struct memo *memo, size_t count);

#endif
