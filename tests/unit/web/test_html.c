/* test_html.c - what senders write is text, and no more
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "web/page/charset.h"
#include "web/page/html.h"
#include "web/page/layout.h"
#include "web/page/picture.h"
#include "web/page/table.h"

static const struct {
	const char	*in, *want;
} rows[] = {
	{ "plain", "plain" },
	{ "", "" },
	{ "<script>alert(1)</script>",
	    "&lt;script&gt;alert(1)&lt;/script&gt;" },
	{ "\"><img src=x onerror='a'>",
	    "&quot;&gt;&lt;img src=x onerror=&#39;a&#39;&gt;" },
	{ "a&lt;b", "a&amp;lt;b" },
	{ "\x1b[2J\r\n\x07", "\\x1b[2J\\x0d\\x0a\\x07" },
	{ "a\tb", "a\tb" },
	{ "\x7f", "\\x7f" },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	{ "\xd7\xa9\xd7\x9c", "\xd7\xa9\xd7\x9c" },
	{ "\xe2\x80\xaegnp.exe\xe2\x80\xac", "\\u{202e}gnp.exe\\u{202c}" },
	{ "\xe2\x81\xa6x\xe2\x81\xa9", "\\u{2066}x\\u{2069}" },
	{ "a\xe2\x80\x8b" "b\xef\xbb\xbf", "a\\u{200b}b\\u{feff}" },
	{ "\xc2\x9b" "2J", "\\u{9b}2J" },
	{ "\xe2\x80\xa8", "\\u{2028}" },
	{ "\xf3\xa0\x81\x81", "\\u{e0041}" },
	{ "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
	{ "\xff\xc3(", "\\xff\\xc3(" },
	{ "\xc0\xbcscript", "\\xc0\\xbcscript" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
};

Test(html, text_is_no_markup)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = STR_INIT;

		html_bare(&out, slice_of(rows[i].in));
		cr_expect_str_eq(out.buf, rows[i].want, "%s gives %s",
		    rows[i].in, out.buf);
		str_release(&out);
	}
}

Test(html, an_attribute_ends_where_it_ends)
{
	struct str out = STR_INIT;

	html_attribute(&out, "value", SLICE("\" onfocus='x'\n"));
	cr_expect_str_eq(out.buf,
	    " value=\"&quot; onfocus=&#39;x&#39;\\x0a\"");
	str_release(&out);
}

Test(html, an_address_has_no_scheme_of_others)
{
	struct str out = STR_INIT;

	html_link(&out, "/message/", SLICE("javascript:x/../y?\"<"), "q",
	    SLICE("a&b=\xc3\xbc\n"));
	cr_expect_str_eq(out.buf, " href=\"/message/javascript%3Ax%2F..%2Fy"
	    "%3F%22%3C?q=a%26b%3D%C3%BC%0A\"");
	str_release(&out);
}

Test(html, a_nul_is_shown)
{
	struct str out = STR_INIT;

	html_bare(&out, SLICE("a\0b"));
	cr_expect_str_eq(out.buf, "a\\x00b");
	str_release(&out);
}

/* 10 MB, also of what grows when it is escaped, and cut inside a letter. */
Test(html, a_long_line_is_cut)
{
	static const char *const units[] = { "x", "<", "\xc3\xbc", "\xff" };

	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		struct str in = STR_INIT, out = STR_INIT;

		str_addc(&in, 'o');
		while (in.len < 10 << 20)
			str_adds(&in, units[u]);
		html_text(&out, str_slice(&in));
		cr_expect_lt(out.len, 8 * HTML_TEXT_BYTES_MAX);
		cr_expect(strstr(out.buf, "bytes more)") != NULL);
		str_reset(&out);
		html_block(&out, str_slice(&in));
		cr_expect_lt(out.len, 8 * HTML_BLOCK_BYTES_MAX);
		str_release(&in);
		str_release(&out);
	}
}

Test(html, a_block_keeps_its_lines)
{
	struct str out = STR_INIT;

	html_block(&out, SLICE("a\n</pre><b>\r"));
	cr_expect_str_eq(out.buf, "<pre tabindex=\"0\">a\n&lt;/pre&gt;"
	    "&lt;b&gt;\\x0d</pre>\n");
	str_release(&out);
}

