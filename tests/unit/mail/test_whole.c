/* test_whole.c - a byte that a disk changed is found, wherever it stands
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/whole.h"
#include "spool_case.h"
#include "control_case.h"

enum { LARGE_BYTES = 70000 };

/* The word that says that there is a first line at all: without it the file
 * is one that a person put there. */
static const size_t word_bytes = sizeof("complete ") - 1;

static enum whole
check_file(struct fixture *f, struct slice bytes)
{
	enum whole whole;
	int fd;

	put_file(f, "public/x", bytes.p, bytes.n);
	fd = open(at("%s/public/x", f->dir), O_RDONLY);
	whole = whole_file(fd, &f->err);
	close(fd);
	return whole;
}

static void
check_flip(struct fixture *f, struct str *bytes, size_t i, char flip)
{
	enum whole want = i < word_bytes ? WHOLE_YES : WHOLE_DAMAGED;

	bytes->buf[i] ^= flip;
	cr_expect_eq(whole_bytes(str_slice(bytes), &f->err), want,
	    "byte %zu, %d", i, flip);
	cr_expect_eq(check_file(f, str_slice(bytes)), want, "byte %zu, %d", i,
	    flip);
	bytes->buf[i] ^= flip;
}

Test(whole, each_byte_of_a_message_file)
{
	char id[SPOOL_ID_BYTES] = "01jd3x8k2mc4n7";
	struct str bytes = STR_INIT;
	struct fixture f;

	fixture_open(&f, 0);
	message_bytes(&bytes, id, "Subject: a\n\nbody\n");
	cr_expect_eq(check_file(&f, str_slice(&bytes)), WHOLE_YES);
	for (size_t i = 0; i < bytes.len; i++)
		for (int bit = 0; bit < 8; bit++)
			check_flip(&f, &bytes, i, (char)(1 << bit));
	for (size_t n = DRAFT_FIRST_LINE_BYTES; n < bytes.len; n++)
		cr_expect_eq(check_file(&f, slice_first(str_slice(&bytes),
		    n)), WHOLE_DAMAGED, "cut to %zu", n);
	str_addc(&bytes, 'x');
	cr_expect_eq(check_file(&f, str_slice(&bytes)), WHOLE_DAMAGED);
	str_release(&bytes);
	fixture_close(&f);
}

Test(whole, a_large_file_to_its_last_byte)
{
	static const size_t places[] = { 31, 16383, 16384, 16385, 65535, 65536,
	    69000 };
	char id[SPOOL_ID_BYTES] = "01jd3x8k2mc4n7";
	struct str bytes = STR_INIT, body = STR_INIT;
	struct fixture f;

	fixture_open(&f, 0);
	while (body.len < LARGE_BYTES)
		str_adds(&body, "a line of a body\n");
	message_bytes(&bytes, id, body.buf);
	cr_expect_eq(check_file(&f, str_slice(&bytes)), WHOLE_YES);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		check_flip(&f, &bytes, places[i], 4);
	check_flip(&f, &bytes, bytes.len - 1, 1);
	/* a file that ends with a piece */
	cr_expect_eq(check_file(&f, slice_first(str_slice(&bytes), 16384)),
	    WHOLE_DAMAGED);
	str_release(&bytes);
	str_release(&body);
	fixture_close(&f);
}

Test(whole, what_nobody_can_tell)
{
	struct fixture f;

	fixture_open(&f, 0);
	cr_expect_eq(check_file(&f, SLICE("from <a@x.org>\nenv-end\n\n")),
	    WHOLE_YES);
	cr_expect_eq(check_file(&f, SLICE("")), WHOLE_YES);
	cr_expect_eq(whole_file(-1, &f.err), WHOLE_UNREADABLE);
	fixture_close(&f);
}

/* The head is refused; a record counts as not written, and hides none. */
Test(whole, each_byte_of_a_control_file)
{
	struct control_file in = sample(), out;
	struct control_record records[2];
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct err err = { "" };
	char path[] = "/tmp/zm-whole-XXXXXX";
	size_t head;
	int fd, copy;

	cr_assert_eq(control_file_format(&in, &text, &err), 0);
	head = text.len;
	fd = temp_file(text.buf, text.len);
	records[0] = outcome(rcpts[0].offset, VERDICT_DELIVERED, 1, "250 ok");
	records[1] = outcome(rcpts[2].offset, VERDICT_FAILED, 1, "550 no");
	cr_assert_eq(control_file_append(fd, ID, records, 2, &err), 0);
	cr_assert_eq(control_file_read(fd, 1 << 20, &text, &err), 0);
	copy = mkstemp(path);
	unlink(path);
	cr_assert_eq(write(copy, text.buf, text.len), (ssize_t)text.len);
	for (size_t i = 0; i < text.len; i++) {
		int got;

		text.buf[i] ^= 1;
		got = control_file_parse(arena, str_slice(&text), &out, &err);
		cr_assert_eq(pwrite(copy, text.buf + i, 1, (off_t)i), 1);
		cr_expect_eq(control_file_check(copy, &err), i < head ? -1 :
		    0, "byte %zu", i);
		if (i < head)
			cr_expect_eq(got, -1, "byte %zu of the head", i);
		else
			cr_expect(got == 0 && out.final_total >= 1,
			    "byte %zu: %zu", i, out.final_total);
		text.buf[i] ^= 1;
		cr_assert_eq(pwrite(copy, text.buf + i, 1, (off_t)i), 1);
	}
	close(copy);
	close(fd);
	str_release(&text);
	arena_free(&arena);
}
