/* test_stable_mime.c - types and bodies: read, printed and read again
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "abnf_mail.h"
#include "grammar/base64.h"
#include "grammar/message/mime.h"
#include "grammar/message/mime_code.h"
#include "grammar/message/mime_down.h"

enum { ROUNDS = 4000, TREES = 2000, TREE_DEPTH = 4, BODY_MAX = 400 };

static struct abnf
mail(uint64_t seed)
{
	return (struct abnf){ .rules = abnf_mail, .seed = seed };
}

/* ---- what a header says -------------------------------------------------- */

static const char *const encodings[] = { "7bit", "8bit", "binary",
	"quoted-printable", "base64", "x-other" };

/* What mime_head_read found, as a header of ours. */
static void
print_head(struct str *out, const struct mime_head *head)
{
	static const char *const types[] = { "text/plain", "multipart/mixed",
	    "message/rfc822", "application/x" };

	if (head->has_version)
		str_adds(out, "MIME-Version: 1.0\n");
	if (head->has_type) {
		str_addf(out, "Content-Type: %s", head->is_digest ?
		    "multipart/digest" : types[head->kind]);
		if (head->boundary[0] != '\0') {
			str_adds(out, "; boundary=\"");
			for (const char *at = head->boundary; *at; at++)
				str_addf(out, "%s%c", *at == '"' ||
				    *at == '\\' ? "\\" : "", *at);
			str_addc(out, '"');
		}
		str_addc(out, '\n');
	}
	if (head->has_encoding)
		str_addf(out, "Content-Transfer-Encoding: %s\n",
		    encodings[head->encoding]);
}

/* A field of type with parameters before and after the boundary, comments
 * wherever one may stand. */
static void
make_type(struct abnf *abnf, struct str *out, const char *type,
    const char *boundary)
{
	unsigned before = abnf_random(abnf, 3);

	str_adds(out, "cOntent-Type : ");
	abnf_make(abnf, "CFWS", out);
	str_adds(out, type);
	for (unsigned i = 0; i < 3; i++) {
		abnf_make(abnf, "CFWS", out);
		str_addc(out, ';');
		abnf_make(abnf, "CFWS", out);
		if (i != before) {
			abnf_make(abnf, "parameter", out);
			continue;
		}
		str_adds(out, "BOUNDARY");
		abnf_make(abnf, "CFWS", out);
		str_addc(out, '=');
		abnf_make(abnf, "CFWS", out);
		str_addf(out, "\"%s\"", boundary);
	}
	str_addc(out, '\n');
}

Test(stable_mime, a_type_is_the_one_that_was_written_and_the_same_again)
{
	struct abnf abnf = mail(17);

	for (unsigned round = 0; round < ROUNDS; round++) {
		static const char *const types[] = { "Text/html",
		    "multipart/mixed", "MULTIPART/Digest", "message/RFC822",
		    "application/x" };
		static const enum mime_kind kinds[] = { MIME_TEXT,
		    MIME_MULTIPART, MIME_MULTIPART, MIME_MESSAGE, MIME_DATA };
		unsigned type = abnf_random(&abnf, 5),
		    encoding = abnf_random(&abnf, 3);
		struct str text = STR_INIT, boundary = STR_INIT,
		    printed = STR_INIT, second = STR_INIT;
		struct mime_head head, again;

		abnf_make(&abnf, "boundary", &boundary);
		make_type(&abnf, &text, types[type], boundary.buf);
		str_addf(&text, "Content-Transfer-Encoding: %s (really)\n",
		    encodings[encoding]);
		mime_head_read(str_slice(&text), false, &head);
		cr_assert_eq(head.kind, kinds[type], "%s", text.buf);
		cr_assert_eq(head.encoding, encoding, "%s", text.buf);
		cr_assert_eq(head.is_digest, type == 2);
		if (head.kind == MIME_MULTIPART)
			cr_assert_str_eq(head.boundary, boundary.buf, "%s",
			    text.buf);
		print_head(&printed, &head);
		mime_head_read(str_slice(&printed), false, &again);
		print_head(&second, &again);
		cr_assert_str_eq(second.buf, printed.buf);
		str_release(&text);
		str_release(&boundary);
		str_release(&printed);
		str_release(&second);
	}
}

