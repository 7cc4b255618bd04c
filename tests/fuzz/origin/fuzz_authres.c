/* fuzz_authres.c - any value of somebody else's Authentication-Results
 *
 * Grammar: libzm/origin/authres_read.c (RFC 8601 section 2.2)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "origin/authres_read.h"

#include "base/banned.h"

/* Each result is a part of the value, after the one before it; a property is
 * no longer than what it was read from. */
static void
check_results(struct slice in, struct arena *arena)
{
	static const char *const names[] = { "header.from", "smtp.mailfrom",
		"header.d", "reason", "" };
	struct authres_result one;
	struct slice rest = in, value;
	size_t left = in.n + 1;

	while (authres_next(&rest, &one)) {
		MUST(rest.n < left && fuzz_inside(rest, in));
		left = rest.n;
		MUST(one.method.n + one.result.n < in.n && one.result.n > 0);
		MUST(fuzz_inside(one.method, in));
		MUST(fuzz_inside(one.result, in));
		MUST(fuzz_inside(one.rest, in));
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (authres_property(&one, names[i], arena, &value))
				MUST(value.n < one.rest.n);
	}
	MUST(rest.n == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size), rest = in;
	struct arena *arena = arena_new();

	if (authres_skip(&rest))
		MUST(fuzz_inside(rest, in) && rest.n <= in.n);
	check_results(in, arena);
	arena_free(&arena);
	return 0;
}
