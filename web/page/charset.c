/* charset.c - text of a charset as UTF-8
 *
 * In     bytes and a name, both of a message
 * Out    UTF-8, or the bytes as they stand
 * Trusts nothing: a name is letters, digits and "-_.:"
 * Spec   charset.h; iconv(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <iconv.h>
#include <strings.h>

#include "base/ascii.h"
#include "web/page/charset.h"

#include "base/banned.h"

enum { PIECE = 1024 };

/* A slash would be a directive of iconv_open. */
static bool
charset_is_name(const char *charset)
{
	for (const char *p = charset; *p != '\0'; p++)
		if (!ascii_is_alnum(*p) && !ascii_is_among(*p, "-_.:"))
			return false;
	return *charset != '\0';
}

static bool
charset_is_ours(const char *charset)
{
	return strcasecmp(charset, "utf-8") == 0 ||
	    strcasecmp(charset, "us-ascii") == 0;
}

/* One byte that is none is left out for "?"; an end in the middle of a
 * character ends it. */
static void
charset_convert(iconv_t with, struct str *out, struct slice text)
{
	char *in = (char *)(uintptr_t)text.p;
	size_t left = text.n;

	while (left > 0) {
		char piece[PIECE], *to = piece;
		size_t room = sizeof(piece);
		size_t result = iconv(with, &in, &left, &to, &room);

		str_add(out, piece, sizeof(piece) - room);
		if (result != (size_t)-1 || errno == EINVAL)
			break;
		if (errno == EILSEQ) {
			str_addc(out, '?');
			in++;
			left--;
		}
	}
}

void
charset_add(struct str *out, struct slice text, const char *charset)
{
	iconv_t with = (iconv_t)-1;

	if (charset_is_name(charset) && !charset_is_ours(charset))
		with = iconv_open("UTF-8", charset);
	if (with == (iconv_t)-1) {
		str_add_slice(out, text);
		return;
	}
	charset_convert(with, out, text);
	iconv_close(with);
}
