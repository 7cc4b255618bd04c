/* test_crlf.c - text whose length was announced
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/smtp/crlf.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct row {
	const char	*in, *want;
	unsigned	 seen;
	size_t		 longest;
} rows[] = {
	{ "", "", 0, 0 },
	{ "a\r\nbb\r\n", "a\nbb\n", 0, 2 },
	{ "no end", "no end", 0, 6 },
	{ "\r\n\r\n", "\n\n", 0, 0 },
	{ ".\r\n..\r\n", ".\n..\n", 0, 2 },
	{ "a\nb", "a\nb", DOT_BARE_LF, 3 },
	{ "a\rb", "a\rb", DOT_BARE_CR, 3 },
	{ "a\r", "a\r", DOT_BARE_CR, 2 },
	{ "\r\r\n", "\r\n", DOT_BARE_CR, 1 },
	{ "\n\r\n", "\n\n", DOT_BARE_LF, 1 },
	{ "\r\r\r", "\r\r\r", DOT_BARE_CR, 3 },
	{ "\n", "\n", DOT_BARE_LF, 1 },
	{ "a\r\n\rb\r\n", "a\n\rb\n", DOT_BARE_CR, 2 },
};

static void
run(const struct row *row, size_t piece)
{
	struct crlf_reader reader = { 0 };
	struct slice in = slice_of(row->in);
	struct str got = STR_INIT;
	char out[64];
	size_t n;

	while (in.n > 0) {
		crlf_read(&reader, slice_first(in, piece), out, &n);
		str_add(&got, out, n);
		in = slice_from(in, piece);
	}
	if (reader.has_cr)
		str_add(&got, out, crlf_end(&reader, out));
	cr_expect_str_eq(got.buf, row->want, "%s by %zu", row->want, piece);
	cr_expect_eq(reader.seen, row->seen, "%s by %zu: %u", row->want,
	    piece, reader.seen);
	cr_expect_eq(reader.longest_bytes, row->longest, "%s by %zu: %zu",
	    row->want, piece, reader.longest_bytes);
	str_release(&got);
}

Test(crlf, whole_and_cut)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t piece = 1; piece < 12; piece++)
			run(&rows[i], piece);
}

Test(crlf, a_bare_lf_may_end_a_line)
{
	struct crlf_reader reader = { .bare_ok = true };
	char out[64];
	size_t n;

	crlf_read(&reader, SLICE("aaa\nbb\nc\r\n"), out, &n);
	cr_expect_eq(reader.longest_bytes, 3);
	cr_expect_eq(reader.seen, DOT_BARE_LF);
	crlf_read(&reader, (struct slice){ "\0", 1 }, out, &n);
	cr_expect_eq(reader.seen, DOT_BARE_LF | DOT_NUL);
}
