/* fuzz_parts.c - any bytes as a message whose parts people want to read
 *
 * Grammar: libzm/grammar/message/mime_parts.c (RFC 2046 section 5.1).
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/message/mime_parts.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 100 };

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct mime_part parts[MIME_READ_PARTS_MAX];
	struct slice in = fuzz_slice(data, size);
	struct arena *arena = arena_new();
	struct str out = STR_INIT;
	bool is_more;
	size_t count = mime_parts_read(in, arena, MOST, parts, &is_more);

	MUST(count <= MIME_READ_PARTS_MAX);
	for (size_t i = 0; i < count; i++) {
		MUST(parts[i].body.n <= MOST);
		MUST(parts[i].coded.n <= size);
		MUST(parts[i].is_text || parts[i].body.n == 0);
		MUST(parts[i].type[0] != '\0');
		MUST(memchr(parts[i].name, '\0', sizeof(parts[i].name)) !=
		    NULL);
	}
	/* with room for all nothing is cut, and nothing grows */
	MUST(mime_unquote(in, size, &out));
	MUST(out.len <= size);
	str_reset(&out);
	MUST(mime_unsix(in, size, &out));
	MUST(out.len <= size);
	str_release(&out);
	arena_free(&arena);
	return 0;
}
