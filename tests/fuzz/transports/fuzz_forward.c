/* fuzz_forward.c - a user's forward file, any bytes
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transports/mailbox/mailbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Files it includes are not there, or no regular files. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct forward forward;
	struct arena *arena = arena_new();
	struct slice text = { (const char *)data, size };
	struct account owner;

	account_of_ids(geteuid(), getegid(), &owner);
	forward_parse(arena, text, &owner, &forward);
	if (forward.count > FORWARD_ITEMS_MAX)
		abort();
	for (size_t i = 0; i < forward.count; i++) {
		const struct alias_item *item = &forward.items[i];

		if (item->kind == ALIAS_INCLUDE)
			abort();
		if (item->kind > ALIAS_MAILBOX &&
		    memchr(item->text.p, '\n', item->text.n) != NULL)
			abort();
	}
	arena_free(&arena);
	return 0;
}
