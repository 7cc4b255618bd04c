/* test_copy.c - what users leave in public/ is read as sendmail(1) reads it
 *
 * SPDX-License-Identifier: ISC
 */
#include "spool_case.h"

enum { STRANGER = 65534 };

#define ENVELOPE "from <a@x.org>\nto <b@x.org>\nenv-end\n"
#define BINARY "bodytype BINARYMIME\n" ENVELOPE
#define BYTES(text) text, sizeof(text) - 1

/* A file of a stranger; want: after env-end in what the router gets. */
static const struct row {
	const char	*in;
	size_t		 bytes;
	const char	*want;		/* NULL: it is refused */
	size_t		 want_bytes;
	const char	*words;		/* why */
} rows[] = {
	{ BYTES(ENVELOPE "S: a\r\nT: b\rU: c\n\r\nd\re\r\n"),
	    BYTES("S: a\nT: b\nU: c\n\nd\ne\n"), NULL },
	{ BYTES(ENVELOPE "S: a\n\nb\0c\n"), NULL, 0, "NUL byte" },
	{ BYTES("from <a@x.org>\nto <b\0@x.org>\n"), NULL, 0,
	    "NUL byte in its envelope" },
	{ BYTES(ENVELOPE "S: \0\r\n\r\n"), NULL, 0, "NUL byte" },
	/* binary mail: a header like any other's, then bytes */
	{ BYTES(BINARY "S: a\n\nd\re\0\r\n\n"),
	    BYTES("S: a\n\nd\re\0\r\n\n"), NULL },
	{ BYTES(BINARY "S: a\rT: b\r\n\r\n\r\nc"),
	    BYTES("S: a\nT: b\n\n\r\nc"), NULL },
	{ BYTES(BINARY "S: a\r\r\nT: b\n\n"),
	    BYTES("S: a\n\nT: b\n\n"), NULL },
	{ BYTES(BINARY "S: a\r\r\r\n"), BYTES("S: a\n\n\r\n"), NULL },
	{ BYTES(BINARY "\na\rb"), BYTES("\na\rb"), NULL },
	{ BYTES(BINARY "S: \0\n\na"), NULL, 0, "NUL byte" },
	{ BYTES(BINARY "S: a\n"), NULL, 0, "a header of fields" },
	{ BYTES(BINARY "S: a\rno field\n\na"), NULL, 0,
	    "a header of fields" },
	{ BYTES(BINARY ""), NULL, 0, "a header of fields" },
};

/* It has lain still for long enough to be complete: its first line says so. */
static ino_t
put_strange(struct fixture *f, const struct row *row)
{
	struct first_line first = { row->bytes, crc32c(0, row->in,
	    row->bytes) };
	char line[DRAFT_FIRST_LINE_BYTES + 1];
	struct str text = STR_INIT;
	ino_t inode;

	first_line_make(&first, line);
	str_adds(&text, line);
	str_add(&text, row->in, row->bytes);
	inode = put_file(f, "public/strange", text.buf, text.len);
	cr_assert_eq(chown(at("%s/public/strange", f->dir), STRANGER,
	    STRANGER), 0);
	str_release(&text);
	return inode;
}

static bool
copied_file(void *context, const char *name)
{
	snprintf(context, SPOOL_NAME_BYTES, "%s", name);
	return true;
}

static void
expect_copied(struct fixture *f, const struct row *row, size_t i)
{
	static const char end[] = "\nenv-end\n";
	struct str whole = STR_INIT;
	const char *text;
	int fd;

	fd = open(at("%s/got", f->dir), O_RDONLY);
	cr_assert_geq(fd, 0);
	whole.len = (size_t)read(fd, str_room(&whole, 4096), 4096);
	close(fd);
	text = memmem(whole.buf, whole.len, end, strlen(end));
	cr_assert_not_null(text);
	text += strlen(end);
	cr_expect(slice_equal((struct slice){ text, whole.len -
	    (size_t)(text - whole.buf) }, (struct slice){ row->want,
	    row->want_bytes }), "row %zu: %s", i, text);
	str_release(&whole);
}

static void
check_row(const struct row *row, size_t i)
{
	char name[SPOOL_NAME_BYTES] = "";
	enum spool_copied copied;
	struct fixture f;

	fixture_open(&f, 0);
	put_strange(&f, row);
	copied = spool_copy_in(f.spool, "strange", &f.err);
	if (row->want == NULL) {
		cr_expect_eq(copied, SPOOL_COPY_TROUBLE, "row %zu", i);
		cr_expect_not_null(strstr(f.err.text, row->words),
		    "row %zu: %s", i, f.err.text);
		cr_expect(file_exists(&f, "public/strange"), "row %zu", i);
		cr_expect_eq(count_files(&f, "router"), 0, "row %zu", i);
	} else {
		cr_assert_eq(copied, SPOOL_COPY_DONE, "row %zu: %s", i,
		    f.err.text);
		spool_scan(f.spool, AREA_ROUTER, 0, copied_file, name,
		    &f.err);
		move_file(&f, at("router/%s", name), "got");
		expect_copied(&f, row, i);
	}
	fixture_close(&f);
}

Test(copy, it_is_read_as_sendmail_reads_it)
{
	if (geteuid() != 0)
		cr_skip("only root has files of strangers");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i], i);
}
