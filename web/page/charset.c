/* charset.c - text of a charset as UTF-8
 *
 * In     bytes and a name, both of a message
 * Out    UTF-8, or the bytes as they stand
 * Holds  a converter for each charset that is known
 * Trusts no name: it is one of charset_names or nothing
 * Spec   charset.h; iconv(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <iconv.h>
#include <strings.h>

#include "web/page/charset.h"

#include "base/banned.h"

enum { PIECE = 1024 };

/* What mail is written in.  Others are shown as their bytes stand: the code
 * that reads them is old, and an answer to a stranger's mail is no place to
 * try it. */
static const char *const charset_names[] = {
	"iso-8859-1", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5",
	"iso-8859-6", "iso-8859-7", "iso-8859-8", "iso-8859-9", "iso-8859-10",
	"iso-8859-11", "iso-8859-13", "iso-8859-14", "iso-8859-15",
	"iso-8859-16", "windows-1250", "windows-1251", "windows-1252",
	"windows-1253", "windows-1254", "windows-1255", "windows-1256",
	"windows-1257", "windows-1258", "windows-874", "tis-620", "koi8-r",
	"koi8-u", "ibm850", "ibm852", "ibm866", "macintosh", "iso-2022-jp",
	"euc-jp", "shift_jis", "windows-31j", "euc-kr", "ks_c_5601-1987",
	"gb2312", "gbk", "gb18030", "big5", "utf-16", "utf-7",
	/* other names of some */
	"latin1", "latin2", "cp1250", "cp1251", "cp1252", "cp932", "sjis",
};
enum { CHARSETS = sizeof(charset_names) / sizeof(charset_names[0]) };

/* -1 before charset_prepare, and where the system has none of it. */
static iconv_t charsets[CHARSETS];
static bool is_prepared;

void
charset_prepare(void)
{
	if (is_prepared)
		return;
	for (size_t i = 0; i < CHARSETS; i++)
		charsets[i] = iconv_open("UTF-8", charset_names[i]);
	is_prepared = true;
}

/* -1: text of it needs no change, or gets none. */
static iconv_t
charset_find(const char *charset)
{
	charset_prepare();
	for (size_t i = 0; i < CHARSETS; i++)
		if (strcasecmp(charset, charset_names[i]) == 0)
			return charsets[i];
	return (iconv_t)-1;
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
	iconv_t with = charset_find(charset);

	if (with == (iconv_t)-1) {
		str_add_slice(out, text);
		return;
	}
	(void)iconv(with, NULL, NULL, NULL, NULL);	/* as at the start */
	charset_convert(with, out, text);
}