/* ---- encodings ----------------------------------------------------------- */

static void
make_bytes(struct abnf *abnf, struct str *out, bool is_text)
{
	unsigned n = abnf_random(abnf, BODY_MAX);

	for (unsigned i = 0; i < n; i++) {
		static const char often[] = "  \n\n=.\tae-";
		unsigned c = abnf_random(abnf, 512);

		str_addc(out, c < 256 && (!is_text || (c != '\r' && c != 0)) ?
		    (char)c : often[c % (sizeof(often) - 1)]);
	}
}

static int
hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ?
	    c - 'A' + 10 : -1;
}

/* RFC 2045 section 6.7; what no encoder may write fails the test. */
static void
unquote(struct slice text, struct str *out)
{
	size_t column = 0;

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		column = c == '\n' ? 0 : column + 1;
		cr_assert_leq(column, MIME_LINE_BYTES);
		cr_assert(c == '\n' || c == '\t' || (c >= ' ' && c < 127));
		if (c == '\n')
			cr_assert(i == 0 || (text.p[i - 1] != ' ' &&
			    text.p[i - 1] != '\t'), "a blank ends a line");
		if (c != '=') {
			str_addc(out, (char)c);
			continue;
		}
		cr_assert_lt(i + 1, text.n);
		if (text.p[i + 1] == '\n') {
			i++;
			column = 0;
			continue;
		}
		cr_assert(i + 2 < text.n && hex(text.p[i + 1]) >= 0 &&
		    hex(text.p[i + 2]) >= 0);
		str_addc(out, (char)(hex(text.p[i + 1]) << 4 |
		    hex(text.p[i + 2])));
		i += 2;
		column += 2;
	}
}

Test(stable_mime, what_is_quoted_says_what_it_said)
{
	struct abnf abnf = mail(19);

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT, quoted = STR_INIT, back = STR_INIT;
		struct mime_quoter quoter = { 0 };
		struct slice rest;
		size_t step = 1 + abnf_random(&abnf, 80);

		make_bytes(&abnf, &text, true);
		for (rest = str_slice(&text); rest.n > 0;
		    rest = slice_from(rest, step))
			mime_quote(&quoter, slice_first(rest, step), &quoted);
		mime_quote_end(&quoter, &quoted);
		unquote(str_slice(&quoted), &back);
		cr_assert(slice_equal(str_slice(&back), str_slice(&text)),
		    "%s\nis not\n%s", quoted.buf, text.buf);
		str_release(&text);
		str_release(&quoted);
		str_release(&back);
	}
}

Test(stable_mime, base64_in_lines_says_what_it_said)
{
	struct abnf abnf = mail(23);

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT, sixes = STR_INIT, joined = STR_INIT,
		    back = STR_INIT;
		struct mime_sixer sixer = { { 0 }, 0, 0 };
		struct slice rest, line;
		struct err err;
		size_t step = 1 + abnf_random(&abnf, 80);

		make_bytes(&abnf, &text, false);
		for (rest = str_slice(&text); rest.n > 0;
		    rest = slice_from(rest, step))
			mime_six(&sixer, slice_first(rest, step), &sixes);
		mime_six_end(&sixer, &sixes);
		for (rest = str_slice(&sixes); slice_cut(&rest, '\n',
		    &line);) {
			cr_assert_leq(line.n, MIME_LINE_BYTES);
			str_add_slice(&joined, line);
		}
		cr_assert_eq(base64_decode(str_slice(&joined), &back, &err),
		    0, "%s", joined.buf);
		cr_assert(slice_equal(str_slice(&back), str_slice(&text)));
		str_release(&text);
		str_release(&sixes);
		str_release(&joined);
		str_release(&back);
	}
}

/* ---- messages ------------------------------------------------------------ */

