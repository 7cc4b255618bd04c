/* html.c - bytes of anybody as HTML that does nothing
 *
 * In     any bytes
 * Out    text, attribute values, URLs
 * Trusts nothing
 * Spec   html.h; HTML (WHATWG) 13.3; RFC 3986 section 2.3; RFC 3629
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "web/page/html.h"

#include "base/banned.h"

/* The character of a valid sequence of n bytes, 2 to 4. */
static uint32_t
html_point(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	uint32_t point = u[0] & (0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++)
		point = point << 6 | (u[i] & 0x3f);
	return point;
}

/* C1 controls, marks of direction and of joining, separators of lines, the
 * byte order mark, tags, private use and what is no character. */
static bool
html_point_hides(uint32_t point)
{
	static const struct { uint32_t first, last; } rows[] = {
		{ 0x80, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c },
		{ 0x115f, 0x1160 }, { 0x180e, 0x180e }, { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
		{ 0xe000, 0xf8ff }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },
		{ 0xfff0, 0xfffb }, { 0xfffe, 0xffff }, { 0xe0000, 0x10ffff },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (point >= rows[i].first && point <= rows[i].last)
			return true;
	return false;
}

static void
html_add_ascii(struct str *out, char c, bool has_lines)
{
	switch (c) {
	case '&':
		str_adds(out, "&amp;");
		break;
	case '<':
		str_adds(out, "&lt;");
		break;
	case '>':
		str_adds(out, "&gt;");
		break;
	case '"':
		str_adds(out, "&quot;");
		break;
	case '\'':
		str_adds(out, "&#39;");
		break;
	default:
		if (c == '\t' || (has_lines && c == '\n'))
			str_addc(out, c);
		else if ((unsigned char)c < ' ' || (unsigned char)c > '~')
			str_addf(out, "\\x%02x", (unsigned char)c);
		else
			str_addc(out, c);
	}
}

/* The first of what is left; returns how many bytes it was. */
static size_t
html_add_one(struct str *out, struct slice rest, bool has_lines)
{
	size_t n = (unsigned char)rest.p[0] < 0x80 ? 0 : slice_utf8(rest);
	uint32_t point;

	if (n == 0) {
		html_add_ascii(out, rest.p[0], has_lines);
		return 1;
	}
	point = html_point(rest.p, n);
	if (html_point_hides(point))
		str_addf(out, "\\u{%x}", (unsigned)point);
	else
		str_add(out, rest.p, n);
	return n;
}

static void
html_escape(struct str *out, struct slice text, size_t most, bool has_lines)
{
	size_t at = 0;

	while (at < text.n && at < most)
		at += html_add_one(out, slice_from(text, at), has_lines);
	if (at < text.n)
		str_addf(out, " \xe2\x80\xa6 (%zu bytes more)", text.n - at);
}

void
html_text(struct str *out, struct slice text)
{
	str_adds(out, "<bdi>");
	html_escape(out, text, HTML_TEXT_BYTES_MAX, false);
	str_adds(out, "</bdi>");
}

void
html_bare(struct str *out, struct slice text)
{
	html_escape(out, text, HTML_TEXT_BYTES_MAX, false);
}

void
html_words(struct str *out, const char *words)
{
	html_escape(out, slice_of(words), HTML_TEXT_BYTES_MAX, false);
}

/* Without an element that a reader of screens or the keyboard cannot reach:
 * what scrolls takes the focus. */
void
html_block(struct str *out, struct slice text)
{
	str_adds(out, "<pre tabindex=\"0\">");
	html_escape(out, text, HTML_BLOCK_BYTES_MAX, true);
	str_adds(out, "</pre>\n");
}

void
html_attribute(struct str *out, const char *name, struct slice value)
{
	str_addf(out, " %s=\"", name);
	html_escape(out, value, HTML_TEXT_BYTES_MAX, false);
	str_addc(out, '"');
}

/* "<" with the name of an element that no policy reaches: link (a hint to
 * connect), meta (another address), base. */
static bool
html_leads_away(struct slice rest)
{
	static const char *const names[] = { "link", "meta", "base" };

	rest = slice_from(rest, 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_is_nocase(slice_first(rest, 4), names[i]))
			return true;
	return false;
}

void
html_srcdoc(struct str *out, struct slice text)
{
	text = slice_first(text, HTML_BLOCK_BYTES_MAX);
	str_adds(out, " srcdoc=\"");
	for (size_t at = 0, n; at < text.n; at += n) {
		struct slice rest = slice_from(text, at);

		n = (unsigned char)rest.p[0] < 0x80 ? 1 : slice_utf8(rest);
		if (rest.p[0] == '<')
			str_adds(out, html_leads_away(rest) ? "&lt;no-" :
			    "&lt;");
		else if (n == 1 && (ascii_is_among(rest.p[0], "\t\n") ||
		    ((unsigned char)rest.p[0] >= ' ' && rest.p[0] != 0x7f)))
			html_add_ascii(out, rest.p[0], true);
		else if (n > 1)
			str_add(out, rest.p, n);
		if (n == 0) {
			str_adds(out, "\xef\xbf\xbd");
			n = 1;
		}
	}
	str_addc(out, '"');
}

void
html_url(struct str *out, struct slice value)
{
	for (size_t i = 0; i < value.n; i++)
		if (ascii_is_alnum(value.p[i]) ||
		    ascii_is_among(value.p[i], "-._~"))
			str_addc(out, value.p[i]);
		else
			str_addf(out, "%%%02X", (unsigned char)value.p[i]);
}

void
html_link(struct str *out, const char *path, struct slice rest,
    const char *key, struct slice value)
{
	str_addf(out, " href=\"%s", path);
	html_url(out, rest);
	if (key != NULL) {
		str_addf(out, "?%s=", key);
		html_url(out, slice_first(value, HTML_TEXT_BYTES_MAX));
	}
	str_addc(out, '"');
}

void
html_element(struct str *out, const char *element, struct slice text)
{
	str_addf(out, "<%s>", element);
	html_text(out, text);
	str_addf(out, "</%s>", element);
}

void
html_hidden(struct str *out, const char *name, struct slice value)
{
	str_adds(out, "<input type=\"hidden\"");
	html_attribute(out, "name", slice_of(name));
	html_attribute(out, "value", value);
	str_adds(out, ">");
}
