/* mime_header.c - header fields for hosts that know no 8-bit ones
 *
 * In     a header
 * Out    the same; words with bytes over 127 as encoded-words
 * Trusts nothing; a field is passed once
 * Spec   RFC 2047 sections 2 and 5; RFC 5322 section 3.2
 *
 *   value  = *( blank / word )
 *   word   = DQUOTE *( octet / "\" octet ) DQUOTE / 1*octet
 *   blank  = SP / HTAB / LF
 *            ; words with bytes over 127, and blanks between two of them,
 *            ; become encoded-words (mime_code.c)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/message/header.h"
#include "grammar/message/mime_down.h"

#include "base/banned.h"

/* Bytes of the word in front: a quoted string is one word. */
static size_t
encoded_word_bytes(struct slice text)
{
	size_t n = 0;

	if (text.p[0] == '"') {
		for (n = 1; n < text.n && text.p[n] != '"'; n++)
			if (text.p[n] == '\\')
				n++;
		return n + 1 < text.n ? n + 1 : text.n;
	}
	while (n < text.n && !ascii_is_space(text.p[n]))
		n++;
	return n;
}

static size_t
space_bytes(struct slice text)
{
	size_t n = 0;

	while (n < text.n && ascii_is_space(text.p[n]))
		n++;
	return n;
}

/* Bytes from the front of text that become one run of encoded-words: words
 * with 8-bit bytes and the blanks between them. */
static size_t
run_bytes(struct slice text)
{
	size_t end = encoded_word_bytes(text);

	for (;;) {
		size_t at = end + space_bytes(slice_from(text, end));
		size_t n;

		if (at == end || at >= text.n)
			return end;
		n = encoded_word_bytes(slice_from(text, at));
		if (mime_is_ascii(slice_first(slice_from(text, at), n)))
			return end;
		end = at + n;
	}
}

/* Quotes around the run go; brackets and commas at its ends stay outside
 * (RFC 2047 section 5). */
static void
run_add(struct str *out, struct slice run)
{
	size_t open = 0, close = run.n;
	struct str plain = STR_INIT;
	struct slice words;

	while (open < close && ascii_is_among(run.p[open], "(<"))
		open++;
	while (close > open && ascii_is_among(run.p[close - 1], ")>,;:"))
		close--;
	words = (struct slice){ run.p + open, close - open };
	if (words.n > 1 && words.p[0] == '"' && words.p[words.n - 1] == '"')
		words = (struct slice){ words.p + 1, words.n - 2 };
	for (size_t i = 0; i < words.n; i++)
		if (!ascii_is_space(words.p[i]))
			str_addc(&plain, words.p[i]);
		else if (plain.len > 0 && plain.buf[plain.len - 1] != ' ')
			str_addc(&plain, ' ');
	str_add(out, run.p, open);
	mime_word_add(out, str_slice(&plain), mime_is_utf8(words));
	str_add(out, run.p + close, run.n - close);
	str_release(&plain);
}

/* The last line end stays: a quote that is never closed must not take it. */
static void
field_add(struct str *out, struct slice text)
{
	size_t end = text.n;
	struct slice line_end;

	while (end > 0 && ascii_is_space(text.p[end - 1]))
		end--;
	line_end = slice_from(text, end);
	text.n = end;
	while (text.n > 0) {
		size_t n = space_bytes(text);

		str_add(out, text.p, n);
		text = slice_from(text, n);
		n = encoded_word_bytes(text);
		if (mime_is_ascii(slice_first(text, n))) {
			str_add(out, text.p, n);
		} else {
			n = run_bytes(text);
			run_add(out, slice_first(text, n));
		}
		text = slice_from(text, n);
	}
	str_add_slice(out, line_end);
}

void
mime_header_add(struct str *out, struct slice header, bool is_7bit,
    bool drops_encoding)
{
	struct header_field field;
	bool is_broken = false;

	while (header.n > 0) {
		struct slice whole, name = { "", 0 };

		if (!header_next(&header, &field, &is_broken)) {
			whole = header_junk(&header);
		} else {
			whole = field.whole;
			name = slice_first(whole, (size_t)(field.value.p -
			    whole.p));	/* and colon: never encoded */
			if (drops_encoding && header_is(&field,
			    "Content-Transfer-Encoding"))
				continue;
		}
		str_add_slice(out, name);
		whole = slice_from(whole, name.n);
		if (is_7bit && !mime_is_ascii(whole))
			field_add(out, whole);
		else
			str_add_slice(out, whole);
	}
	if (out->len > 0 && out->buf[out->len - 1] != '\n')
		str_addc(out, '\n');
}
