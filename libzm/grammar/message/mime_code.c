/* mime_code.c - quoted-printable and base64 in lines, piece by piece
 *
 * In     any bytes, cut anywhere
 * Out    7-bit lines of at most 76 characters
 * Spec   RFC 2045 sections 6.7 and 6.8; RFC 2047 sections 2 and 4.2; RFC
 *        1428 section 3 (unknown-8bit)
 *
 *   quoted  = *( *75qchar [ "=" ] LF ) *75qchar
 *   qchar   = %d33-60 / %d62-126 / "=" 2HEXDIG / WSP  ; WSP not before LF
 *   base64  = *( 76char LF ) *76char                  ; base64.c
 *   word    = "=?" charset "?q?" 1*wchar "?="         ; 75 at most
 *   wchar   = ALPHA / DIGIT / "_" / "=" 2HEXDIG       ; "_" is a blank
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/mime_code.h"

#include "base/banned.h"

static const char hex[] = "0123456789ABCDEF";
static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* ---- quoted-printable -------------------------------------------------- */

/* n characters that stay together; a soft line break before them when they
 * and a "=" would not fit. */
static void
quoter_put(struct mime_quoter *quoter, const char *what, unsigned n,
    struct str *out)
{
	if (quoter->column + n > MIME_LINE_BYTES - 1) {
		str_adds(out, "=\n");
		quoter->column = 0;
	}
	str_add(out, what, n);
	quoter->column += n;
}

static void
quoter_hex(struct mime_quoter *quoter, unsigned char c, struct str *out)
{
	char text[3] = { '=', hex[c >> 4], hex[c & 15] };

	quoter_put(quoter, text, 3, out);
}

static void
quoter_byte(struct mime_quoter *quoter, unsigned char c, struct str *out)
{
	if (c == '\n') {
		if (quoter->blank != 0)
			quoter_hex(quoter, quoter->blank, out);
		quoter->blank = 0;
		str_addc(out, '\n');
		quoter->column = 0;
		return;
	}
	if (quoter->blank != 0)
		quoter_put(quoter, (const char *)&quoter->blank, 1, out);
	quoter->blank = 0;
	if (c == ' ' || c == '\t')
		quoter->blank = c;
	else if (c < ' ' || c > '~' || c == '=')
		quoter_hex(quoter, c, out);
	else
		quoter_put(quoter, (const char *)&c, 1, out);
}

void
mime_quote(struct mime_quoter *quoter, struct slice text, struct str *out)
{
	for (size_t i = 0; i < text.n; i++)
		quoter_byte(quoter, (unsigned char)text.p[i], out);
}

void
mime_quote_end(struct mime_quoter *quoter, struct str *out)
{
	if (quoter->blank != 0)
		quoter_hex(quoter, quoter->blank, out);
	quoter->blank = 0;
}

/* A lone "=" before it was one, too: what is quoted must not be read as two
 * digits of that. */
void
mime_escape(struct mime_quoter *quoter, struct slice text, struct str *out)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c < 128) {
			str_addc(out, (char)c);
			quoter->column = c == '\n' ? 0 : quoter->column + 1;
		} else {
			if (quoter->blank == '=')
				str_adds(out, "3D");
			quoter_hex(quoter, c, out);
		}
		quoter->blank = c;
	}
}

/* ---- base64 ------------------------------------------------------------ */

static void
sixer_put(struct mime_sixer *sixer, struct str *out)
{
	unsigned char *b = sixer->held;
	char text[4] = {
		letters[b[0] >> 2], letters[(b[0] & 3) << 4 | b[1] >> 4],
		letters[(b[1] & 15) << 2 | b[2] >> 6], letters[b[2] & 63],
	};

	for (unsigned i = sixer->held_count + 1; i < 4; i++)
		text[i] = '=';
	if (sixer->column == MIME_LINE_BYTES) {
		str_addc(out, '\n');
		sixer->column = 0;
	}
	str_add(out, text, 4);
	sixer->column += 4;
	memset(b, 0, 3);
	sixer->held_count = 0;
}

void
mime_six(struct mime_sixer *sixer, struct slice bytes, struct str *out)
{
	for (size_t i = 0; i < bytes.n; i++) {
		sixer->held[sixer->held_count++] = (unsigned char)bytes.p[i];
		if (sixer->held_count == 3)
			sixer_put(sixer, out);
	}
}

void
mime_six_end(struct mime_sixer *sixer, struct str *out)
{
	if (sixer->held_count > 0)
		sixer_put(sixer, out);
}

/* ---- encoded words ----------------------------------------------------- */

bool
mime_is_ascii(struct slice text)
{
	uint64_t eight, all = 0;
	size_t i;

	for (i = 0; i + sizeof(eight) <= text.n; i += sizeof(eight)) {
		memcpy(&eight, text.p + i, sizeof(eight));
		all |= eight;
	}
	for (; i < text.n; i++)
		all |= (uint64_t)(unsigned char)text.p[i];
	return (all & UINT64_C(0x8080808080808080)) == 0;
}

bool
mime_is_utf8(struct slice text)
{
	while (text.n > 0) {
		size_t n = (unsigned char)text.p[0] < 128 ? 1 :
		    slice_utf8(text);

		if (n == 0)
			return false;
		text = slice_from(text, n);
	}
	return true;
}

static void
word_byte(struct str *out, unsigned char c)
{
	if (c == ' ') {
		str_addc(out, '_');
	} else if (ascii_is_alnum(c)) {
		str_addc(out, (char)c);
	} else {
		str_addc(out, '=');
		str_addc(out, hex[c >> 4]);
		str_addc(out, hex[c & 15]);
	}
}

void
mime_word_add(struct str *out, struct slice words, bool is_utf8)
{
	const char *open = is_utf8 ? "=?utf-8?q?" : "=?unknown-8bit?q?";
	size_t start = out->len;

	str_adds(out, open);
	while (words.n > 0) {
		size_t n = is_utf8 && (unsigned char)words.p[0] > 127 ?
		    slice_utf8(words) : 1;

		if (n == 0)
			n = 1;
		if (out->len - start + 3 * n + 2 > 75) {
			str_adds(out, "?=\n ");
			start = out->len;
			str_adds(out, open);
		}
		for (size_t i = 0; i < n; i++)
			word_byte(out, (unsigned char)words.p[i]);
		words = slice_from(words, n);
	}
	str_adds(out, "?=");
}
