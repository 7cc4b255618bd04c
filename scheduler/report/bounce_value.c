/* bounce_value.c - values in the lines of a report
 *
 * In     bytes that others chose
 * Out    one line, or lines of a bounded length
 * Holds  nothing
 * Trusts nothing: a value never makes a second line
 * Spec   RFC 2047 section 4.1 (B) and 5; RFC 6533 section 3; RFC 5322
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "scheduler/report/bounce_internal.h"

#include "base/banned.h"

enum {
	ENCODED_BYTES = 42,	/* of text in one encoded word: 56 of base64,
				 * 68 in all, under 75 */
	WRAP_COLUMNS = 72
};

bool
bounce_has_8bit(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] > 0x7f)
			return true;
	return false;
}

void
bounce_add_value(struct str *out, struct slice value)
{
	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		str_addc(out, c < ' ' || c == 0x7f ? '?' : (char)c);
	}
}

/* Of a valid sequence of n bytes. */
static unsigned
value_code_point(struct slice text, size_t n)
{
	static const unsigned char masks[] = { 0, 0, 0x1f, 0x0f, 0x07 };
	unsigned code = (unsigned char)text.p[0] & masks[n];

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)text.p[i] & 0x3f);
	return code;
}

void
bounce_add_ascii(struct str *out, struct slice value)
{
	while (value.n > 0) {
		unsigned char c = (unsigned char)value.p[0];
		size_t n = c < 0x80 ? 1 : slice_utf8(value);

		if (n > 1)
			str_addf(out, "\\x{%X}", value_code_point(value, n));
		else
			str_addc(out, c < ' ' || c >= 0x7f ? '?' : (char)c);
		value = slice_from(value, n > 0 ? n : 1);
	}
}

void
bounce_add_date(struct str *out, const char *name, int64_t wall_s)
{
	char text[CLOCK_TEXT_BYTES];

	clock_rfc5322(wall_s, text);
	str_addf(out, "%s: %s\n", name, text);
}

/* ---- encoded words ------------------------------------------------ */

static void
value_add_base64(struct str *out, struct slice bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes.n; i += 3) {
		size_t left = bytes.n - i;
		unsigned long bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < left ?
			    (unsigned char)bytes.p[i + k] : 0);
		str_addc(out, digits[bits >> 18 & 63]);
		str_addc(out, digits[bits >> 12 & 63]);
		str_addc(out, left > 1 ? digits[bits >> 6 & 63] : '=');
		str_addc(out, left > 2 ? digits[bits & 63] : '=');
	}
}

/* At most so many bytes, whole characters. */
static size_t
value_whole_first(struct slice text, size_t most)
{
	size_t n = text.n < most ? text.n : most;

	while (n > 0 && n < text.n && ((unsigned char)text.p[n] & 0xc0) ==
	    0x80)
		n--;
	return n > 0 ? n : text.n < most ? text.n : most;
}

void
bounce_add_words(struct str *out, struct slice text)
{
	struct str clean = STR_INIT;
	struct slice rest;

	bounce_add_value(&clean, text);
	rest = str_slice(&clean);
	if (!bounce_has_8bit(rest))
		str_add_slice(out, rest);
	while (rest.n > 0 && bounce_has_8bit(str_slice(&clean))) {
		size_t n = value_whole_first(rest, ENCODED_BYTES);

		str_adds(out, "=?UTF-8?B?");
		value_add_base64(out, slice_first(rest, n));
		str_adds(out, "?=");
		rest = slice_from(rest, n);
		if (rest.n > 0)
			str_adds(out, "\n ");
	}
	str_release(&clean);
}

/* ---- lines for people ---------------------------------------------- */

static size_t
value_columns(struct slice text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.n; i++)
		count += ((unsigned char)text.p[i] & 0xc0) != 0x80;
	return count;
}

void
bounce_add_wrapped(struct str *out, const char *indent, struct slice text)
{
	size_t used = 0, margin = strlen(indent);
	struct slice word;

	while (slice_word(&text, &word)) {
		size_t n = value_columns(word);

		if (used > 0 && used + 1 + n > WRAP_COLUMNS) {
			str_addc(out, '\n');
			used = 0;
		}
		if (used == 0) {
			str_adds(out, indent);
			used = margin;
		} else {
			str_addc(out, ' ');
			used++;
		}
		bounce_add_value(out, word);
		used += n;
	}
	str_addc(out, '\n');
}