Test(table, cells_have_labels_and_roles)
{
	static const struct table_column columns[] = {
		{ "To", false }, { "<n>", true },
	};
	struct str out = STR_INIT;
	struct table table;

	table_begin(&table, &out, "All & more", columns, 2);
	table_row_begin(&table);
	table_text(&table, SLICE("<i>"));
	table_number(&table, 7);
	table_end(&table);
	cr_expect(strstr(out.buf, "<caption>All &amp; more</caption>"));
	cr_expect(strstr(out.buf, "<td role=\"cell\" data-label=\"To\"><bdi>"
	    "&lt;i&gt;</bdi></td>"));
	cr_expect(strstr(out.buf, "<td role=\"cell\" class=\"number\" "
	    "data-label=\"&lt;n&gt;\">7</td></tr>"));
	str_release(&out);
}

Test(picture, says_its_numbers)
{
	struct picture_bar bars[] = { { SLICE("ready"), 0 },
	    { SLICE("</svg><script>"), 40 } };
	struct str out = STR_INIT;

	picture_bars(&out, "p", "How many", bars, 2);
	cr_expect(strstr(out.buf, "<title id=\"p-t\">How many</title>\n<desc "
	    "id=\"p-d\">ready 0, &lt;/svg&gt;&lt;script&gt; 40</desc>"));
	cr_expect(strstr(out.buf, "<script") == NULL);
	str_release(&out);
}

Test(layout, an_error_shows_nothing_of_the_desk)
{
	struct str out = STR_INIT;

	layout_error(&out, 403, "No <b>", false);
	cr_expect(strstr(out.buf, "<nav") == NULL);
	cr_expect(strstr(out.buf, "No &lt;b&gt;") != NULL);
	str_release(&out);
}

Test(html, a_frame_gets_html_that_leads_nowhere)
{
	static const struct { const char *in, *want; } frames[] = {
		{ "<b title='x'>\"a\" & b</b>\n", "&lt;b title=&#39;x&#39;"
		    "&gt;&quot;a&quot; &amp; b&lt;/b&gt;\n" },
		{ "<link rel=x><META http-equiv=refresh><Base>",
		    "&lt;no-link rel=x&gt;&lt;no-META http-equiv=refresh&gt;"
		    "&lt;no-Base&gt;" },
		{ "\">\x1b</iframe>\xff", "&quot;&gt;&lt;/iframe&gt;"
		    "\xef\xbf\xbd" },
		{ "gr\xc3\xbc\xe2\x80\xae", "gr\xc3\xbc\xe2\x80\xae" },
	};

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct str out = STR_INIT, want = STR_INIT;

		html_srcdoc(&out, slice_of(frames[i].in));
		str_addf(&want, " srcdoc=\"%s\"", frames[i].want);
		cr_expect_str_eq(out.buf, want.buf);
		str_release(&out);
		str_release(&want);
	}
}

Test(html, charsets_become_utf_8)
{
	static const struct { const char *in, *charset, *want; } texts[] = {
		{ "gr\xfc", "iso-8859-1", "gr\xc3\xbc" },
		{ "gr\xfc", "", "gr\xfc" },
		{ "gr\xc3\xbc", "UTF-8", "gr\xc3\xbc" },
		{ "a", "../../etc/passwd", "a" }, { "a", "no-such", "a" },
		{ "a", "utf-16//IGNORE", "a" },
		{ "\x80", "windows-1252", "\xe2\x82\xac" },
		{ "a\xff" "b", "euc-jp", "a?b" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str out = STR_INIT;

		charset_add(&out, slice_of(texts[i].in), texts[i].charset);
		cr_expect_str_eq(out.buf, texts[i].want, "%s: %s",
		    texts[i].charset, out.buf);
		str_release(&out);
	}
}

Test(picture, a_life_stays_in_its_frame)
{
	static const struct picture_moment moments[] = {
		{ { "a<b>", 4 }, 1000, PICTURE_PLAIN },
		{ { "late", 4 }, 9000, PICTURE_WAIT },
		{ { "early", 5 }, 500, PICTURE_BAD },
		{ { "end", 3 }, 5500, PICTURE_GOOD },
	};
	struct str out = STR_INIT;

	picture_life(&out, "x", "T", moments, 4);
	cr_expect_not_null(strstr(out.buf, "a&lt;b&gt; after 0.000 s, late "
	    "after 8.000 s"));
	cr_expect_not_null(strstr(out.buf, "<circle class=\"wait\" "
	    "cx=\"546\""));
	cr_expect_not_null(strstr(out.buf, "<circle class=\"bad\" cx=\"14\""));
	str_reset(&out);
	picture_life(&out, "x", "T", moments, 1);
	cr_expect_not_null(strstr(out.buf, "cx=\"14\""));
	str_release(&out);
}
