/* test_dot.c - where a message ends
 *
 * Each row runs whole, byte by byte, and cut in two at every place; the
 * results must be the same.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/smtp/dot.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct result {
	bool		is_end;
	size_t		used;
	unsigned	seen;
	size_t		longest;
	struct str	content;
};

/* Feed one piece; false when the message ended before or in it. */
static bool
feed(struct dot_reader *reader, struct slice piece, struct result *out)
{
	char *room = str_room(&out->content, piece.n + 2);
	size_t used, n;

	out->is_end = dot_read(reader, piece, &used, room, &n);
	cr_assert_leq(used, piece.n);
	cr_assert_leq(n, piece.n + 2);
	cr_assert(out->is_end || used == piece.n);
	out->content.len += n;
	out->used += used;
	return !out->is_end;
}

/* Pieces: the first of `first` bytes, the others of `step` bytes each. */
static void
run(struct slice wire, bool bare_ok, size_t first, size_t step,
    struct result *out)
{
	struct dot_reader reader;
	struct slice piece = slice_first(wire, first);

	*out = (struct result){ .content = STR_INIT };
	dot_reader_init(&reader, bare_ok);
	for (size_t at = 0; at < wire.n; at += piece.n,
	    piece = slice_first(slice_from(wire, at), step))
		if (!feed(&reader, piece, out))
			break;
	out->seen = reader.seen;
	out->longest = reader.longest_bytes;
}

static void
expect_same(struct slice wire, const struct result *a, const struct result *b)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, wire);
	cr_expect_eq(a->is_end, b->is_end, "%s", shown.buf);
	cr_expect_eq(a->used, b->used, "%s", shown.buf);
	cr_expect_eq(a->seen, b->seen, "%s", shown.buf);
	cr_expect_eq(a->longest, b->longest, "%s", shown.buf);
	/* what a piece keeps back for the next is the same at the end of
	 * the message; before it, only the bytes passed on so far count */
	cr_expect(slice_equal(str_slice(&a->content), str_slice(&b->content)),
	    "%s", shown.buf);
	str_release(&shown);
}

static void
run_all_ways(struct slice wire, bool bare_ok, struct result *out)
{
	struct result other;

	run(wire, bare_ok, wire.n, wire.n, out);
	run(wire, bare_ok, 1, 1, &other);
	expect_same(wire, out, &other);
	str_release(&other.content);
	for (size_t cut = 1; cut < wire.n; cut++) {
		run(wire, bare_ok, cut, wire.n, &other);
		expect_same(wire, out, &other);
		str_release(&other.content);
	}
}

