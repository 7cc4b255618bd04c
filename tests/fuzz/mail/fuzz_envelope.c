/* fuzz_envelope.c - the envelope in front of a message file
 *
 * What is accepted must come out of the encoder and be accepted again with
 * the same meaning.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "mail/envelope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice file = { (const char *)data, size };
	struct arena *arena = arena_new();
	struct envelope one, two;
	struct str text = STR_INIT;
	struct err err;

	if (envelope_parse(arena, file, &one, &err) == 0) {
		if (one.header_offset > size)
			abort();
		if (envelope_peek(file, &two, &err) != 0 ||
		    two.rcpt_count != 0)
			abort();
		if (envelope_add(&text, &one, &err) == 0) {
			if (envelope_parse(arena, str_slice(&text), &two,
				&err) != 0 ||
			    one.rcpt_count != two.rcpt_count ||
			    one.is_error != two.is_error ||
			    !path_equal(&one.from, &two.from) ||
			    !slice_equal(one.rcvdfrom, two.rcvdfrom))
				abort();
			for (size_t i = 0; i < one.rcpt_count; i++)
				if (!path_equal(&one.rcpts[i].path,
					&two.rcpts[i].path) ||
				    one.rcpts[i].notify !=
				    two.rcpts[i].notify)
					abort();
		}
	}
	str_release(&text);
	arena_free(&arena);
	return 0;
}
