/* fuzz_import.c - files that say they are Postfix's
 *
 * The input is main.cf, master.cf and the source of a table at once; each
 * value is filled in from the settings themselves, and read as a query.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/import/read.h"

static bool
lookup(void *context, struct slice name, struct slice *out_value)
{
	const struct import_settings *settings = context;

	for (size_t i = settings->count; i-- > 0;)
		if (slice_equal(settings->rows[i].name, name)) {
			*out_value = settings->rows[i].value;
			return true;
		}
	return false;
}

static void
settings_expand(struct arena *arena, struct import_settings *settings)
{
	struct slice out, word;

	for (size_t i = 0; i < settings->count; i++) {
		if (import_expand(arena, settings->rows[i].value, lookup,
		    settings, &out, NULL) != 0)
			continue;
		while (import_list_next(&out, &word))
			MUST(word.n == 0 || word.p != NULL);
	}
}

/* What is in quotes stays there: each quote has its other end. */
static void
query_check(struct slice query)
{
	struct str out = STR_INIT;
	char open = 0;

	if (import_query(query, query.n % 2 == 0, &out) == NULL) {
		for (size_t i = 0; i < out.len; i++)
			if (open == 0 && strchr("'\"`", out.buf[i]) != NULL)
				open = out.buf[i];
			else if (open == out.buf[i])
				open = 0;
		MUST(open == 0);
	}
	str_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* names may name names: long ones tell nothing new */
	struct slice in = slice_first(fuzz_slice(data, size), 4096);
	struct arena *arena = arena_new();
	struct import_settings settings;
	struct import_services services;
	struct import_entries entries;
	unsigned line = 0;

	import_read_main(arena, in, &settings);
	for (size_t i = 0; i < settings.count; i++) {
		MUST(settings.rows[i].line > line);
		line = settings.rows[i].line;
	}
	settings_expand(arena, &settings);
	for (size_t i = 0; i < settings.count; i++)
		query_check(settings.rows[i].value);
	import_read_master(arena, in, &services);
	import_read_table(arena, in, &entries);
	/* no logical line is lost by any of them */
	MUST(settings.count == services.count);
	MUST(settings.count == entries.count);
	arena_free(&arena);
	return 0;
}
