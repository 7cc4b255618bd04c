/* fuzz_alias.c - the right side of an alias, any bytes
 *
 * What is read, printed and read again is the same.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"

#include "base/mem.h"
#include "grammar/message/alias.h"

static void
check_stable(struct arena *arena, const struct alias_item *item)
{
	struct str text = STR_INIT, again = STR_INIT;
	struct alias_item second;
	struct slice rest;
	struct err err;

	alias_add(&text, item);
	rest = str_slice(&text);
	MUST(alias_next(arena, &rest, 0, &second, &err) == ALIAS_ITEM);
	MUST(second.kind == item->kind);
	MUST(slice_trim(rest).n == 0);
	alias_add(&again, &second);
	MUST(slice_equal(str_slice(&text), str_slice(&again)));
	str_release(&text);
	str_release(&again);
}

static void
walk(struct arena *arena, struct slice value, enum alias_flags flags)
{
	struct alias_item item;
	struct err err;
	size_t before = value.n;
	int more;

	while ((more = alias_next(arena, &value, flags, &item, &err)) !=
	    ALIAS_END) {
		MUST(value.n < before);	/* it must come nearer to the end */
		before = value.n;
		if (more < 0)
			continue;
		MUST(!fuzz_has_control(item.text));
		check_stable(arena, &item);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();

	walk(arena, fuzz_slice(data, size), 0);
	walk(arena, fuzz_slice(data, size), ALIAS_COMMENTS);
	arena_free(&arena);
	return 0;
}
