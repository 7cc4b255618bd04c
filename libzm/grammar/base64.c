/* base64.c - bytes as letters, the strict kind
 *
 * In     bytes, or letters from anywhere
 * Out    the other of the two
 * Trusts nothing: a letter that is none, a length, a bit too many: refused
 * Spec   RFC 4648 sections 3 and 4
 *
 *   base64  = *4char [ 2char "==" / 3char "=" ]   ; bits left over are 0
 *   char    = ALPHA / DIGIT / "+" / "/"
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/base64.h"

#include "base/banned.h"

enum { LINE_BYTES = 54 };		/* 72 letters */

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
base64_add(struct str *out, struct slice bytes)
{
	for (size_t i = 0; i < bytes.n; i += 3) {
		size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
		unsigned group = 0;
		char four[4];

		for (size_t k = 0; k < 3; k++)
			group = group << 8 | (k < n ?
			    (unsigned char)bytes.p[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			four[k] = k <= n ?
			    letters[group >> (18 - 6 * k) & 63] : '=';
		str_add(out, four, 4);
	}
}

void
base64_add_folded(struct str *out, struct slice bytes)
{
	for (size_t at = 0; at < bytes.n; at += LINE_BYTES) {
		if (at > 0)
			str_adds(out, "\n\t");
		base64_add(out, slice_first(slice_from(bytes, at),
		    LINE_BYTES));
	}
}

/* 0 to 63, or -1. */
static int
base64_value(char c)
{
	if (ascii_is_upper(c))
		return c - 'A';
	if (ascii_is_lower(c))
		return c - 'a' + 26;
	if (ascii_is_digit(c))
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four letters, the last `padding` of which are '='. */
static bool
group_take(const char *four, size_t padding, char out[3])
{
	unsigned group = 0;

	for (size_t k = 0; k < 4; k++) {
		int value = k < 4 - padding ? base64_value(four[k]) : 0;

		if (value < 0)
			return false;
		group = group << 6 | (unsigned)value;
	}
	for (size_t k = 0; k < 3; k++)
		out[k] = (char)(group >> (16 - 8 * k) & 255);
	return (group & ((1u << 8 * padding) - 1)) == 0;
}

int
base64_decode(struct slice text, struct str *out, struct err *err)
{
	size_t before = out->len, padding = 0;
	char *to;

	if (text.n % 4 != 0)
		return err_set(err, "base64 has a length that is a multiple "
		    "of 4");
	while (padding < 2 && padding < text.n &&
	    text.p[text.n - 1 - padding] == '=')
		padding++;
	to = str_room(out, text.n / 4 * 3);
	for (size_t i = 0; i < text.n; i += 4, to += 3)
		if (!group_take(text.p + i, i + 4 == text.n ? padding : 0,
		    to)) {
			out->buf[before] = '\0';
			return err_set(err, "this is not base64");
		}
	out->len = before + text.n / 4 * 3 - padding;
	out->buf[out->len] = '\0';
	return 0;
}
