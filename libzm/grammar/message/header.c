/* header.c - the header of a message, field by field
 *
 * In     a message as it lies in its file; or the value of a field
 * Out    slices of it
 * Trusts nothing; every byte is passed once, nothing recurses
 * Spec   RFC 5322 section 2.2, 3.4, 3.6.4, 4.4; RFC 6532 section 3
 *
 *   field        = 1*(%d33-57 / %d59-126) *WSP ":" unstructured LF
 *   unstructured = *( octet / LF WSP )
 *
 * The walk over addresses is in header_address.c.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/message/header.h"

#include "base/banned.h"

static bool
is_blank_line(struct slice s)
{
	return s.n > 0 && (s.p[0] == '\n' ||
	    (s.n > 1 && s.p[0] == '\r' && s.p[1] == '\n'));
}

/* Bytes of the field in front, folded lines and last LF included. */
static size_t
field_bytes(struct slice s)
{
	size_t n = 0;

	do {
		const char *lf = memchr(s.p + n, '\n', s.n - n);

		if (lf == NULL)
			return s.n;
		n = (size_t)(lf - s.p) + 1;
	} while (n < s.n && ascii_is_blank(s.p[n]));
	return n;
}

/* Bytes of the name and of what stands up to and with the colon, or 0. */
static size_t
name_bytes(struct slice s, size_t *out_with_colon)
{
	size_t n = 0, colon;

	while (n < s.n && s.p[n] > 32 && s.p[n] < 127 && s.p[n] != ':')
		n++;
	colon = n;
	while (colon < s.n && ascii_is_blank(s.p[colon]))
		colon++;
	if (n == 0 || colon == s.n || s.p[colon] != ':')
		return 0;
	*out_with_colon = colon + 1;
	return n;
}

bool
header_next(struct slice *rest, struct header_field *out, bool *out_is_broken)
{
	size_t n, name, value;

	*out_is_broken = false;
	if (rest->n == 0)
		return false;
	if (is_blank_line(*rest)) {
		*rest = slice_from(*rest, rest->p[0] == '\r' ? 2 : 1);
		return false;
	}
	name = name_bytes(*rest, &value);
	if (name == 0) {
		*out_is_broken = true;
		return false;
	}
	n = field_bytes(*rest);
	out->whole = slice_first(*rest, n);
	out->name = slice_first(*rest, name);
	out->value = slice_from(out->whole, value);
	if (out->value.n > 0 && out->value.p[out->value.n - 1] == '\n') {
		out->value.n--;
		if (out->value.n > 0 && out->value.p[out->value.n - 1] == '\r')
			out->value.n--;
	}
	*rest = slice_from(*rest, n);
	return true;
}

struct slice
header_junk(struct slice *rest)
{
	struct slice line = slice_first(*rest, field_bytes(*rest));

	*rest = slice_from(*rest, line.n);
	return line;
}

bool
header_is_from_line(struct slice text)
{
	return slice_starts(text, "From ") || slice_starts(text, ">From ");
}

size_t
header_bytes(struct slice message)
{
	struct slice rest = message;
	struct header_field field;
	bool is_broken;

	while (header_next(&rest, &field, &is_broken) == 1)
		;
	return message.n - rest.n;
}

bool
header_is(const struct header_field *field, const char *name)
{
	return slice_is_nocase(field->name, name);
}

void
header_add_unfolded(struct str *out, struct slice value)
{
	value = slice_trim(value);
	while (value.n > 0) {
		size_t n = slice_find(value, '\n'), skip = n;

		while (n > 0 && n < value.n &&
		    (ascii_is_blank(value.p[n - 1]) || value.p[n - 1] == '\r'))
			n--;
		str_add(out, value.p, n);
		while (skip < value.n && (ascii_is_blank(value.p[skip]) ||
		    value.p[skip] == '\r' || value.p[skip] == '\n'))
			skip++;
		if (skip > n)
			str_addc(out, ' ');
		value = slice_from(value, skip);
	}
}

struct slice
header_msgid(struct slice value)
{
	size_t n;

	for (;;) {
		value = slice_from(value, slice_find(value, '<'));
		if (value.n == 0)
			return (struct slice){ "", 0 };
		n = 1;
		while (n < value.n && (unsigned char)value.p[n] > 32 &&
		    value.p[n] != 127 && value.p[n] != '<' &&
		    value.p[n] != '>')
			n++;
		if (n > 1 && n < value.n && value.p[n] == '>')
			return slice_first(value, n + 1);
		value = slice_from(value, n);
	}
}
