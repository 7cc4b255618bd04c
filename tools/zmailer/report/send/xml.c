/* xml.c - elements, written one after the other
 *
 * In     names of ours, values of anybody's
 * Out    lines of XML
 * Holds  nothing
 * Trusts no value
 * Spec   xml.h; XML 1.0 (fifth edition) sections 2.2 and 2.4
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/report/send/xml.h"

#include "base/banned.h"

#define NO_CHARACTER	"\xef\xbf\xbd"

void
xml_begin(struct str *out, const char *name)
{
	str_addf(out, "<%s>\n", name);
}

void
xml_end(struct str *out, const char *name)
{
	str_addf(out, "</%s>\n", name);
}

static void
xml_add_ascii(struct str *out, char c)
{
	switch (c) {
	case '<':
		str_adds(out, "&lt;");
		break;
	case '>':
		str_adds(out, "&gt;");
		break;
	case '&':
		str_adds(out, "&amp;");
		break;
	case '"':
		str_adds(out, "&quot;");
		break;
	case '\'':
		str_adds(out, "&apos;");
		break;
	default:
		if ((unsigned char)c < ' ' || c == 0x7f)
			str_adds(out, NO_CHARACTER);
		else
			str_addc(out, c);
	}
}

/* Is it one that a document may not have, or that is better not there: a
 * control of C1, a direction, U+FFFE, U+FFFF? */
static bool
xml_is_refused(struct slice c)
{
	return slice_is_obeyed(c) || slice_is(c, "\xef\xbf\xbe") ||
	    slice_is(c, "\xef\xbf\xbf");
}

static void
xml_add_value(struct str *out, struct slice value)
{
	struct slice c;

	while (value.n > 0) {
		c = slice_first(value, slice_utf8(value));
		if ((unsigned char)value.p[0] < 0x80)
			xml_add_ascii(out, value.p[0]);
		else if (c.n == 0 || xml_is_refused(c))
			str_adds(out, NO_CHARACTER);
		else
			str_add_slice(out, c);
		value = slice_from(value, c.n > 0 ? c.n : 1);
	}
}

void
xml_text(struct str *out, const char *name, struct slice value)
{
	str_addf(out, "<%s>", name);
	xml_add_value(out, value);
	xml_end(out, name);
}

void
xml_number(struct str *out, const char *name, uint64_t value)
{
	str_addf(out, "<%s>%llu</%s>\n", name, (unsigned long long)value,
	    name);
}
