/* odd.c - characters that look like others
 *
 * In     bytes, maybe UTF-8
 * Out    which of them were hardly meant, and what was
 * Holds  nothing
 * Spec   Unicode 15, General Punctuation
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/odd.h"

#include "base/banned.h"

enum { ODD_BYTES_MIN = 2, ODD_BYTES_MAX = 3 };

static const struct {
	unsigned	 first, last;
	enum odd_kind	 kind;
	const char	*name;
} rows[] = {
	{ 0x00A0, 0x00A0, ODD_BLANK, "a no-break space" },
	{ 0x00AB, 0x00AB, ODD_QUOTE, "a quotation mark of text" },
	{ 0x00AD, 0x00AD, ODD_UNSEEN, "a soft hyphen" },
	{ 0x00BB, 0x00BB, ODD_QUOTE, "a quotation mark of text" },
	{ 0x2000, 0x200A, ODD_BLANK, "a wide or narrow space" },
	{ 0x200B, 0x200F, ODD_UNSEEN, "a character that nobody sees" },
	{ 0x2010, 0x2015, ODD_DASH, "a dash of text" },
	{ 0x2018, 0x201F, ODD_QUOTE, "a quotation mark of text" },
	{ 0x2028, 0x2029, ODD_BLANK, "a line end of Unicode" },
	{ 0x202A, 0x202E, ODD_UNSEEN, "a character that nobody sees" },
	{ 0x202F, 0x202F, ODD_BLANK, "a no-break space" },
	{ 0x2060, 0x2060, ODD_UNSEEN, "a character that nobody sees" },
	{ 0x2212, 0x2212, ODD_DASH, "a minus sign of text" },
	{ 0x3000, 0x3000, ODD_BLANK, "a wide space" },
	{ 0xFEFF, 0xFEFF, ODD_UNSEEN, "a byte order mark" },
};

static const char *const mends[] = {
	[ODD_BLANK] = "put a blank in its place",
	[ODD_QUOTE] = "write \"TEXT\" with the plain quote of the keyboard",
	[ODD_DASH] = "put the plain - in its place",
	[ODD_UNSEEN] = "delete it",
};

/* Two or three bytes of UTF-8; 0 when there are none. */
static unsigned
odd_code(struct slice text, size_t *out_bytes)
{
	const unsigned char *p = (const unsigned char *)text.p;

	if (text.n >= ODD_BYTES_MIN && p[0] == 0xc2 && (p[1] & 0xc0) == 0x80) {
		*out_bytes = ODD_BYTES_MIN;
		return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	}
	if (text.n >= ODD_BYTES_MAX && (p[0] & 0xf0) == 0xe0 &&
	    (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80) {
		*out_bytes = ODD_BYTES_MAX;
		return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 |
		    (p[2] & 0x3fu);
	}
	return 0;
}

bool
odd_at(struct slice text, struct odd *out)
{
	unsigned code = odd_code(text, &out->bytes);

	for (size_t i = 0; code != 0 && i < sizeof(rows) / sizeof(rows[0]);
	    i++)
		if (code >= rows[i].first && code <= rows[i].last) {
			out->kind = rows[i].kind;
			out->code = code;
			out->name = rows[i].name;
			out->mend = mends[rows[i].kind];
			return true;
		}
	out->kind = ODD_NONE;
	return false;
}

bool
odd_find(struct slice text, struct odd *out)
{
	for (; text.n > 0; text = slice_from(text, 1))
		if (odd_at(text, out))
			return true;
	out->kind = ODD_NONE;
	return false;
}
