/* fuzz_sendmail_mc.c - a file that says it is sendmail's, for m4
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "tools/zmailer/import/sendmail/read.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sendmail_reader reader = { .rest = slice_first(fuzz_slice(data,
	    size), 65536) };
	struct arena *arena = arena_new();
	struct sendmail_call call;
	size_t left = reader.rest.n + 1;
	unsigned line = 0;

	while (sendmail_next(arena, &reader, &call)) {
		MUST(call.line >= line && call.line > 0);
		line = call.line;
		/* each takes something away */
		MUST(reader.rest.n < left);
		left = reader.rest.n;
		MUST(call.count <= SENDMAIL_ARGUMENTS_MAX);
		MUST(!call.is_text || call.count == 1);
		MUST(call.is_text || call.name.n > 0);
		for (size_t i = 0; i < call.count; i++)
			MUST(call.arguments[i].n == 0 ||
			    call.arguments[i].p != NULL);
	}
	MUST(reader.rest.n == 0);
	arena_free(&arena);
	return 0;
}
