/* fuzz_keys.c - any bytes as the file of keys, and as a word of refused ones
 *
 * What was read is written the same, and read again.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "web/send/answer.h"
#include "web/send/key_table.h"

static void
keys_read(struct key_table *table, struct slice rest)
{
	struct slice line;

	key_table_init(table);
	while (slice_cut(&rest, '\n', &line))
		(void)key_table_take(table, line);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = fuzz_slice(data, size);
	struct str once = STR_INIT, twice = STR_INIT;
	struct rcpt_outcome outcomes[8];
	struct arena *arena = arena_new();
	struct key_table table;

	keys_read(&table, text);
	MUST(table.count <= size);
	key_table_write(&table, 1, &once);
	key_table_release(&table);
	keys_read(&table, str_slice(&once));
	key_table_write(&table, 1, &twice);
	MUST(slice_equal(str_slice(&once), str_slice(&twice)));
	key_table_release(&table);
	answer_unpack(text, arena, outcomes, 8);
	for (size_t i = 0; i < 8; i++)
		MUST(outcomes[i].code == 250 || (outcomes[i].code >= 400 &&
		    outcomes[i].code < 600));
	str_release(&once);
	str_release(&twice);
	arena_free(&arena);
	return 0;
}
