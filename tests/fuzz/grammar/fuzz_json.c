/* fuzz_json.c - any bytes as a line of JSON, and as a value in one
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "tests/fuzz/fuzz.h"

static void
check_walk(struct slice line)
{
	struct str value = STR_INIT, found = STR_INIT;
	struct slice key;
	size_t cursor = 0, before = 0;

	while (json_next(line, &cursor, &key, &value)) {
		MUST(cursor > before && cursor < line.n);
		before = cursor;
		MUST(fuzz_inside(key, line));
		MUST(value.len <= line.n);
	}
	json_get(line, "k", &found);
	str_release(&found);
	str_release(&value);
}

/* Write a value, read it back into *out. */
static void
through(struct slice value, struct str *out)
{
	struct str line = STR_INIT;

	json_open(&line);
	json_number(&line, "n", 7);
	json_text(&line, "k", value);
	json_list(&line, "l", &value, 1);
	json_close(&line);
	MUST(slice_find(str_slice(&line), '\n') == line.len - 1);
	MUST(json_get(str_slice(&line), "k", out));
	str_release(&line);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct str once = STR_INIT, twice = STR_INIT;
	bool is_ascii = true;

	check_walk(in);
	through(in, &once);
	through(str_slice(&once), &twice);
	MUST(slice_equal(str_slice(&once), str_slice(&twice)));
	for (size_t i = 0; i < size; i++)
		is_ascii = is_ascii && data[i] < 128;
	if (is_ascii)
		MUST(slice_equal(str_slice(&once), in));
	str_release(&once);
	str_release(&twice);
	return 0;
}
