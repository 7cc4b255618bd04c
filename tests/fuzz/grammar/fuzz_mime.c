/* fuzz_mime.c - any bytes as a header of MIME, and as what is to be encoded
 *
 * Grammar: libzm/grammar/message/mime.c (RFC 2045 section 5.1), mime_code.c
 * (6.7,
 * 6.8), mime_header.c (RFC 2047).  Whatever comes: a boundary that is
 * usable or none; lines of at most 76 ASCII characters however the bytes
 * are cut; a header of ASCII with as many fields.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/message/header.h"
#include "grammar/message/mime_down.h"

static void
check_head(struct slice in, bool in_digest)
{
	struct mime_head head;
	size_t n;

	mime_head_read(in, in_digest, &head);
	n = strlen(head.boundary);
	MUST(n <= MIME_BOUNDARY_BYTES_MAX);
	MUST(n == 0 || (head.boundary[n - 1] != ' ' &&
	    head.boundary[n - 1] != '\n'));
	MUST(head.kind != MIME_MULTIPART || n > 0);
	MUST((head.kind != MIME_MULTIPART && head.kind != MIME_MESSAGE) ||
	    head.encoding < MIME_QUOTED);
	MUST(head.has_encoding || head.encoding == MIME_7BIT);
}

static void
check_lines(struct slice text)
{
	size_t column = 0;

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		column = c == '\n' ? 0 : column + 1;
		MUST(column <= MIME_LINE_BYTES);
		MUST(c == '\n' || c == '\t' || (c >= ' ' && c < 127));
	}
}

static void
check_codes(struct slice in, size_t step)
{
	struct str whole = STR_INIT, pieces = STR_INIT;
	struct mime_quoter one = { 0 }, other = { 0 };
	struct mime_sixer six = { { 0 }, 0, 0 }, seven = { { 0 }, 0, 0 };
	struct slice rest;

	mime_quote(&one, in, &whole);
	mime_quote_end(&one, &whole);
	for (rest = in; rest.n > 0; rest = slice_from(rest, step))
		mime_quote(&other, slice_first(rest, step), &pieces);
	mime_quote_end(&other, &pieces);
	MUST(slice_equal(str_slice(&whole), str_slice(&pieces)));
	check_lines(str_slice(&whole));
	str_reset(&whole);
	str_reset(&pieces);
	mime_six(&six, in, &whole);
	mime_six_end(&six, &whole);
	for (rest = in; rest.n > 0; rest = slice_from(rest, step))
		mime_six(&seven, slice_first(rest, step), &pieces);
	mime_six_end(&seven, &pieces);
	MUST(slice_equal(str_slice(&whole), str_slice(&pieces)));
	check_lines(str_slice(&whole));
	str_release(&whole);
	str_release(&pieces);
}

static unsigned
count_fields(struct slice header)
{
	struct header_field field;
	bool is_broken;
	unsigned count = 0;

	while (header_next(&header, &field, &is_broken) == 1)
		count++;
	return count;
}

static void
check_header(struct slice header)
{
	struct str out = STR_INIT, again = STR_INIT;

	mime_header_add(&out, header, true, false);
	MUST(mime_is_ascii(str_slice(&out)));
	MUST(count_fields(str_slice(&out)) == count_fields(header));
	mime_header_add(&again, str_slice(&out), true, false);
	MUST(slice_equal(str_slice(&again), str_slice(&out)));
	str_release(&out);
	str_release(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size), header = in;
	bool is_broken = false;
	struct header_field field;

	check_head(in, false);
	check_head(in, true);
	check_codes(in, size % 61 + 1);
	while (header_next(&header, &field, &is_broken) == 1)
		continue;
	header = slice_first(in, in.n - header.n);
	if (slice_ends(header, "\n\n"))
		header.n--;
	if (header.n > 0 && header.p[header.n - 1] == '\n' &&
	    slice_find(header, '\0') == header.n)
		check_header(header);
	return 0;
}