/* A part: header, blank line, body; multiparts and messages in it. */
static void
make_part(struct abnf *abnf, struct str *out, unsigned depth)
{
	unsigned kind = depth < TREE_DEPTH ? abnf_random(abnf, 4) : 0;
	unsigned parts = 1 + abnf_random(abnf, 3);

	if (abnf_random(abnf, 4) == 0)
		str_adds(out, "MIME-Version: 1.0\nSubject: gr\303\274n\n");
	if (kind == 1) {
		str_adds(out, "Content-Type: message/rfc822\n\n");
		make_part(abnf, out, depth + 1);
		return;
	}
	if (kind < 2) {
		if (abnf_random(abnf, 2) == 0)
			str_addf(out, "Content-Type: %s\n"
			    "Content-Transfer-Encoding: %s\n",
			    abnf_random(abnf, 2) ? "text/html" :
			    "application/x", encodings[abnf_random(abnf, 2)]);
		str_addc(out, '\n');
		make_bytes(abnf, out, true);
		str_addc(out, '\n');
		return;
	}
	str_addf(out, "Content-Type: multipart/%s; boundary=\"b %u\"\n\n"
	    "before\n", kind == 2 ? "mixed" : "digest", depth);
	for (unsigned i = 0; i < parts; i++) {
		str_addf(out, "--b %u\n", depth);
		make_part(abnf, out, depth + 1);
	}
	str_addf(out, "--b %u--\nbehind\n", depth);
}

/* As BINARYMIME brings a body: CR LF ends a line; one in 64 has a bare LF,
 * where somebody forgot it. */
static void
as_binary(struct abnf *abnf, struct slice body, struct str *out)
{
	for (size_t i = 0; i < body.n; i++) {
		if (body.p[i] == '\n' && (abnf == NULL ||
		    abnf_random(abnf, 64) > 0))
			str_addc(out, '\r');
		str_addc(out, body.p[i]);
	}
}

enum converted { NOT_NEEDED, CONVERTED, UNDOABLE };

/* abnf NULL: the message came of a conversion. */
static enum converted
convert(struct abnf *abnf, struct slice message, unsigned goal,
    struct str *out)
{
	const char *blank = memmem(message.p, message.n, "\n\n", 2);
	struct slice header, body;
	struct str binary = STR_INIT;
	struct mime_down down;
	enum converted result;

	if (message.p[0] == '\n') {
		header = slice_first(message, 0);
		body = slice_from(message, 1);
	} else {
		cr_assert_not_null(blank);
		header = slice_first(message, (size_t)(blank - message.p) + 1);
		body = slice_from(message, header.n + 1);
	}
	as_binary(abnf, body, &binary);
	if (goal & MIME_FROM_BINARY)
		body = str_slice(&binary);
	mime_down_init(&down, goal);
	for (unsigned i = 0; i < 2; i++) {
		if (i > 0)
			mime_down_again(&down);
		mime_down_header(&down, header, i > 0 ? out : NULL);
		mime_down_body(&down, body, i > 0 ? out : NULL);
		mime_down_end(&down, i > 0 ? out : NULL);
	}
	result = !mime_down_is_needed(&down) ? NOT_NEEDED :
	    down.is_undoable ? UNDOABLE : CONVERTED;
	mime_down_release(&down);
	str_release(&binary);
	return result;
}

Test(stable_mime, a_message_made_smaller_needs_it_no_more)
{
	struct abnf abnf = mail(29);
	unsigned needed = 0, undoable = 0;

	for (unsigned round = 0; round < TREES; round++) {
		struct str text = STR_INIT, small = STR_INIT, same = STR_INIT;
		unsigned goal = 1 + abnf_random(&abnf, 3);
		enum converted first;

		make_part(&abnf, &text, 0);
		first = convert(&abnf, str_slice(&text), goal, &small);
		undoable += first == UNDOABLE;
		if (first == CONVERTED) {
			needed++;
			cr_assert(!(goal & MIME_TO_7BIT) ||
			    mime_is_ascii(str_slice(&small)), "%s", small.buf);
			cr_assert_eq(convert(NULL, str_slice(&small), goal,
					 &same),
			    NOT_NEEDED, "%s\nmade of\n%s", small.buf, text.buf);
			cr_assert(slice_equal(str_slice(&same),
			    str_slice(&small)), "%s\nis not\n%s", same.buf,
			    small.buf);
		}
		str_release(&text);
		str_release(&small);
		str_release(&same);
	}
	cr_expect_gt(needed, TREES / 3);
	cr_expect_lt(undoable, TREES / 3);
}
