/* scrape.c - what a scraper asks by HTTP, taken apart
 *
 * In     bytes of a client
 * Out    whether it may have the metrics, and in which form; the answer
 * Trusts nothing: a byte that belongs nowhere is a bad request
 * Spec   scrape.h; RFC 9112 section 3; RFC 9110 section 9.3.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "tools/zmailer/metrics/scrape.h"

#include "base/banned.h"

static const struct { unsigned status; const char *words; } scrape_words[] = {
	{ 200, "OK" }, { 400, "Bad Request" }, { 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 505, "HTTP Version Not Supported" },
};

/* The next line without its end; false: it has none yet. */
static bool
scrape_line(struct slice *rest, struct slice *out)
{
	size_t n = slice_find(*rest, '\n');

	if (n == rest->n)
		return false;
	*out = slice_first(*rest, n);
	*rest = slice_from(*rest, n + 1);
	if (out->n > 0 && out->p[out->n - 1] == '\r')
		out->n--;
	return true;
}

static bool
scrape_is_word(struct slice word)
{
	for (size_t i = 0; i < word.n; i++)
		if ((unsigned char)word.p[i] <= ' ' || word.p[i] >= 0x7f)
			return false;
	return word.n > 0;
}

static bool
scrape_is_method(struct slice word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!ascii_is_alpha(word.p[i]) && word.p[i] != '-')
			return false;
	return word.n > 0;
}

static unsigned
scrape_judge_line(struct slice line, struct scrape *out)
{
	struct slice method, target, path;
	size_t blank = slice_find(line, ' ');

	method = slice_first(line, blank);
	line = slice_from(line, blank < line.n ? blank + 1 : blank);
	blank = slice_find(line, ' ');
	target = slice_first(line, blank);
	line = slice_from(line, blank < line.n ? blank + 1 : blank);
	if (!scrape_is_method(method) || !scrape_is_word(target) ||
	    !slice_starts(line, "HTTP/") || !scrape_is_word(line))
		return 400;
	if (!slice_starts(line, "HTTP/1.") || line.n != 8)
		return 505;
	out->is_head = slice_is(method, "HEAD");
	if (!out->is_head && !slice_is(method, "GET"))
		return 405;
	path = slice_first(target, slice_find(target, '?'));
	return slice_is(path, "/metrics") ? 200 : 404;
}

/* A request has no body here, and two readers must not see two requests in one:
 * a field that announces a body is refused. */
static unsigned
scrape_judge_field(struct slice line, struct scrape *out)
{
	size_t colon = slice_find(line, ':');
	struct slice name = slice_first(line, colon), value, kind;

	if (colon == line.n || !scrape_is_word(name))
		return 400;
	for (size_t i = colon + 1; i < line.n; i++)
		if (((unsigned char)line.p[i] < ' ' && line.p[i] != '\t') ||
		    line.p[i] == 0x7f)
			return 400;
	value = slice_trim(slice_from(line, colon + 1));
	if (slice_is_nocase(name, "Transfer-Encoding") ||
	    (slice_is_nocase(name, "Content-Length") &&
	    !slice_is(value, "0")))
		return 400;
	if (slice_is_nocase(name, "Accept"))
		while (slice_cut(&value, ',', &kind))
			out->is_open |= slice_is_nocase(slice_trim(
			    slice_first(kind, slice_find(kind, ';'))),
			    "application/openmetrics-text");
	return 200;
}

bool
scrape_read(struct slice bytes, struct scrape *out)
{
	bool is_too_long = bytes.n > SCRAPE_BYTES_MAX;
	struct slice rest = slice_first(bytes, SCRAPE_BYTES_MAX), line;
	unsigned field;

	*out = (struct scrape){ .status = 431 };
	if (!scrape_line(&rest, &line))
		return is_too_long;
	out->status = scrape_judge_line(line, out);
	while (scrape_line(&rest, &line)) {
		if (line.n == 0)
			return true;
		field = scrape_judge_field(line, out);
		if (field != 200)
			out->status = field;
	}
	if (is_too_long)
		out->status = 431;
	return is_too_long;
}

void
scrape_answer(const struct scrape *scrape, struct slice text, struct str *out)
{
	struct str said = STR_INIT;
	const char *words = "Error";

	for (size_t i = 0; i < sizeof(scrape_words) / sizeof(scrape_words[0]);
	    i++)
		if (scrape_words[i].status == scrape->status)
			words = scrape_words[i].words;
	if (scrape->status == 200)
		str_add_slice(&said, text);
	else
		str_addf(&said, "%u %s: here is /metrics, for GET and HEAD\n",
		    scrape->status, words);
	str_addf(out, "HTTP/1.1 %u %s\r\nContent-Type: %s; charset=utf-8\r\n"
	    "Content-Length: %zu\r\nConnection: close\r\n"
	    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s"
	    "\r\n", scrape->status, words, scrape->status != 200 ?
	    "text/plain" : scrape->is_open ?
	    "application/openmetrics-text; version=1.0.0" :
	    "text/plain; version=0.0.4", said.len, scrape->status == 405 ?
	    "Allow: GET, HEAD\r\n" : "");
	if (!scrape->is_head)
		str_add_slice(out, str_slice(&said));
	str_release(&said);
}
