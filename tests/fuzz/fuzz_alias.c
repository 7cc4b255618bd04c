/* fuzz_alias.c - the right side of an alias, any bytes
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "grammar/alias.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
walk(struct arena *arena, struct slice value, enum alias_flags flags)
{
	struct alias_item item;
	struct err err;
	size_t before = value.n;

	while (alias_next(arena, &value, flags, &item, &err) != 0) {
		if (value.n >= before)	/* it must come nearer to the end */
			abort();
		before = value.n;
		for (size_t i = 0; i < item.text.n; i++)
			if ((unsigned char)item.text.p[i] < ' ' &&
			    item.kind > ALIAS_MAILBOX && err.text[0] == 0)
				abort();
		err.text[0] = 0;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct slice value = { (const char *)data, size };

	walk(arena, value, 0);
	walk(arena, value, ALIAS_COMMENTS);
	arena_free(&arena);
	return 0;
}
