/* test_scrape.c - what scrapers and others say by HTTP
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tools/zmailer/metrics/scrape.h"

TestSuite(scrape);

#define LINE(text) text, sizeof(text) - 1
#define GET "GET /metrics HTTP/1.1\r\n"

static const struct {
	const char *in;
	size_t n;
	unsigned status;		/* 0: it has not come to its end */
	bool is_head, is_open;
} rows[] = {
	{ LINE(GET "Host: x\r\n\r\n"), 200, false, false },
	{ LINE("GET /metrics HTTP/1.0\n\n"), 200, false, false },
	{ LINE("GET /metrics?a=b HTTP/1.1\r\n\r\n"), 200, false, false },
	{ LINE("HEAD /metrics HTTP/1.1\r\n\r\n"), 200, true, false },
	{ LINE(GET "accept: text/html, Application/OpenMetrics-Text;"
	    "version=1.0.0;q=0.5,*/*\r\n\r\n"), 200, false, true },
	{ LINE(GET "Accept: text/plain;version=0.0.4\r\n\r\n"), 200, false,
	    false },
	{ LINE(GET "Content-Length: 0\r\n\r\n"), 200, false, false },
	/* not whole */
	{ LINE(""), 0, false, false },
	{ LINE("GET"), 0, false, false },
	{ LINE(GET), 0, false, false },
	{ LINE(GET "Host: x\r\n"), 0, false, false },
	{ LINE(GET "Host: x\r\n\r"), 0, false, false },
	/* other paths, other methods */
	{ LINE("GET / HTTP/1.1\r\n\r\n"), 404, false, false },
	{ LINE("GET /metrics/ HTTP/1.1\r\n\r\n"), 404, false, false },
	{ LINE("GET /../metrics HTTP/1.1\r\n\r\n"), 404, false, false },
	{ LINE("GET //metrics HTTP/1.1\r\n\r\n"), 404, false, false },
	{ LINE("GET /%6detrics HTTP/1.1\r\n\r\n"), 404, false, false },
	{ LINE("GET http://h/metrics HTTP/1.1\r\n\r\n"), 404, false, false },
	{ LINE("HEAD /x HTTP/1.1\r\n\r\n"), 404, true, false },
	{ LINE("POST /metrics HTTP/1.1\r\n\r\n"), 405, false, false },
	{ LINE("OPTIONS * HTTP/1.1\r\n\r\n"), 405, false, false },
	{ LINE("get /metrics HTTP/1.1\r\n\r\n"), 405, false, false },
	{ LINE("GET /metrics HTTP/2.0\r\n\r\n"), 505, false, false },
	{ LINE("PRI * HTTP/2.0\r\n\r\n"), 505, false, false },
	{ LINE("GET /metrics HTTP/1.10\r\n\r\n"), 505, false, false },
	/* nonsense */
	{ LINE("\r\n"), 0, false, false },
	{ LINE("\r\n\r\n"), 400, false, false },
	{ LINE("GET /metrics\r\n\r\n"), 400, false, false },
	{ LINE("GET  /metrics HTTP/1.1\r\n\r\n"), 400, false, false },
	{ LINE("GET /metrics HTTP/1.1 x\r\n\r\n"), 400, false, false },
	{ LINE(" GET /metrics HTTP/1.1\r\n\r\n"), 400, false, false },
	{ LINE("GET /met\trics HTTP/1.1\r\n\r\n"), 400, false, false },
	{ LINE("GET /metrics\0 HTTP/1.1\r\n\r\n"), 400, false, false },
	{ LINE("G\0T /metrics HTTP/1.1\r\n\r\n"), 400, false, false },
	{ LINE(GET "no colon\r\n\r\n"), 400, false, false },
	{ LINE(GET ": x\r\n\r\n"), 400, false, false },
	{ LINE(GET "Host : x\r\n\r\n"), 400, false, false },
	{ LINE(GET " folded: x\r\n\r\n"), 400, false, false },
	{ LINE(GET "X: a\0b\r\n\r\n"), 400, false, false },
	{ LINE(GET "X: a\rb\r\n\r\n"), 400, false, false },
	{ LINE("\x16\x03\x01\x02\n\n"), 400, false, false },
	{ LINE("EHLO x\r\nMAIL FROM:<a@b>\r\n\r\n"), 400, false, false },
	/* a body, or two requests in one */
	{ LINE(GET "Content-Length: 5\r\n\r\nhello"), 400, false, false },
	{ LINE(GET "content-length: 0, 5\r\n\r\n"), 400, false, false },
	{ LINE(GET "Transfer-Encoding: chunked\r\n\r\n0\r\n"), 400, false,
	    false },
};

