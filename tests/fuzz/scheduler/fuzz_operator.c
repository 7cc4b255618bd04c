/* fuzz_operator.c - lines on the operator's socket
 *
 * A request that parses is written down as the journal would have it, and
 * what it selects parses again.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "scheduler/control/request.h"
#include "tests/fuzz/fuzz.h"

static void
check(struct arena *arena, const struct request *request)
{
	struct str text = STR_INIT;
	struct selector *again;
	struct err err;
	size_t column;

	if ((unsigned)request->op >= OP_COUNT_OF ||
	    request->id_count > REQUEST_IDS_MAX)
		abort();
	if (request_rows[request->op].is_change && !request->has_choice)
		abort();	/* a write never means everything by itself */
	if (request->selector != NULL) {
		selector_add(&text, request->selector);
		if (text.len <= SELECTOR_BYTES_MAX && selector_parse(arena,
		    str_slice(&text), &again, &column, &err) < 0)
			abort();
		str_reset(&text);
	}
	request_add_choice(&text, request);
	str_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size }, line;
	struct arena *arena = arena_new();
	struct request request;
	const char *code;
	struct err err;

	while (slice_cut(&rest, '\n', &line)) {
		arena_reset(arena);
		if (request_parse(arena, line, 1795381442, &request, &code,
		    &err) == 0)
			check(arena, &request);
		else if (code == NULL || *code == '\0')
			abort();
	}
	arena_free(&arena);
	return 0;
}
