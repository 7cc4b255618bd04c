/* loops.c - aliases that lead back to themselves
 *
 * In     a table of aliases, or of virtual addresses
 * Out    a warning for each circle, where its first name stands
 * Holds  the keys of the table, sorted, while it looks
 * Spec   zmailer(8), check; RFC 5321 section 3.9
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "daemon/machine/look.h"
#include "grammar/message/alias.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum { LOOPS_SAID_MAX = 10, LOOP_NAMES_MAX = 50, LOOP_KEYS_MAX = 200000 };

enum loop_state { LOOP_UNSEEN, LOOP_ON_PATH, LOOP_DONE };

struct loop_key {
	const char	*name, *value;
	unsigned	 line;
	enum loop_state	 state;
};

struct loops {
	struct machine_table	*place;
	struct arena		*arena;
	struct loop_key		*keys;
	size_t			 count, room;
	struct loop_key		*path[LOOP_NAMES_MAX];
	size_t			 depth;
	unsigned		 said;
	bool			 is_virtual;
};

/* A name as it is looked up: of our own domains the user alone counts. */
static const char *
loop_name(struct loops *loops, struct slice text)
{
	size_t at = text.n;

	while (at > 0 && text.p[at - 1] != '@')
		at--;
	if (at > 1 && !loops->is_virtual &&
	    conf_domain_find(loops->place->look->conf,
	    slice_from(text, at)) != NULL)
		text.n = at - 1;
	return slice_dup(loops->arena, slice_lower(loops->arena, text));
}

/* table_fn */
static bool
loop_take(void *context, struct slice key, struct slice value, unsigned line)
{
	struct loops *loops = context;

	if (loops->count == loops->room) {
		loops->room = loops->room * 2 + 64;
		loops->keys = mem_grow(loops->keys, loops->room,
		    sizeof(*loops->keys));
	}
	loops->keys[loops->count++] = (struct loop_key){
		.name = loop_name(loops, key),
		.value = slice_dup(loops->arena, value), .line = line,
	};
	return loops->count < LOOP_KEYS_MAX;
}

static int
loop_key_compare(const void *left, const void *right)
{
	const struct loop_key *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* Of two with one name the first line counts. */
static int
loop_key_compare_all(const void *left, const void *right)
{
	const struct loop_key *a = left, *b = right;
	int result = loop_key_compare(left, right);

	return result != 0 ? result : a->line < b->line ? -1 : 1;
}

static struct loop_key *
loop_find(const struct loops *loops, const char *name)
{
	struct loop_key wanted = { .name = name }, *found;

	found = loops->count == 0 ? NULL : bsearch(&wanted, loops->keys,
	    loops->count, sizeof(wanted), loop_key_compare);
	while (found != NULL && found > loops->keys &&
	    strcmp(found[-1].name, name) == 0)
		found--;
	return found;
}

static void
loop_complain(struct loops *loops, size_t from)
{
	struct str names = STR_INIT;
	struct loop_key *first = loops->path[from];

	for (size_t i = from; i < loops->depth; i++)
		str_addf(&names, "%s -> ", loops->path[i]->name);
	str_adds(&names, first->name);
	if (loops->said++ < LOOPS_SAID_MAX)
		machine_tell_line(loops->place, CONF_WARNING, first->line,
		    slice_of(first->name), "take one of them out, or let it "
		    "lead to somebody", arena_printf(loops->place->look->arena,
		    "these aliases lead to each other: %s", names.buf));
	str_release(&names);
}

/* Look along the aliases of key; the path holds those that led here. */
static void
loop_follow(struct loops *loops, struct loop_key *key)
{
	struct slice rest = slice_of(key->value);
	struct alias_item item;
	struct err err;
	enum alias_answer more;

	key->state = LOOP_ON_PATH;
	loops->path[loops->depth++] = key;
	while ((more = alias_next(loops->arena, &rest, 0, &item, &err)) !=
	    ALIAS_END) {
		struct loop_key *next = more == ALIAS_BAD ||
		    item.kind != ALIAS_ADDRESS ? NULL : loop_find(loops,
		    loop_name(loops, item.path.domain.n > 0 ? slice_of(
		    arena_printf(loops->arena, SLICE_FMT "@" SLICE_FMT,
		    SLICE_ARG(item.path.local), SLICE_ARG(item.path.domain))) :
		    item.path.local));

		/* what stands for itself is the mailbox of that name */
		if (next == NULL || next == key || next->state == LOOP_DONE)
			continue;
		if (next->state == LOOP_ON_PATH) {
			for (size_t i = 0; i < loops->depth; i++)
				if (loops->path[i] == next)
					loop_complain(loops, i);
		} else if (loops->depth < LOOP_NAMES_MAX) {
			loop_follow(loops, next);
		}
	}
	loops->depth--;
	key->state = LOOP_DONE;
}

void
machine_check_loops(struct machine_table *place, bool is_virtual)
{
	struct loops loops = { .place = place, .arena = arena_new(),
	    .is_virtual = is_virtual };
	struct err err;

	if (table_takes_parts(place->table))
		(void)table_each(place->table, loop_take, &loops, &err);
	if (loops.count > 0)
		qsort(loops.keys, loops.count, sizeof(*loops.keys),
		    loop_key_compare_all);
	for (size_t i = 0; i < loops.count; i++)
		if (loops.keys[i].state == LOOP_UNSEEN)
			loop_follow(&loops, &loops.keys[i]);
	mem_release(loops.keys);
	arena_free(&loops.arena);
}
