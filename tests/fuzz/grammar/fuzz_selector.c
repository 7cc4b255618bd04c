/* fuzz_selector.c - a selector that parses prints, and the print parses
 *
 * Grammar: libzm/grammar/selector.h, selector_parse.c.
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"
#include "grammar/selector.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct selector_subject subject = {
		.id = SLICE("361g9eyp5bafph4"), .from = SLICE("a@b"),
		.to = SLICE("c@d"), .dest = SLICE("smtp/d"), .age_s = 5
	};
	struct arena *arena = arena_new();
	struct selector *selector, *again;
	struct str text = STR_INIT;
	struct err err;
	size_t column;

	if (selector_parse(arena, fuzz_slice(data, size), &selector, &column,
		&err) == 0) {
		selector_add(&text, selector);
		if (text.len <= SELECTOR_BYTES_MAX) {
			MUST(selector_parse(arena, str_slice(&text), &again,
			    &column, &err) == 0);
			MUST(selector_match(selector, &subject) ==
			    selector_match(again, &subject));
		}
	} else {
		MUST(column <= size);
	}
	str_release(&text);
	arena_free(&arena);
	return 0;
}
