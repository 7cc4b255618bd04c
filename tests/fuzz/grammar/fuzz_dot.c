/* fuzz_dot.c - any bytes as the data of a message
 *
 * Input: one byte (lowest bit: bare LF is a line end; the others: size of
 * the pieces), then the bytes, which are read as wire form and written as
 * content.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/smtp/dot.h"

struct result {
	struct dot_reader reader;
	struct str	content;
	size_t		used;
	bool		is_end;
};

static void
read_pieces(struct slice wire, bool bare_ok, size_t step, struct result *out)
{
	*out = (struct result){ .content = STR_INIT };
	dot_reader_init(&out->reader, bare_ok);
	while (out->used < wire.n && !out->is_end) {
		struct slice piece =
		    slice_first(slice_from(wire, out->used), step);
		char *room = mem_alloc(1, piece.n + 2);
		size_t used, n;

		out->is_end = dot_read(&out->reader, piece, &used, room, &n);
		MUST(used <= piece.n && n <= piece.n + 2);
		MUST(out->is_end || used == piece.n);
		str_add(&out->content, room, n);
		out->used += used;
		mem_free(&room);
	}
}

/* Only CR LF "." CR LF ends; the start counts as after CR LF. */
static void
check_end(struct slice wire, const struct result *result)
{
	struct str all = STR_INIT;
	const char *end;

	str_adds(&all, "\r\n");
	str_add_slice(&all, wire);
	end = memmem(all.buf, all.len, "\r\n.\r\n", 5);
	MUST(result->is_end == (end != NULL));
	if (end != NULL)
		MUST(result->used == (size_t)(end - all.buf) + 3);
	str_release(&all);
}

static void
check_read(struct slice wire, bool bare_ok, size_t step)
{
	struct result whole, pieces;

	read_pieces(wire, bare_ok, wire.n + 1, &whole);
	read_pieces(wire, bare_ok, step, &pieces);
	MUST(whole.is_end == pieces.is_end && whole.used == pieces.used);
	MUST(slice_equal(str_slice(&whole.content),
	    str_slice(&pieces.content)));
	MUST(whole.reader.seen == pieces.reader.seen);
	MUST(whole.reader.longest_bytes == pieces.reader.longest_bytes);
	check_end(wire, &whole);
	str_release(&whole.content);
	str_release(&pieces.content);
}

static void
check_write(struct slice content, size_t step)
{
	struct str wire = STR_INIT, whole = STR_INIT;
	struct dot_writer writer = DOT_WRITER_INIT;
	struct result result;

	for (size_t at = 0; at < content.n; at += step)
		dot_write(&wire, slice_first(slice_from(content, at), step),
		    &writer);
	dot_write_end(&wire, &writer);
	writer = (struct dot_writer)DOT_WRITER_INIT;
	dot_write(&whole, content, &writer);
	dot_write_end(&whole, &writer);
	MUST(slice_equal(str_slice(&wire), str_slice(&whole)));
	read_pieces(str_slice(&wire), false, wire.len, &result);
	MUST(result.is_end && result.used == wire.len);
	MUST((result.reader.seen & ~DOT_NUL) == 0);
	if (slice_find(content, '\r') == content.n) {
		struct slice got = str_slice(&result.content);

		if (content.n > 0 && content.p[content.n - 1] != '\n')
			got.n--;
		MUST(slice_equal(got, content));
	}
	str_release(&result.content);
	str_release(&wire);
	str_release(&whole);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	size_t step;

	if (size == 0)
		return 0;
	step = (size_t)(data[0] >> 1) + 1;
	check_read(slice_from(in, 1), data[0] & 1, step);
	check_write(slice_from(in, 1), step);
	return 0;
}
