/* xtext.c - the +HH encoding of RFC 3461
 *
 * In     any bytes; or xtext
 * Out    xtext; or the bytes
 * Trusts nothing: what could break a file of lines is refused
 * Spec   RFC 3461 section 4
 *
 *   xtext   = *( xchar / hexchar )
 *   xchar   = %d33-42 / %d44-60 / %d62-126      ; not "+", not "="
 *   hexchar = "+" 2HEXDIG                       ; lower case is tolerated
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/smtp/xtext.h"

#include "base/banned.h"

static bool
is_xchar(char c)
{
	return c > 32 && c < 127 && c != '+' && c != '=';
}

void
xtext_encode(struct str *out, struct slice text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (is_xchar(text.p[i])) {
			str_addc(out, text.p[i]);
		} else {
			str_addc(out, '+');
			str_addc(out, digits[c >> 4]);
			str_addc(out, digits[c & 15]);
		}
	}
}

/* The byte that "+HH" in front stands for. */
static int
decode_hexchar(struct slice in, char *out_byte, struct err *err)
{
	int high = in.n > 1 ? ascii_hex(in.p[1]) : -1;
	int low = in.n > 2 ? ascii_hex(in.p[2]) : -1;

	if (high < 0 || low < 0)
		return err_set(err, "'+' in xtext needs two hexadecimal "
		    "digits after it");
	*out_byte = (char)(high << 4 | low);
	if (*out_byte == '\0' || *out_byte == '\r' || *out_byte == '\n')
		return err_set(err, "xtext may not stand for NUL, CR or LF");
	return 1;
}

int
xtext_decode(struct slice xtext, struct str *out, struct err *err)
{
	size_t i = 0;

	while (i < xtext.n) {
		char c = xtext.p[i];

		if (c == '+') {
			if (decode_hexchar(slice_from(xtext, i), &c, err) < 0)
				return -1;
			i += 3;
		} else if (is_xchar(c)) {
			i++;
		} else {
			return err_set(err, "a byte in xtext that must be "
			    "written as +HH");
		}
		str_addc(out, c);
	}
	return 0;
}
