/* fuzz_rewrite.c - any bytes as a header whose addresses are rewritten
 *
 * The table knows one domain and stands for another, so what was rewritten
 * once has nothing left to rewrite; and all that is no address is there
 * still: without the letters of both domains and the folds both are the same.
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"
#include "grammar/message/header.h"
#include "router/route/rewrite.h"

static const char conf_text[] = "host mx.test\n"
    "table t { @our.test @new.test }\ncanonical <t> strangers\n";

static size_t
fields_in(struct slice header)
{
	struct header_field field;
	bool is_broken;
	size_t count = 0;

	while (header.n > 0 && (header_next(&header, &field, &is_broken) ==
	    1 || (is_broken && header_junk(&header).n > 0)))
		count++;
	return count;
}

static void
check(struct router *router, struct arena *arena, struct slice in)
{
	struct rcpts rcpts;
	struct routing routing = { .router = router, .rcpts = &rcpts };
	struct str once = STR_INIT, twice = STR_INIT;
	struct err err = { "" };

	rcpts_init(&rcpts, arena);
	if (rewrite_header(&routing, 0, true, in, &once, &err) == 1) {
		MUST(!slice_equal(str_slice(&once), in));
		MUST(fields_in(str_slice(&once)) == fields_in(in));
		MUST(rewrite_header(&routing, 0, true, str_slice(&once),
		    &twice, &err) == 0);
	} else {
		MUST(once.len == 0);
	}
	str_release(&once);
	str_release(&twice);
	rcpts_release(&rcpts);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct router *router;
	struct slice in = fuzz_slice(data, size);
	struct arena *arena = arena_new();
	struct conf_report report;

	if (router == NULL)
		router = router_new(conf_parse("fuzz", slice_of(conf_text),
		    arena, &report));
	in = slice_first(in, header_bytes(in));
	if (slice_ends(in, "\n\n"))
		in.n--;
	check(router, arena, in);
	arena_free(&arena);
	return 0;
}
