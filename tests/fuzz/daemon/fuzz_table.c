/* fuzz_table.c - any bytes as the contents of a table
 *
 * Every entry that is listed can be looked up.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "mail/table/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_grow(NULL, size, 1);
	struct table_contents *contents = NULL;
	struct net anything = { .bits = 128 };
	const struct table_entry *around;
	struct err err;

	if (size > 0)
		memcpy(text, data, size);
	if (table_contents_parse(text, size, &contents, &err) != 0)
		return 0;
	for (size_t i = 0; i < contents->count; i++) {
		const struct table_entry *entry = &contents->entries[i];
		struct slice key = { contents->text + entry->key,
			entry->key_n };

		if ((size_t)entry->value + entry->value_n > size ||
		    table_contents_find(contents, key) == NULL)
			abort();
	}
	(void)table_contents_net(contents, &anything, &around, &err);
	table_contents_free(&contents);
	return 0;
}
