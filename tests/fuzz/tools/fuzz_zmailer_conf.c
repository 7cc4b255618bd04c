/* fuzz_zmailer_conf.c - files that say they are ZMailer 2.99's
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/import/ancestor/read.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size), rest, name, value;
	struct ancestor_lines lines = { .rest = in };
	struct arena *arena = arena_new();
	struct ancestor_line line;
	unsigned before = 0;

	while (ancestor_assignment_next(arena, &lines, &line)) {
		MUST(line.line > before);
		before = line.line;
		MUST(line.wrong != NULL || line.name.n > 0);
	}
	MUST(lines.rest.n == 0);
	lines = (struct ancestor_lines){ .rest = in };
	while (ancestor_line_next(&lines, &line)) {
		size_t left = line.value.n + 1;

		rest = line.value;
		while (ancestor_setting_next(&rest, &name, &value)) {
			MUST(rest.n < left);
			left = rest.n;
		}
	}
	arena_free(&arena);
	return 0;
}
