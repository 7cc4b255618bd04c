/* fuzz_route_value.c - the value of a routes table, any bytes
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "router/route/routing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Channel and host become words of the control file. */
static void
must_be_word(struct slice text)
{
	if (text.n == 0)
		abort();
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 127)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct route_target target;
	struct err err;

	if (route_value_parse(arena, (struct slice){ (const char *)data,
	    size }, SLICE("d.test"), &target, &err) == 1) {
		must_be_word(target.channel);
		must_be_word(target.host);
		if (target.user.n > 0)
			must_be_word(target.user);
	}
	arena_free(&arena);
	return 0;
}
