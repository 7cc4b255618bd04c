/* fuzz_published.c - any bytes as orders to a taker, as what it answers, and as
 * the files that are published: tools/publish/
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/publish/figures.h"
#include "tools/publish/order.h"

static void
as_lines(struct slice rest)
{
	struct slice line, who, node;
	struct publish_order order;
	size_t number;

	while (slice_cut(&rest, '\n', &line)) {
		if (publish_order_parse(line, &order) == 0) {
			MUST(order.verb < PUBLISH_VERBS);
			MUST(publish_id_is_good(slice_of(order.id)));
			MUST(order.verb != PUBLISH_OFFER ||
			    (order.number > 0 &&
			    order.number <= PUBLISH_BYTES_MAX));
			MUST(order.verb != PUBLISH_TAKE ||
			    (order.number > 0 &&
			    order.number <= ORDER_SECONDS_MAX));
		}
		if (publish_for_parse(line, &who, &node) == 0)
			MUST(who.n > 0 && node.n > 0 &&
			    memchr(line.p, '\n', line.n) == NULL);
		if (publish_answer_parse(line, &who, &number) == PUBLISH_NO)
			MUST(number <= ORDER_WORDS_BYTES_MAX);
	}
}

/* What is taken leads nowhere else, and comes back from what is sent. */
static void
as_set(struct slice bytes)
{
	struct arena *arena = arena_new();
	struct publish_set set, again;
	struct str sent = STR_INIT;
	struct err err;

	if (publish_set_parse(bytes, arena, &set, &err) == 0) {
		MUST(set.count > 0 && set.count <= PUBLISH_FILES_MAX);
		for (size_t i = 0; i < set.count; i++) {
			const char *name = set.files[i].name;

			MUST(name[0] != '/' && name[0] != '\0');
			MUST(strstr(name, "..") == NULL ||
			    (strncmp(name, "..", 2) != 0 &&
			    strstr(name, "/.") == NULL));
			MUST(strlen(name) <= PUBLISH_NAME_BYTES_MAX);
		}
		publish_set_add(&sent, &set);
		MUST(publish_set_parse(str_slice(&sent), arena, &again,
		    &err) == 0);
		MUST(again.count == set.count);
	}
	str_release(&sent);
	arena_free(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice bytes = { (const char *)data, size };
	struct figures figures;

	as_lines(bytes);
	as_set(bytes);
	figures_read(bytes, &figures);
	return 0;
}
