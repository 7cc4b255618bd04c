/* test_mime_parts.c - the parts of a message, as people read them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "grammar/message/mime_parts.h"

#define MULTI "Content-Type: multipart/mixed; boundary=b\n\n"

/* want: "TYPE CHARSET NAME:BODY|" of each part, "+" when there is more. */
static const struct {
	const char	*in, *want;
} rows[] = {
	{ "", "text/plain  :|" },
	{ "Subject: a\n\nhello\n", "text/plain  :hello\n|" },
	{ "no header at all", "text/plain  :no header at all|" },
	{ "Content-Type: TEXT/HTML; charset=\"utf-8\"\n\n<b>\n",
	    "text/html utf-8 :<b>\n|" },
	{ "Content-Type: text/plain; CHARSET=latin1 ; name=\"a b\"\n\nx",
	    "text/plain latin1 a b:x|" },
	{ "Content-Type: nonsense\n\nx", "text/plain  :x|" },
	{ "Content-Type: te\x01xt/html\n\nx", "text/plain  :x|" },
	{ "Content-Type: text/html\xff\n\nx", "text/plain  :x|" },
	{ "Content-Transfer-Encoding: quoted-printable\n\na=3Db=\nc= \nd=\r\n"
	    "e=zz=\n", "text/plain  :a=bcde=zz|" },
	{ "Content-Transfer-Encoding: base64\n\naGVs\nbG8=\nxx", "text/plain"
	    "  :hello|" },
	{ "Content-Transfer-Encoding: base64\n\na*GV!sbG8", "text/plain"
	    "  :hello|" },
	{ "Content-Transfer-Encoding: x-uue\n\nx", "text/plain  :|" },
	{ "Content-Type: image/png; name=a.png\n\n\x89PNG",
	    "image/png  a.png:|" },
	{ MULTI "before\n--b\n\none\n--b\nContent-Type: text/html\n\n<i>\n"
	    "--b--\nafter\n", "text/plain  :one|text/html  :<i>|" },
	{ MULTI "--b\r\n\r\none\r\n--b--\r\n", "text/plain  :one|" },
	{ MULTI "--b\n\nno end\n", "text/plain  :no end\n|" },
	{ MULTI "--b\n\n--bx\n--b x\n--b--", "text/plain  :--bx\n--b x|" },
	{ MULTI "no border", "" }, { MULTI "--b--\n\nx", "" },
	{ MULTI "--b\nContent-Disposition: attachment; filename=\"x.txt\"\n\n"
	    "y\n--b--", "text/plain  x.txt:y|" },
	{ MULTI "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\n1\n"
	    "--c--\n--b\n\n2\n--b--\n", "text/plain  :1|text/plain  :2|" },
	{ MULTI "--b\nContent-Type: message/rfc822\n\nSubject: in\n\ninside\n"
	    "--b--\n", "text/plain  :inside|" },
	{ "Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: in\n"
	    "\ninside\n--b--\n", "text/plain  :inside|" },
	{ "Content-Type: multipart/mixed\n\nx", "multipart/mixed  :|" },
	{ "Content-Type: text/plain; charset=" "1234567890123456789012345678"
	    "901234567890123456789012345678901234567890\n\nx",
	    "text/plain  :x|" },
	{ "\n0123456789012345678901234567890", "text/plain  "
	    ":012345678901234567890123456789..|" },
};

static void
parts_say(struct slice in, struct str *out)
{
	static struct mime_part parts[MIME_READ_PARTS_MAX];
	struct arena *arena = arena_new();
	bool is_more;
	size_t count = mime_parts_read(in, arena, 30, parts, &is_more);

	for (size_t i = 0; i < count; i++) {
		str_addf(out, "%s %s %s:" SLICE_FMT "%s|", parts[i].type,
		    parts[i].charset, parts[i].name,
		    SLICE_ARG(parts[i].body), parts[i].is_cut ? ".." : "");
		cr_expect(parts[i].body.n <= 30);
	}
	if (is_more)
		str_addc(out, '+');
	arena_free(&arena);
}

Test(mime_parts, rows)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = STR_INIT;

		parts_say(slice_of(rows[i].in), &out);
		cr_expect(slice_is(str_slice(&out), rows[i].want), "%s\n"
		    "is '%s'\nnot '%s'", rows[i].in, out.buf, rows[i].want);
		str_release(&out);
	}
}

Test(mime_parts, has_bounds)
{
	struct str in = STR_INIT, out = STR_INIT;

	for (int i = 0; i < 1000; i++)
		str_addf(&in, "Content-Type: multipart/mixed; boundary=b%d\n\n"
		    "--b%d\n", i, i);
	parts_say(str_slice(&in), &out);
	cr_expect_str_eq(out.buf, "+");
	str_reset(&in);
	str_reset(&out);
	str_adds(&in, MULTI);
	for (int i = 0; i < 10000; i++)
		str_adds(&in, "--b\n\nx\n");
	parts_say(str_slice(&in), &out);
	cr_expect_eq(out.len, MIME_READ_PARTS_MAX * strlen("text/plain  :x|")
	    + 1);
	str_release(&in);
	str_release(&out);
}
