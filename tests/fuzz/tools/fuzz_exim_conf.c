/* fuzz_exim_conf.c - a file that says it is exim4.conf
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/import/exim/read.h"
#include "tools/zmailer/import/exim/text.h"

static bool
file_is_there(void *context, struct slice path)
{
	(void)context;
	return path.n % 2 == 0;
}

/* What a value may be taken for. */
static void
value_look(struct arena *arena, struct slice value)
{
	struct exim4_lookup lookup;
	struct exim4_list list;
	struct slice item;
	size_t count = 0;

	value = exim4_fold(arena, exim4_unquote(arena, value), file_is_there,
	    NULL);
	(void)exim4_plain(arena, value);
	(void)exim4_lookup_cut(arena, value, &lookup);
	exim4_list_begin(value, &list);
	while (exim4_list_next(arena, &list, &item)) {
		MUST(++count <= value.n + 1);
		(void)exim4_lookup_item(item, &lookup);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* macros may name macros: long ones tell nothing new */
	struct slice in = slice_first(fuzz_slice(data, size), 4096);
	struct arena *arena = arena_new();
	struct exim4_reader *reader = arena_alloc(arena, sizeof(*reader));
	struct exim4_statement said;
	unsigned line = 0;

	*reader = (struct exim4_reader){ .rest = in };
	while (exim4_next(arena, reader, &said)) {
		MUST(said.line >= line);
		line = said.line;
		MUST(said.line > 0 && said.line <= reader->line);
		value_look(arena, said.value);
	}
	MUST(reader->rest.n == 0);
	arena_free(&arena);
	return 0;
}
