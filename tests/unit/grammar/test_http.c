/* test_http.c - URLs, and replies of a server of HTTP
 *
 * Each reply runs whole and one byte at a time.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "grammar/http.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

Test(http, urls)
{
	static const struct {
		const char	*in, *host, *target;
		unsigned	 port;
		int		 rc;
	} rows[] = {
		{ "http://a.example", "a.example", "", 80, 0 },
		{ "HTTP://A.Example/", "a.example", "/", 80, 0 },
		{ "https://a.example/X?y=Z", "a.example", "/X?y=Z", 443, 0 },
		{ "https://a.example:8443?q", "a.example", "?q", 8443, 0 },
		{ "http://127.0.0.1:80/a:b@c", "127.0.0.1", "/a:b@c", 80, 0 },
		{ "http://[::1]:8080/", "::1", "/", 8080, 0 },
		{ "http://[2001:DB8::1]", "2001:db8::1", "", 80, 0 },
		{ "http://", "", "", 0, -1 },
		{ "http:///x", "", "", 0, -1 },
		{ "ftp://a.example/", "", "", 0, -1 },
		{ "a.example/", "", "", 0, -1 },
		{ "", "", "", 0, -1 },
		{ "http://user:pw@a.example/", "", "", 0, -1 },
		{ "http://a.example:0/", "", "", 0, -1 },
		{ "http://a.example:65536/", "", "", 0, -1 },
		{ "http://a.example:/", "", "", 0, -1 },
		{ "http://a.example/#top", "", "", 0, -1 },
		{ "http://a.example/a b", "", "", 0, -1 },
		{ "http://a.example/\r\nX: y", "", "", 0, -1 },
		{ "http://a.example/\xc3\xa9", "", "", 0, -1 },
		{ "http://[::1/", "", "", 0, -1 },
		{ "http://[a.example]/", "", "", 0, -1 },
		{ "http://[127.0.0.1]/", "", "", 0, -1 },
		{ "http://[::1]x/", "", "", 0, -1 },
		{ "http://a..example/", "", "", 0, -1 },
		{ "http://-/", "", "", 0, -1 },
		{ "http://192.0.2.0/24", "192.0.2.0", "/24", 80, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct http_url url;
		struct err err = { "" };
		int rc = http_url_parse(slice_of(rows[i].in), &url, &err);

		cr_assert_eq(rc, rows[i].rc, "%s: %s", rows[i].in, err.text);
		if (rc < 0) {
			cr_assert(err.text[0] != '\0', "%s", rows[i].in);
			continue;
		}
		cr_assert_str_eq(url.host, rows[i].host);
		cr_assert_eq(url.port, rows[i].port, "%s", rows[i].in);
		cr_assert(slice_is(url.target, rows[i].target), "%s",
		    rows[i].in);
		cr_assert_eq(url.is_tls, rows[i].in[4] == 's');
	}
}

Test(http, url_length)
{
	char text[HTTP_URL_BYTES_MAX + 2] = "http://a.example/";
	struct http_url url;
	struct err err;

	memset(text + 17, 'x', sizeof(text) - 18);
	cr_assert_eq(http_url_parse(slice_of(text), &url, &err), -1);
	text[HTTP_URL_BYTES_MAX] = '\0';
	cr_assert_eq(http_url_parse(slice_of(text), &url, &err), 0);
}

/* The first answer that is not "more", given ever longer prefixes. */
static int
head_slowly(struct slice in, struct http_head *out, struct err *err)
{
	int rc = 0;

	for (size_t n = 0; n <= in.n && rc == 0; n++)
		rc = http_head_parse(slice_first(in, n), out, err);
	return rc;
}

#define OK "HTTP/1.1 200 OK\r\n"

