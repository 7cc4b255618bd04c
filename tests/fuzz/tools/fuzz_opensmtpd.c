/* fuzz_opensmtpd.c - a file that says it is OpenSMTPD's
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/import/opensmtpd/read.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* macros may name macros: long ones tell nothing new */
	struct slice in = slice_first(fuzz_slice(data, size), 4096);
	struct arena *arena = arena_new();
	struct opensmtpd_reader *reader = arena_alloc(arena, sizeof(*reader));
	struct opensmtpd_statement statement;
	unsigned line = 0;

	*reader = (struct opensmtpd_reader){ .rest = in };
	while (opensmtpd_next(arena, reader, &statement)) {
		MUST(statement.line > line);
		line = statement.line;
		MUST(statement.count > 0);
		for (size_t i = 0; i < statement.count; i++)
			MUST(statement.words[i].text.n == 0 ||
			    statement.words[i].text.p != NULL);
	}
	MUST(reader->rest.n == 0);
	arena_free(&arena);
	return 0;
}
