/* fuzz_mimedown.c - any message, made fit for a host that takes less
 *
 * The first byte chooses the goal and how the body is cut.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/message/mime_down.h"

static void
pass(struct mime_down *down, struct slice header, struct slice body,
    size_t step, struct str *out)
{
	mime_down_header(down, header, out);
	for (size_t at = 0; at < body.n; at += step)
		mime_down_body(down, slice_first(slice_from(body, at), step),
		    out);
	mime_down_end(down, out);
}

static bool
has_high(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] > 127)
			return true;
	return false;
}

/* Both passes; false: it cannot be done. */
static bool
convert(unsigned goal, struct slice header, struct slice body, size_t step,
    struct str *out)
{
	struct mime_down down;
	bool is_done;

	mime_down_init(&down, goal);
	pass(&down, header, body, step, NULL);
	is_done = !down.is_too_much && !down.is_undoable;
	if (is_done) {
		mime_down_again(&down);
		pass(&down, header, body, step, out);
	}
	mime_down_release(&down);
	return is_done;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size), header, body;
	struct str whole = STR_INIT, pieces = STR_INIT;
	unsigned goal;
	size_t step;
	char *blank;
	bool is_done;

	if (size < 2)
		return 0;
	goal = data[0] % 3 + 1;
	step = (size_t)(data[0] / 3) % 61 + 1;
	in = slice_from(in, 1);
	blank = memmem(in.p, in.n, "\n\n", 2);
	header = blank == NULL ? in : slice_first(in,
	    (size_t)(blank - in.p) + 1);
	body = blank == NULL ? slice_first(in, 0) : slice_from(in,
	    header.n + 1);
	if (memchr(header.p, '\0', header.n) != NULL)
		return 0;
	is_done = convert(goal, header, body, body.n + 1, &whole);
	MUST(convert(goal, header, body, step, &pieces) == is_done);
	if (is_done) {
		MUST(slice_equal(str_slice(&whole), str_slice(&pieces)));
		if (goal & MIME_TO_7BIT)
			MUST(!has_high(str_slice(&whole)));
	}
	str_release(&whole);
	str_release(&pieces);
	return 0;
}
