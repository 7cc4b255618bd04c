/* fuzz_nodes_line.c - any bytes as a line between nodes of a cluster, or as
 * frames: nodes_line.c
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/consult/nodes_line.h"
#include "tests/fuzz/fuzz.h"

static void
as_hello(struct slice line)
{
	struct str again = STR_INIT;
	struct nodes_hello hello;

	if (nodes_hello_parse(line, &hello) < 0)
		return;
	MUST(hello.who.n > 0 && hello.who.n <= NODES_WHO_BYTES_MAX);
	MUST(hello.from.n <= NODES_NAME_BYTES_MAX);
	/* what is understood is written in one way */
	nodes_hello_add(&again, &hello);
	MUST(again.len == line.n + 1);
	MUST(slice_equal(slice_first(str_slice(&again), line.n), line));
	str_release(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size }, line, words;
	enum nodes_frame kind;
	struct nodes_call call;
	uint64_t number;
	size_t n;

	while (slice_cut(&rest, '\n', &line)) {
		as_hello(line);
		if (nodes_call_parse(line, &call) == 0)
			MUST(call.node.n > 0 &&
			    call.node.n <= NODES_NAME_BYTES_MAX);
		if (nodes_answer_parse(line, &number, &words) == NODES_NO)
			MUST(words.n < line.n);
		if (nodes_frame_parse(line, &kind, &n) == 0)
			MUST(n <= NODES_FRAME_BYTES_MAX &&
			    (kind != NODES_EXIT || n <= 255));
	}
	return 0;
}
