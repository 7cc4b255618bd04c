/* test_mime.c - what headers say of bodies; messages made smaller
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/message/mime_down.h"

#define HIGH "gr\xc3\xbc\xc3\x9f"		/* gruess in UTF-8 */
#define HIGH_QP "gr=C3=BC=C3=9F"
#define TO7 MIME_TO_7BIT
#define BIN MIME_FROM_BINARY
#define MIXED "Content-Type: multipart/mixed; boundary=b\n"
#define AROUND "around its parts"
#define HEAD "header of a part"

/* in: header, blank line, body; want NULL: needs no conversion. */
static const struct row {
	const char	*name, *in;
	unsigned	 goal;
	const char	*want;
} rows[] = {
	{ "plain ASCII", "Subject: a\n\nhello\n", TO7, NULL },
	{ "no MIME at all", "Subject: a\n\n" HIGH "\n", TO7,
	    "Subject: a\nMIME-Version: 1.0\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP "\n" },
	{ "not UTF-8", "Subject: a\n\n\xfc\n", TO7,
	    "Subject: a\nMIME-Version: 1.0\n"
	    "Content-Type: text/plain; charset=unknown-8bit\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n=FC\n" },
	{ "text, 8bit", "MIME-Version: 1.0\nContent-Type: text/html\n"
	    "Content-Transfer-Encoding: 8bit\n\na=b " HIGH " \nc\n", TO7,
	    "MIME-Version: 1.0\nContent-Type: text/html\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n"
	    "a=3Db " HIGH_QP "=20\nc\n" },
	{ "no line end behind it", "A: b\nMIME-Version: 1.0\n"
	    "Content-Type: text/plain\n\n" HIGH, TO7,
	    "A: b\nMIME-Version: 1.0\nContent-Type: text/plain\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP },
	{ "an application in 8bit", "MIME-Version: 1.0\n"
	    "Content-Type: application/x\nContent-Transfer-Encoding: 8bit\n\n"
	    "\xff\n", TO7, "MIME-Version: 1.0\nContent-Type: application/x\n"
	    "Content-Transfer-Encoding: base64\n\n/w0K" },
	{ "only the part that needs it",
	    "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n"
	    "Content-Transfer-Encoding: 8bit\n\nbefore\n--b\n\nplain=\n"
	    "--b\nContent-Transfer-Encoding: 8bit\n\n" HIGH "\n--b--\n"
	    "behind\n", TO7,
	    "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n"
	    "Content-Transfer-Encoding: 7bit\n\nbefore\n--b\n\nplain=\n"
	    "--b\nContent-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP
	    "\n--b--\nbehind\n" },
	{ "base64 ends before the boundary's line end",
	    "MIME-Version: 1.0\nContent-Type: multipart/mixed; "
	    "boundary=\"x y\"\n\n--x y\nContent-Type: image/png\n\n\xff\xfe"
	    "\n--x y--\n", TO7,
	    "MIME-Version: 1.0\nContent-Type: multipart/mixed; "
	    "boundary=\"x y\"\n\n--x y\nContent-Type: image/png\n"
	    "Content-Transfer-Encoding: base64\n\n//4=\n--x y--\n" },
	{ "a multipart in a multipart, the inner one never closed",
	    "Content-Type: multipart/mixed; boundary=o\n\n--o\n"
	    "Content-Type: multipart/alternative; boundary=i\n\n--i\n\n" HIGH
	    "\n--o\n\nx\n--o--\n", TO7,
	    "Content-Type: multipart/mixed; boundary=o\n\n--o\n"
	    "Content-Type: multipart/alternative; boundary=i\n\n--i\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP
	    "\n--o\n\nx\n--o--\n" },
	{ "a message in a message",
	    "MIME-Version: 1.0\nContent-Type: message/rfc822\n"
	    "Content-Transfer-Encoding: 8bit\n\nSubject: s\n\n" HIGH "\n",
	    TO7, "MIME-Version: 1.0\nContent-Type: message/rfc822\n"
	    "Content-Transfer-Encoding: 7bit\n\nSubject: s\n"
	    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP "\n" },
	{ "a digest", "Content-Type: multipart/digest; boundary=b\n\n--b\n\n"
	    "Subject: s\n\n" HIGH "\n--b--\n", TO7,
	    "Content-Type: multipart/digest; boundary=b\n\n--b\n\n"
	    "Subject: s\nMIME-Version: 1.0\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP
	    "\n--b--\n" },
	{ "encoded already, but for a byte", "MIME-Version: 1.0\n"
	    "Content-Type: text/plain\n"
	    "Content-Transfer-Encoding: quoted-printable\n\na=20\xff=\n", TO7,
	    "MIME-Version: 1.0\nContent-Type: text/plain\n"
	    "Content-Transfer-Encoding: quoted-printable\n\na=20=FF=\n" },
	{ "encoded already, but for words", "Content-Type: text/plain\n"
	    "Content-Transfer-Encoding: quoted-printable\n\nGr\xc3\xbc\xc3\x9f"
	    "e =\xc3\xbc=20\n", TO7, "Content-Type: text/plain\n"
	    "Content-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe "
	    "=3D=C3=BC=20\n" },
	{ "\"8 bit\"", "MIME-Version: 1.0\nContent-Type: text/plain\n"
	    "Content-Transfer-Encoding: 8 bit\n\n" HIGH "\n", TO7,
	    "MIME-Version: 1.0\nContent-Type: text/plain\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP "\n" },
	{ "\"8 bit\" around parts",
	    "Content-Type: multipart/mixed; boundary=b\n"
	    "Content-Transfer-Encoding: 8 bit\n\n--b\n\n" HIGH "\n--b--\n",
	    TO7, "Content-Type: multipart/mixed; boundary=b\n"
	    "Content-Transfer-Encoding: 7bit\n\n--b\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP
	    "\n--b--\n" },
	{ "two semicolons before the boundary",
	    "Content-Type: multipart/mixed;; boundary=b\n\n--b\n\n" HIGH
	    "\n--b--\n", TO7, "Content-Type: multipart/mixed;; boundary=b\n\n"
	    "--b\nContent-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP
	    "\n--b--\n" },
	{ "a boundary in pieces", "Content-Type: multipart/mixed; "
	    "boundary*0*=us-ascii''a%62; boundary*1=\"c d\"\n\n--abc d\n\n" HIGH
	    "\n--abc d--\n", TO7, "Content-Type: multipart/mixed; "
	    "boundary*0*=us-ascii''a%62; boundary*1=\"c d\"\n\n--abc d\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP
	    "\n--abc d--\n" },
	{ "words of a header", "Subject: a " HIGH " " HIGH " b\n"
	    "From: \"J\xc3\xb6rg M.\" <j@x.test>\nTo: x (" HIGH "), y\n\na\n",
	    TO7, "Subject: a =?utf-8?q?gr=C3=BC=C3=9F_gr=C3=BC=C3=9F?= b\n"
	    "From: =?utf-8?q?J=C3=B6rg_M=2E?= <j@x.test>\n"
	    "To: x (=?utf-8?q?gr=C3=BC=C3=9F?=), y\n\na\n" },
	{ "no blank behind the colon", "Subject:" HIGH "\n\na\n", TO7,
	    "Subject:=?utf-8?q?gr=C3=BC=C3=9F?=\n\na\n" },
	{ "a quote that is never closed", "Subject: \"" HIGH " a\nTo: b\n\na\n",
	    TO7, "Subject: =?utf-8?q?=22gr=C3=BC=C3=9F_a?=\nTo: b\n\na\n" },
	{ "a binary part", "MIME-Version: 1.0\n"
	    "Content-Type: application/x\n"
	    "Content-Transfer-Encoding: binary\n\na\nb\r\n\xff\r", BIN,
	    "MIME-Version: 1.0\nContent-Type: application/x\n"
	    "Content-Transfer-Encoding: base64\n\nYQpiDQr/DQ==" },
	{ "a binary part among others",
	    "Content-Type: multipart/mixed; boundary=b\n"
	    "Content-Transfer-Encoding: binary\n\n--b\r\n\r\n" HIGH "\r\n"
	    "--b\r\nContent-Type: image/x\r\n"
	    "Content-Transfer-Encoding: binary\r\n\r\na\r\n\r\n--b--\r\n",
	    BIN, "Content-Type: multipart/mixed; boundary=b\n"
	    "Content-Transfer-Encoding: 8bit\n\n--b\n\n" HIGH "\n"
	    "--b\nContent-Type: image/x\n"
	    "Content-Transfer-Encoding: base64\n\nYQ0K\n--b--\n" },
	{ "both goals", "Content-Type: multipart/mixed; boundary=b\n\n"
	    "--b\r\n\r\n" HIGH "\r\n--b\r\nContent-Type: image/x\r\n"
	    "Content-Transfer-Encoding: binary\r\n\r\na\r\n--b--\r\n",
	    BIN | TO7, "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
	    "Content-Type: text/plain; charset=utf-8\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH_QP "\n"
	    "--b\nContent-Type: image/x\n"
	    "Content-Transfer-Encoding: base64\n\nYQ==\n--b--\n" },
};

/* What a part that does not say so is made of. */
static const struct row odd_rows[] = {
	{ "a bare CR", "MIME-Version: 1.0\nContent-Type: text/plain\n\n"
	    "a\rb\r\n", BIN,
	    "MIME-Version: 1.0\nContent-Type: text/plain\n"
	    "Content-Transfer-Encoding: base64\n\nYQ1iDQo=" },
	{ "a bare LF", "MIME-Version: 1.0\nContent-Type: text/plain\n"
	    "Content-Transfer-Encoding: 8bit\n\na\nb\r\n", BIN,
	    "MIME-Version: 1.0\nContent-Type: text/plain\n"
	    "Content-Transfer-Encoding: base64\n\nYQpiDQo=" },
	{ "in one part of two", "Content-Type: multipart/signed; boundary=b\n\n"
	    "--b\r\n\r\nplain\r\n--b\r\nContent-Type: image/x\r\n\r\na\rb"
	    "\r\n--b--\r\n", BIN,
	    "Content-Type: multipart/signed; boundary=b\n\n--b\n\nplain\n"
	    "--b\nContent-Type: image/x\n"
	    "Content-Transfer-Encoding: base64\n\nYQ1i\n--b--\n" },
	{ "base64 in lines of another system", "Content-Type: image/x\n"
	    "Content-Transfer-Encoding: base64\n\nYQ1i\n", BIN, NULL },
};

/* Nothing that is sent would mean the same: it fails. */
static const struct undoable_row {
	const char	*in;
	unsigned	 goal;
	bool		 is_undoable;
	const char	*words;		/* of what stands in the way */
	size_t		 bytes;		/* of in, where it has a NUL */
} undoable_rows[] = {
	{ "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
	    "Zm\xc3\xbc\n", TO7, true, NULL, 0 },
	{ "Content-Transfer-Encoding: x-uuencode\n\n\xff\n",
	    TO7, true, NULL, 0 },
	{ "Content-Transfer-Encoding: x-uuencode\n\nM123\n",
	    TO7, false, NULL, 0 },
	{ "Content-Type: multipart/mixed; boundary\n\n" HIGH "\n",
	    TO7, true, NULL, 0 },
	{ "Content-Type: multipart/mixed; boundary=\"\"\n\nx\n",
	    TO7, false, NULL, 0 },
	{ "Content-Type: message/rfc822\n"
	    "Content-Transfer-Encoding: quoted-printable\n\n" HIGH "\n", TO7,
	    true, NULL, 0 },
	{ "Content-Type: multipart/mixed\n\na\rb\r\n", BIN, true, NULL, 0 },
	{ "Content-Transfer-Encoding: quoted-printable\n\na\rb\r\n", BIN,
	    true, NULL, 0 },
	/* text around parts has no encoding: preamble, a list's footer, all
	 * of a body whose boundary never comes */
	{ MIXED "\n" HIGH "\n--b\n\na\n--b--\n", TO7, true, AROUND, 0 },
	{ MIXED "\n--b\n\na\n--b--\n--\nLi\xc3\x9fte\n", TO7, true, AROUND, 0 },
	{ MIXED "\n" HIGH "\n--c\n\na\n--c--\n", TO7, true, AROUND, 0 },
	{ MIXED "\n--b\n\na\n--b--\nfooter\n", TO7, false, NULL, 0 },
	{ MIXED "\n" HIGH "\r\n--b\r\n\r\na\r\n--b--\r\n",
	    BIN, false, NULL, 0 },
	{ MIXED "\na\rb\r\n--b\r\n\r\na\r\n--b--\r\n", BIN, true, AROUND, 0 },
	{ MIXED "\na\nb\r\n--b\r\n\r\na\r\n--b--\r\n", BIN, true, AROUND, 0 },
	{ MIXED "\n--b\r\n\r\na\r\n--b--\r\na\0b\r\n", BIN, true, AROUND,
	    sizeof(MIXED "\n--b\r\n\r\na\r\n--b--\r\na\0b\r\n") - 1 },
	/* a part's header is text, too */
	{ MIXED "\n--b\r\nX-A: b\rX-C: d\r\n\r\na\r\n--b--\r\n", BIN, true,
	    HEAD, 0 },
	{ MIXED "\n--b\r\nX-A: b\r\r\n\r\na\r\n--b--\r\n", BIN, true, HEAD, 0 },
	{ MIXED "\n--b\r\nX-A: \0\r\n\r\na\r\n--b--\r\n", BIN, true, HEAD,
	    sizeof(MIXED "\n--b\r\nX-A: \0\r\n\r\na\r\n--b--\r\n") - 1 },
	{ MIXED "\n--b\nX-A: b\n\na\r\n--b--\n", BIN, false, NULL, 0 },
	/* a delimiter with 8-bit bytes has no other form */
	{ "Content-Type: multipart/mixed; boundary=\"\xc3\xbc\"\n\n--\xc3\xbc\n"
	    "\na\n--\xc3\xbc--\n", TO7, true, "boundary", 0 },
	{ "Content-Type: multipart/mixed; boundary*=utf-8''%C3%BC\n\n"
	    "--\xc3\xbc\n\na\n--\xc3\xbc--\n", TO7, true, "boundary", 0 },
};

/* in: its header, blank line and body; bytes 0: as long as a string. */
static void
pass_bytes(struct mime_down *down, const char *in, size_t bytes, size_t step,
    struct str *out)
{
	const char *blank = strstr(in, "\n\n");
	struct slice rest = { blank + 2, (bytes > 0 ? bytes : strlen(in)) -
	    (size_t)(blank + 2 - in) };

	mime_down_header(down, (struct slice){ in, (size_t)(blank - in) + 1 },
	    out);
	for (; rest.n > 0; rest = slice_from(rest, step))
		mime_down_body(down, slice_first(rest, step), out);
	mime_down_end(down, out);
}

static void
pass(struct mime_down *down, const char *in, size_t step, struct str *out)
{
	pass_bytes(down, in, 0, step, out);
}

static void
check_row(const struct row *row, size_t step)
{
	struct str out = STR_INIT;
	struct mime_down down;

	mime_down_init(&down, row->goal);
	pass(&down, row->in, step, NULL);
	cr_expect_eq(mime_down_is_needed(&down), row->want != NULL, "%s",
	    row->name);
	cr_expect_not(down.is_undoable, "%s", row->name);
	mime_down_again(&down);
	pass(&down, row->in, step, &out);
	cr_expect_str_eq(out.buf, row->want ? row->want : row->in,
	    "%s (%zu):\n%s", row->name, step, out.buf);
	mime_down_release(&down);
	str_release(&out);
}

Test(mime, messages_made_smaller_whole_and_byte_by_byte)
{
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i / 2], i % 2 ? 1 : 10000);
}

Test(mime, what_is_no_text_becomes_base64_whatever_it_says)
{
	for (size_t i = 0; i < 2 * sizeof(odd_rows) / sizeof(odd_rows[0]); i++)
		check_row(&odd_rows[i / 2], i % 2 ? 1 : 10000);
}

static void
check_undoable(size_t i, size_t step)
{
	const struct undoable_row *row = &undoable_rows[i];
	struct mime_down down;

	mime_down_init(&down, row->goal);
	pass_bytes(&down, row->in, row->bytes, step, NULL);
	cr_expect_eq(down.is_undoable, row->is_undoable, "row %zu", i);
	cr_expect(!row->is_undoable || mime_down_is_needed(&down), "row %zu",
	    i);
	cr_expect_eq(down.obstacle != NULL, row->is_undoable, "row %zu", i);
	cr_expect(row->words == NULL || strstr(down.obstacle, row->words),
	    "row %zu: %s", i, down.obstacle);
	mime_down_release(&down);
}

Test(mime, what_cannot_be_converted_is_said_to_be)
{
	size_t count = sizeof(undoable_rows) / sizeof(undoable_rows[0]);

	for (size_t i = 0; i < 2 * count; i++)
		check_undoable(i / 2, i % 2 ? 1 : 999);
}

Test(mime, long_lines_and_long_words_stay_within_their_bounds)
{
	struct str in = STR_INIT, out = STR_INIT;
	struct mime_down down;
	struct slice rest, line;

	str_adds(&in, "Subject:");
	for (int i = 0; i < 300; i++)
		str_adds(&in, i % 7 ? "\xc3\xbc" : " \xe2\x82\xac");
	str_adds(&in, "\n\n");
	for (int i = 0; i < 5000; i++)
		str_adds(&in, "\xc3\xbc ");
	str_adds(&in, "\n");
	mime_down_init(&down, TO7);
	pass(&down, in.buf, 777, NULL);
	mime_down_again(&down);
	pass(&down, in.buf, 777, &out);
	cr_expect(mime_is_ascii(str_slice(&out)));
	cr_expect(down.is_utf8, "no character was cut");
	for (rest = str_slice(&out); slice_cut(&rest, '\n', &line);)
		cr_expect_leq(line.n, 84, SLICE_FMT, SLICE_ARG(line));
	mime_down_release(&down);
	str_release(&in);
	str_release(&out);
}

Test(mime, what_is_too_deep_or_too_much_is_said_to_be)
{
	struct str in = STR_INIT;
	struct mime_down down;

	str_adds(&in, "Content-Type: multipart/mixed; boundary=b0\n\n");
	for (int i = 1; i < 40; i++)
		str_addf(&in, "--b%d\nContent-Type: multipart/mixed; "
		    "boundary=b%d\n\n", i - 1, i);
	mime_down_init(&down, TO7);
	pass(&down, in.buf, 4096, NULL);
	cr_expect(down.is_too_much);
	mime_down_release(&down);

	str_reset(&in);
	str_adds(&in, "Content-Type: multipart/mixed; boundary=b\n\n");
	for (int i = 0; i < 9000; i++)
		str_adds(&in, "--b\n\nx\n");
	mime_down_init(&down, TO7);
	pass(&down, in.buf, 4096, NULL);
	cr_expect(down.is_too_much);
	mime_down_release(&down);
	str_release(&in);
}

Test(mime, a_signature_is_noticed)
{
	struct mime_down down;

	mime_down_init(&down, TO7);
	pass(&down, "A: b\nDKIM-Signature: v=1\n\nx\n", 99, NULL);
	cr_expect(down.is_signed);
	mime_down_release(&down);
}

static const struct {
	const char	*header;
	enum mime_kind	 kind;
	enum mime_encoding encoding;
	const char	*boundary;
} head_rows[] = {
	{ "", MIME_TEXT, MIME_7BIT, "" },
	{ "Content-Type: text/plain\n", MIME_TEXT, MIME_7BIT, "" },
	{ "content-type:TEXT/x\nContent-Transfer-Encoding: 8BIT (ok)\n",
	    MIME_TEXT, MIME_8BIT, "" },
	{ "Content-Type: image/png\n", MIME_DATA, MIME_7BIT, "" },
	{ "Content-Type: multipart/mixed\n", MIME_DATA, MIME_7BIT, "" },
	{ "Content-Type: multipart/mixed;\n\tcharset=x; BOUNDARY = \"a\\\"b\""
	    "\n", MIME_MULTIPART, MIME_7BIT, "a\"b" },
	{ "Content-Type: multipart (c (d) e)/ mixed; boundary=--=_x/y\n",
	    MIME_MULTIPART, MIME_7BIT, "--=_x/y" },
	{ "Content-Type: multipart/mixed; boundary=\"a \"\n",
	    MIME_MULTIPART, MIME_7BIT, "a" },
	{ "Content-Type: multipart/mixed; boundary=b\n"
	    "Content-Transfer-Encoding: base64\n", MIME_DATA, MIME_BASE64,
	    "b" },
	{ "Content-Type: message/rfc822\n", MIME_MESSAGE, MIME_7BIT, "" },
	{ "Content-Type: message/partial\n", MIME_DATA, MIME_7BIT, "" },
	{ "Content-Type: nonsense\n", MIME_TEXT, MIME_7BIT, "" },
	{ "Content-Transfer-Encoding: x-uue\n", MIME_TEXT, MIME_OTHER, "" },
	{ "Content-Type: multipart/mixed; boundary=\"\n", MIME_DATA,
	    MIME_7BIT, "" },
	{ "Content-Type: multipart/mixed; boundary=(\n", MIME_DATA,
	    MIME_7BIT, "" },
};

Test(mime, heads)
{
	for (size_t i = 0; i < sizeof(head_rows) / sizeof(head_rows[0]);
	    i++) {
		struct mime_head head;

		mime_head_read(slice_of(head_rows[i].header), false, &head);
		cr_expect_eq(head.kind, head_rows[i].kind, "%s",
		    head_rows[i].header);
		cr_expect_eq(head.encoding, head_rows[i].encoding, "%s",
		    head_rows[i].header);
		cr_expect_str_eq(head.boundary, head_rows[i].boundary, "%s",
		    head_rows[i].header);
	}
}
