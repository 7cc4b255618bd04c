/* fuzz_crlf.c - any bytes as text of an announced length
 *
 * Grammar: libzm/grammar/smtp/crlf.c (RFC 3030 section 2).  The first byte says
 * how the bytes are cut: the text is the same in every cut, and is what a
 * naive reading makes of it; written again and read again it is the same.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/smtp/crlf.h"

static void
decode(struct slice in, size_t step, struct str *out)
{
	struct crlf_reader reader = { 0 };
	size_t n;

	for (; in.n > 0; in = slice_from(in, step)) {
		struct slice piece = slice_first(in, step);

		crlf_read(&reader, piece, str_room(out, piece.n + 1), &n);
		MUST(n <= piece.n + 1);
		out->len += n;
	}
	if (reader.has_cr)
		out->len += crlf_end(&reader, str_room(out, 1));
}

static void
naive(struct slice in, struct str *out)
{
	for (size_t i = 0; i < in.n; i++)
		if (in.p[i] != '\r' || i + 1 == in.n || in.p[i + 1] != '\n')
			str_addc(out, in.p[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct str whole = STR_INIT, pieces = STR_INIT, model = STR_INIT,
	    wire = STR_INIT, again = STR_INIT;
	bool after_cr = false;
	size_t step;

	if (size == 0)
		return 0;
	step = data[0] % 7 + 1;
	in = slice_from(in, 1);
	decode(in, in.n + 1, &whole);
	decode(in, step, &pieces);
	naive(in, &model);
	MUST(slice_equal(str_slice(&whole), str_slice(&pieces)));
	MUST(slice_equal(str_slice(&whole), str_slice(&model)));
	crlf_write(&wire, str_slice(&whole), &after_cr);
	decode(str_slice(&wire), step, &again);
	if (slice_find(str_slice(&whole), '\r') == whole.len)
		MUST(slice_equal(str_slice(&again), str_slice(&whole)));
	str_release(&whole);
	str_release(&pieces);
	str_release(&model);
	str_release(&wire);
	str_release(&again);
	return 0;
}