static void
scrape_check(size_t i, size_t n, bool is_whole)
{
	struct scrape scrape;
	bool is_done = scrape_read((struct slice){ rows[i].in, n }, &scrape);

	if (!is_whole) {
		/* a prefix is not whole, or says the same */
		cr_expect(!is_done || scrape.status == rows[i].status,
		    "row %zu, %zu bytes: %u", i, n, scrape.status);
		return;
	}
	cr_expect_eq(is_done, rows[i].status != 0, "row %zu", i);
	if (!is_done)
		return;
	cr_expect_eq(scrape.status, rows[i].status, "row %zu: %u", i,
	    scrape.status);
	cr_expect_eq(scrape.is_head, rows[i].is_head, "row %zu", i);
	cr_expect_eq(scrape.is_open, rows[i].is_open, "row %zu", i);
}

Test(scrape, rows_whole_and_one_byte_at_a_time)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t n = 0; n <= rows[i].n; n++)
			scrape_check(i, n, n == rows[i].n);
}

Test(scrape, a_request_without_end_is_ended)
{
	static char bytes[SCRAPE_BYTES_MAX * 2];
	struct slice in = { bytes, SCRAPE_BYTES_MAX };
	struct scrape scrape;

	memset(bytes, 'a', sizeof(bytes));
	cr_expect_not(scrape_read(in, &scrape));
	in.n++;
	cr_expect(scrape_read(in, &scrape));
	cr_expect_eq(scrape.status, 431);
	memcpy(bytes, LINE(GET));	/* one field without end */
	in.n--;
	cr_expect_not(scrape_read(in, &scrape));
	in.n++;
	cr_expect(scrape_read(in, &scrape));
	cr_expect_eq(scrape.status, 431);
}

Test(scrape, answers_say_their_length)
{
	static const struct {
		struct scrape scrape;
		const char *has[4], *end;
	} answers[] = {
		{ { 200, false, false }, { "HTTP/1.1 200 OK\r\n",
		    "version=0.0.4", "Content-Length: 4\r\n", "close" },
		    "\r\n\r\na 1\n" },
		{ { 200, true, true }, { "HTTP/1.1 200 OK\r\n",
		    "openmetrics-text; version=1.0.0",
		    "Content-Length: 4\r\n", "no-store" }, "nosniff\r\n\r\n" },
		{ { 405, false, false }, { "HTTP/1.1 405 Method Not Allowed",
		    "Allow: GET, HEAD\r\n", "text/plain", "/metrics" },
		    "HEAD\n" },
		{ { 404, true, false }, { "HTTP/1.1 404 Not Found", "close",
		    "text/plain", "Length" }, "\r\n\r\n" },
	};
	struct str out = STR_INIT;

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		size_t n = strlen(answers[i].end);

		str_reset(&out);
		scrape_answer(&answers[i].scrape, SLICE("a 1\n"), &out);
		for (size_t k = 0; k < 4; k++)
			cr_expect_not_null(strstr(out.buf,
			    answers[i].has[k]), "row %zu: %s", i, out.buf);
		cr_assert_gt(out.len, n);
		cr_expect_str_eq(out.buf + out.len - n, answers[i].end);
	}
	str_release(&out);
}