Test(dot, reads_messages)
{
	static const struct {
		struct slice	wire, content;
		unsigned	seen;
		size_t		longest;
	} rows[] = {
		{ SLICE(".\r\n"), SLICE(""), 0, 0 },
		{ SLICE("\r\n.\r\n"), SLICE("\n"), 0, 0 },
		{ SLICE("a\r\n.\r\n"), SLICE("a\n"), 0, 1 },
		{ SLICE("a: b\r\n\r\nc\r\n.\r\n"), SLICE("a: b\n\nc\n"), 0, 4 },
		{ SLICE("..\r\n.\r\n"), SLICE(".\n"), 0, 1 },
		{ SLICE(".x\r\n.\r\n"), SLICE("x\n"), 0, 1 },
		{ SLICE("...\r\n.\r\n"), SLICE("..\n"), 0, 2 },
		{ SLICE("a\r\n..\r\n.\r\n"), SLICE("a\n.\n"), 0, 1 },
		{ SLICE("a.\r\n.\r\n"), SLICE("a.\n"), 0, 2 },
		{ SLICE("a\r\n. \r\n.\r\n"), SLICE("a\n \n"), 0, 1 },
		{ SLICE("\xff\xfe\r\n.\r\n"), SLICE("\xff\xfe\n"), 0, 2 },
		{ SLICE("a\0b\r\n.\r\n"), SLICE("a\0b\n"), DOT_NUL, 3 },
		{ SLICE("a\rb\r\n.\r\n"), SLICE("a\rb\n"), DOT_BARE_CR, 3 },
		{ SLICE("a\r\r\n.\r\n"), SLICE("a\r\n"), DOT_BARE_CR, 2 },
		{ SLICE("a\nb\r\n.\r\n"), SLICE("a\nb\n"), DOT_BARE_LF, 3 },
		{ SLICE("a\r\n.\nb\r\n.\r\n"), SLICE("a\n\nb\n"),
		    DOT_BARE_LF, 2 },
		{ SLICE("\n\r\r\n.\r\n"), SLICE("\n\r\n"),
		    DOT_BARE_CR | DOT_BARE_LF, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct result result;
		struct str more = STR_INIT;

		run_all_ways(rows[i].wire, false, &result);
		cr_expect(result.is_end, "row %zu", i);
		cr_expect_eq(result.used, rows[i].wire.n, "row %zu", i);
		cr_expect_eq(result.seen, rows[i].seen, "row %zu", i);
		cr_expect_eq(result.longest, rows[i].longest, "row %zu", i);
		cr_expect(slice_equal(str_slice(&result.content),
		    rows[i].content), "row %zu", i);
		str_release(&result.content);

		/* what follows is the next command and not touched */
		str_add_slice(&more, rows[i].wire);
		str_adds(&more, "QUIT\r\n.\r\n");
		run_all_ways(str_slice(&more), false, &result);
		cr_expect_eq(result.used, rows[i].wire.n, "row %zu", i);
		str_release(&result.content);
		str_release(&more);
	}
}

/* RFC 5321 section 2.3.8: these look like an end to one hop or another. */
static const struct slice smuggling[] = {
	SLICE("\n.\n"), SLICE("\n.\r\n"), SLICE("\r.\r"), SLICE("\r.\r\n"),
	SLICE("\r.\n"), SLICE("\n.\r"), SLICE("\r\n.\n"), SLICE("\r\n.\r"),
	SLICE("\r\n\0.\r\n"), SLICE("\r\n.\0\r\n"), SLICE("\r\n. \r\n"),
	SLICE("\r\n.\r \n"), SLICE("\r\r\n.\r\r\n"), SLICE("\r\n.\r\r\n"),
	SLICE("\r\r\n.\rx\r\n"), SLICE("\r\n..\r\n"), SLICE("\n..\n"),
	SLICE("\v.\v"), SLICE("\f.\f"), SLICE("\xc2\x85.\xc2\x85"),
	SLICE("\xe2\x80\xa8.\xe2\x80\xa8"), SLICE("\r\n.\v\r\n"),
	SLICE("\r\n\xc2\x85.\r\n"), SLICE("\n\n.\n\n"), SLICE("\n.\r\r\n"),
};

Test(dot, an_empty_piece_changes_nothing)
{
	struct dot_reader reader;
	size_t used = 7, n = 7;
	char room[2];

	dot_reader_init(&reader, false);
	cr_expect_not(dot_read(&reader, (struct slice){ NULL, 0 }, &used, room,
	    &n));
	cr_expect_eq(used, 0);
	cr_expect_eq(n, 0);
	cr_expect(dot_read(&reader, SLICE(".\r\n"), &used, room, &n));
}

/* CR CR LF "." CR LF does hold CR LF "." CR LF: the one that ends. */
Test(dot, a_true_end_behind_a_bare_cr)
{
	struct result result;

	run_all_ways(SLICE("a\r\r\n.\r\nMAIL FROM:<x@y>\r\n"), false, &result);
	cr_expect(result.is_end);
	cr_expect_eq(result.used, 7);
	cr_expect_eq(result.seen, DOT_BARE_CR);
	str_release(&result.content);
}

Test(dot, nothing_else_ends_a_message)
{
	static const struct slice evil =
	    SLICE("MAIL FROM:<x@y>\r\nRCPT TO:<z@y>\r\nDATA\r\nb\r\n.\r\n");

	for (size_t i = 0; i < 2 * COUNT(smuggling); i++) {
		bool bare_ok = i % 2 == 1;
		struct str wire = STR_INIT;
		struct result result;

		str_adds(&wire, "Subject: a\r\n\r\nbody");
		str_add_slice(&wire, smuggling[i / 2]);
		str_add_slice(&wire, evil);
		run_all_ways(str_slice(&wire), bare_ok, &result);
		cr_expect(result.is_end, "row %zu", i / 2);
		cr_expect_eq(result.used, wire.len, "row %zu bare %d", i / 2,
		    bare_ok);
		cr_expect_not_null(memmem(result.content.buf,
		    result.content.len, "MAIL FROM:<x@y>\n", 16));
		str_release(&result.content);

		/* the same as the first bytes of the message */
		str_reset(&wire);
		str_add_slice(&wire, smuggling[i / 2]);
		str_add_slice(&wire, evil);
		run_all_ways(str_slice(&wire), bare_ok, &result);
		cr_expect_eq(result.used, wire.len, "row %zu", i / 2);
		str_release(&result.content);
		str_release(&wire);
	}
}

Test(dot, bare_lf_as_a_line_end_where_that_is_allowed)
{
	static const struct {
		struct slice	wire, content;
		unsigned	seen;
		size_t		longest;
	} rows[] = {
		{ SLICE("abc\nd\n\r\n.\r\n"), SLICE("abc\nd\n\n"),
		    DOT_BARE_LF, 3 },
		{ SLICE("a\n.x\n\r\n.\r\n"), SLICE("a\nx\n\n"),
		    DOT_BARE_LF, 1 },
		{ SLICE("a\n.\nb\r\n.\r\n"), SLICE("a\n.\nb\n"),
		    DOT_BARE_LF, 1 },
		{ SLICE("a\n.\r\nb\r\n.\r\n"), SLICE("a\n.\nb\n"),
		    DOT_BARE_LF, 1 },
		{ SLICE("a\n.\r\n.\r\n"), SLICE("a\n.\n"), DOT_BARE_LF, 1 },
		{ SLICE("a\r\n.\nb\r\n.\r\n"), SLICE("a\n.\nb\n"),
		    DOT_BARE_LF, 1 },
		{ SLICE("a\n.\rb\r\n.\r\n"), SLICE("a\n\rb\n"),
		    DOT_BARE_LF | DOT_BARE_CR, 2 },
		{ SLICE("a\n\n.\r\n.\r\n"), SLICE("a\n\n.\n"),
		    DOT_BARE_LF, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct result result;

		run_all_ways(rows[i].wire, true, &result);
		cr_expect(result.is_end, "row %zu", i);
		cr_expect_eq(result.used, rows[i].wire.n, "row %zu", i);
		cr_expect_eq(result.seen, rows[i].seen, "row %zu", i);
		cr_expect_eq(result.longest, rows[i].longest, "row %zu", i);
		cr_expect(slice_equal(str_slice(&result.content),
		    rows[i].content), "row %zu", i);
		str_release(&result.content);
	}
}

/* ---- the client's side --------------------------------------------- */

static void
write_pieces(struct str *wire, struct slice content, size_t step)
{
	struct dot_writer writer = DOT_WRITER_INIT;

	for (size_t at = 0; at < content.n; at += step)
		dot_write(wire, slice_first(slice_from(content, at), step),
		    &writer);
	dot_write_end(wire, &writer);
}

Test(dot, writes_the_wire_form)
{
	static const struct { struct slice content, wire; } rows[] = {
		{ SLICE(""), SLICE(".\r\n") },
		{ SLICE("a"), SLICE("a\r\n.\r\n") },
		{ SLICE("a\n"), SLICE("a\r\n.\r\n") },
		{ SLICE("\n"), SLICE("\r\n.\r\n") },
		{ SLICE("."), SLICE("..\r\n.\r\n") },
		{ SLICE(".\n"), SLICE("..\r\n.\r\n") },
		{ SLICE("a\n.b\n..\n"), SLICE("a\r\n..b\r\n...\r\n.\r\n") },
		{ SLICE("a.b\n"), SLICE("a.b\r\n.\r\n") },
		{ SLICE("a\rb"), SLICE("a\r\nb\r\n.\r\n") },
		{ SLICE("a\r\nb\r\n"), SLICE("a\r\nb\r\n.\r\n") },
		{ SLICE("\r\n\r\n"), SLICE("\r\n\r\n.\r\n") },
		{ SLICE("\r\r\n\n"), SLICE("\r\n\r\n\r\n.\r\n") },
		{ SLICE("a\r.\r"), SLICE("a\r\n..\r\n.\r\n") },
		{ SLICE("a\0b\n"), SLICE("a\0b\r\n.\r\n") },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t step = 1; step <= rows[i].content.n + 1; step++) {
			struct str wire = STR_INIT;

			write_pieces(&wire, rows[i].content, step);
			cr_expect(slice_equal(str_slice(&wire), rows[i].wire),
			    "row %zu, pieces of %zu", i, step);
			str_release(&wire);
		}
	}
}

/* No bare CR, no bare LF, and the end only at the end. */
static void
expect_clean(const struct str *wire, size_t row)
{
	for (size_t i = 0; i < wire->len; i++) {
		if (wire->buf[i] == '\r')
			cr_expect(i + 1 < wire->len &&
			    wire->buf[i + 1] == '\n', "row %zu", row);
		if (wire->buf[i] == '\n')
			cr_expect(i > 0 && wire->buf[i - 1] == '\r',
			    "row %zu", row);
	}
	cr_expect_eq((char *)memmem(wire->buf, wire->len, "\r\n.\r\n", 5) -
	    wire->buf, (long)wire->len - 5, "row %zu", row);
}

Test(dot, smuggled_content_goes_out_clean)
{
	for (size_t i = 0; i < COUNT(smuggling); i++) {
		struct str content = STR_INIT;

		str_adds(&content, "body");
		str_add_slice(&content, smuggling[i]);
		str_adds(&content, "MAIL FROM:<x@y>\n");
		for (size_t step = 1; step <= content.len; step++) {
			struct str wire = STR_INIT;

			write_pieces(&wire, str_slice(&content), step);
			expect_clean(&wire, i);
			str_release(&wire);
		}
		str_release(&content);
	}
}

Test(dot, write_then_read_is_the_identity)
{
	static const char alphabet[] = { 'a', '.', '\n', 'b' };

	/* all content of up to 7 bytes over the bytes that matter */
	for (unsigned long n = 0; n < 4 * 4 * 4 * 4 * 4 * 4 * 4; n++) {
		struct str content = STR_INIT, wire = STR_INIT;
		struct result result;

		for (unsigned long rest = n; rest > 0; rest /= 4)
			str_addc(&content, alphabet[rest % 4]);
		str_addc(&content, '\n');
		write_pieces(&wire, str_slice(&content), n % 5 + 1);
		run(str_slice(&wire), n % 2, n % 3 + 1, n % 7 + 1, &result);
		cr_assert(result.is_end);
		cr_assert_eq(result.used, wire.len);
		cr_assert(slice_equal(str_slice(&result.content),
		    str_slice(&content)), "%lu", n);
		str_release(&result.content);
		str_release(&content);
		str_release(&wire);
	}
}