Test(http, heads)
{
	static const struct {
		const char	*in;
		int		 rc;
		unsigned	 code;
		bool		 is_closing, is_chunked, has_length;
		uint64_t	 length;
		const char	*reason, *retry_after;
	} rows[] = {
		{ OK "\r\n", 1, 200, false, false, false, 0, "OK", "" },
		{ OK "\r\nbody", 1, 200, false, false, false, 0, "OK", "" },
		{ "HTTP/1.1 204\r\n\r\n", 1, 204, false, false, false, 0, "",
		    "" },
		{ "HTTP/1.1 599 \n\n", 1, 599, false, false, false, 0, "",
		    "" },
		{ "HTTP/1.0 200 OK\r\n\r\n", 1, 200, true, false, false, 0,
		    "OK", "" },
		{ "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", 1, 200,
		    false, false, false, 0, "OK", "" },
		{ OK "connection: a, Close\r\n\r\n", 1, 200, true, false,
		    false, 0, "OK", "" },
		{ OK "Content-Length: 12\r\n\r\n", 1, 200, false, false, true,
		    12, "OK", "" },
		{ OK "Content-Length: 12\r\ncontent-length:12 \r\n\r\n", 1,
		    200, false, false, true, 12, "OK", "" },
		{ OK "Transfer-Encoding: Chunked\r\n\r\n", 1, 200, false,
		    true, false, 0, "OK", "" },
		{ "HTTP/1.1 503 Busy now\r\nRetry-After:  120\r\n\r\n", 1,
		    503, false, false, false, 0, "Busy now", "120" },
		{ OK "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", -1, 0,
		    false, false, false, 0, "", "" },
		{ OK "Content-Length: -1\r\n\r\n", -1, 0, false, false,
		    false, 0, "", "" },
		{ OK "Content-Length: 99999999999999999999\r\n\r\n", -1, 0,
		    false, false, false, 0, "", "" },
		{ OK "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"
		    "\r\n", -1, 0, false, false, false, 0, "", "" },
		{ OK "Transfer-Encoding: gzip, chunked\r\n\r\n", -1, 0, false,
		    false, false, 0, "", "" },
		{ OK " folded\r\n\r\n", -1, 0, false, false, false, 0, "",
		    "" },
		{ OK "Name : x\r\n\r\n", -1, 0, false, false, false, 0, "",
		    "" },
		{ OK "no colon\r\n\r\n", -1, 0, false, false, false, 0, "",
		    "" },
		{ OK ": x\r\n\r\n", -1, 0, false, false, false, 0, "", "" },
		{ "HTTP/2 200\r\n\r\n", -1, 0, false, false, false, 0, "",
		    "" },
		{ "HTTP/1.2 200 OK\r\n\r\n", -1, 0, false, false, false, 0,
		    "", "" },
		{ "HTTP/1.1 099 OK\r\n\r\n", -1, 0, false, false, false, 0,
		    "", "" },
		{ "HTTP/1.1 600 OK\r\n\r\n", -1, 0, false, false, false, 0,
		    "", "" },
		{ "HTTP/1.1 2000\r\n\r\n", -1, 0, false, false, false, 0, "",
		    "" },
		{ "220 smtp.example ESMTP\r\n", -1, 0, false, false, false,
		    0, "", "" },
		{ "\r\n\r\n", -1, 0, false, false, false, 0, "", "" },
		{ "", 0, 0, false, false, false, 0, "", "" },
		{ "HTTP/1.1 200 OK", 0, 0, false, false, false, 0, "", "" },
		{ OK "Content-Length: 12\r\n", 0, 0, false, false, false, 0,
		    "", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slice in = slice_of(rows[i].in);
		struct http_head head, slow;
		struct err err = { "" };
		int rc = http_head_parse(in, &head, &err);

		cr_assert_eq(rc, rows[i].rc, "row %zu: %s", i, err.text);
		cr_assert_eq(head_slowly(in, &slow, &err), rc, "row %zu", i);
		if (rc != 1)
			continue;
		cr_assert_eq(slow.bytes, head.bytes);
		cr_assert_eq(head.code, rows[i].code, "row %zu", i);
		cr_assert_eq(head.is_closing, rows[i].is_closing, "row %zu",
		    i);
		cr_assert_eq(head.is_chunked, rows[i].is_chunked);
		cr_assert_eq(head.has_length, rows[i].has_length);
		cr_assert_eq(head.length, rows[i].length);
		cr_assert(slice_is(head.reason, rows[i].reason), "row %zu",
		    i);
		cr_assert(slice_is(head.retry_after, rows[i].retry_after));
	}
}

Test(http, heads_are_bounded)
{
	struct str text = STR_INIT;
	struct http_head head;
	struct err err;

	str_adds(&text, OK);
	while (text.len < HTTP_HEAD_BYTES_MAX)
		str_adds(&text, "xxxxxxxxxxxxxxxx");
	cr_assert_eq(http_head_parse(str_slice(&text), &head, &err), HTTP_BAD);
	str_reset(&text);
	str_adds(&text, OK);
	for (int i = 0; i < HTTP_FIELDS_MAX; i++)
		str_adds(&text, "a: b\r\n");
	cr_assert_eq(http_head_parse(str_slice(&text), &head, &err), HTTP_BAD);
	str_release(&text);
}

/* Pieces of `step` bytes. */
static int
body_take(const char *head_text, struct slice in, size_t step,
    struct str *text, size_t *out_used, struct err *err)
{
	struct http_head head;
	struct http_body body;
	size_t at = 0, end = 0, used;
	int rc = 0;

	cr_assert_eq(http_head_parse(slice_of(head_text), &head, err),
	    HTTP_DONE);
	http_body_begin(&body, &head);
	while (rc == 0 && end < in.n) {
		end = end + step < in.n ? end + step : in.n;
		rc = http_body_take(&body, slice_from(slice_first(in, end),
		    at), &used, text, 10, err);
		at += used;
	}
	*out_used = at;
	return rc;
}

Test(http, bodies)
{
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
	static const struct {
		const char	*head, *in;
		int		 rc;
		const char	*text;
		size_t		 used;
	} rows[] = {
		{ OK "Content-Length: 3\r\n\r\n", "abcdef", 1, "abc", 3 },
		{ OK "Content-Length: 3\r\n\r\n", "ab", 0, "ab", 2 },
		{ OK "Content-Length: 12\r\n\r\n", "abcdefghijkl", 1,
		    "abcdefghij", 12 },
		{ OK "\r\n", "abc", 0, "abc", 3 },
		{ CHUNKED, "3\r\nabc\r\n0\r\n\r\nnext", 1, "abc", 13 },
		{ CHUNKED, "3;x=y\r\nabc\r\n02 \nde\n0\n\n", 1, "abcde", 22 },
		{ CHUNKED, "0\r\nTrailer: x\r\n\r\n", 1, "", 17 },
		{ CHUNKED, "A\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n", 1,
		    "0123456789", 26 },
		{ CHUNKED, "3\r\nabcd\r\n", -1, "abc", 0 },
		{ CHUNKED, "\r\n", -1, "", 0 },
		{ CHUNKED, "x\r\n", -1, "", 0 },
		{ CHUNKED, "-1\r\n", -1, "", 0 },
		{ CHUNKED, "3x\r\n", -1, "", 0 },
		{ CHUNKED, "ffffffffffffffffff\r\n", -1, "", 0 },
		{ CHUNKED, "3\r\nab", 0, "ab", 5 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t step = 1; step < 40; step += 38) {
			struct str text = STR_INIT;
			struct err err = { "" };
			size_t used;
			int rc = body_take(rows[i].head,
			    slice_of(rows[i].in), step, &text, &used, &err);

			cr_assert_eq(rc, rows[i].rc, "row %zu: %s", i,
			    err.text);
			cr_assert_str_eq(text.buf, rows[i].text);
			if (rc >= 0)
				cr_assert_eq(used, rows[i].used,
				    "row %zu: %zu", i, used);
			str_release(&text);
		}
}

Test(http, bodiless)
{
	static const char *const heads[] = { "HTTP/1.1 204 x\r\n\r\n",
	    "HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n",
	    "HTTP/1.1 100 x\r\n\r\n", OK "Content-Length: 0\r\n\r\n" };

	for (size_t i = 0; i < COUNT(heads); i++) {
		struct http_head head;
		struct http_body body;
		struct str text = STR_INIT;
		struct err err;
		size_t used;

		cr_assert_eq(http_head_parse(slice_of(heads[i]), &head, &err),
		    HTTP_DONE);
		http_body_begin(&body, &head);
		cr_assert_eq(http_body_take(&body, SLICE("x"), &used, &text,
		    9, &err), HTTP_DONE, "%s", heads[i]);
		cr_assert_eq(used, 0);
	}
}

Test(http, lines_between_chunks_are_bounded)
{
	struct str in = STR_INIT, text = STR_INIT;
	struct err err = { "" };
	size_t used;

	str_adds(&in, "1;");
	while (in.len < 2 * HTTP_CHUNK_LINE_BYTES_MAX)
		str_addc(&in, 'x');
	cr_assert_eq(body_take(CHUNKED, str_slice(&in), 1, &text, &used,
	    &err), -1);
	str_reset(&in);
	str_adds(&in, "0\r\n");
	for (int i = 0; i <= HTTP_FIELDS_MAX; i++)
		str_adds(&in, "a: b\r\n");
	cr_assert_eq(body_take(CHUNKED, str_slice(&in), 1000, &text, &used,
	    &err), -1);
	str_release(&in);
	str_release(&text);
}

Test(http, retry_after)
{
	static const struct {
		const char	*in;
		int64_t		 want;
	} rows[] = {
		{ "120", 120 }, { "0", 0 }, { "", 0 }, { "-1", 0 },
		{ "12x", 0 }, { "999999", HTTP_WAIT_S_MAX },
		{ "99999999999999999999", 0 },
		{ "Sun, 06 Nov 1994 08:49:37 GMT", 37 },
		{ "Sun, 06 Nov 1994 08:49:00 GMT", 0 },
		{ "Sun, 06 Nov 1994 08:48:00 GMT", 0 },
		{ "Sun, 06 Nov 1999 08:49:37 GMT", HTTP_WAIT_S_MAX },
		{ "Sun, 06 Xov 1994 08:49:37 GMT", 0 },
		{ "Sun, 06 Nov 1994 08:49:37 CET", 0 },
		{ "Sunday, 06-Nov-94 08:49:37 GMT", 0 },
		{ "Sun, 06 Nov 1994 08:49:61 GMT", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_assert_eq(http_retry_after(slice_of(rows[i].in),
		    784111740), rows[i].want, "%s: %lld", rows[i].in,
		    (long long)http_retry_after(slice_of(rows[i].in),
		    784111740));
}
