/* resp.c - what Redis is asked, and what it answers
 *
 * In     bytes of a server
 * Out    the first answer
 * Holds  nothing
 * Trusts nothing: the length is bounded before anything is waited for
 * Spec   resp.h; the Redis serialization protocol, version 2
 *
 *	answer  = "+" text CRLF / "-" text CRLF / ":" number CRLF /
 *	          "$-1" CRLF / "$" length CRLF length*OCTET CRLF
 *
 * SPDX-License-Identifier: ISC
 */
#include "tables/engine/resp.h"

#include "base/banned.h"

enum { LINE_BYTES_MAX = 1024 };

void
resp_add_command(struct str *out, const struct slice *words, size_t count)
{
	str_addf(out, "*%zu\r\n", count);
	for (size_t i = 0; i < count; i++) {
		str_addf(out, "$%zu\r\n", words[i].n);
		str_add_slice(out, words[i]);
		str_adds(out, "\r\n");
	}
}

static enum resp_answer
resp_read_bulk(struct slice line, struct slice rest, struct slice *out_text,
    size_t *out_used)
{
	uint64_t n;

	if (slice_is(line, "-1"))
		return RESP_NIL;
	if (!slice_number(line, 0, RESP_BYTES_MAX, &n))
		return RESP_BAD;
	if (rest.n < n + 2)
		return RESP_MORE;
	if (rest.p[n] != '\r' || rest.p[n + 1] != '\n')
		return RESP_BAD;
	*out_text = slice_first(rest, n);
	*out_used += n + 2;
	return RESP_VALUE;
}

enum resp_answer
resp_read(struct slice bytes, struct slice *out_text, size_t *out_used)
{
	size_t end = slice_find(bytes, '\n');
	struct slice line;

	*out_text = SLICE("");
	if (end > LINE_BYTES_MAX)
		return RESP_BAD;
	if (end == bytes.n)
		return RESP_MORE;
	if (end < 2 || bytes.p[end - 1] != '\r')
		return RESP_BAD;
	line = (struct slice){ bytes.p + 1, end - 2 };
	*out_used = end + 1;
	switch (bytes.p[0]) {
	case '$':
		return resp_read_bulk(line, slice_from(bytes, end + 1),
		    out_text, out_used);
	case '+':
	case ':':
		*out_text = line;
		return RESP_VALUE;
	case '-':
		*out_text = line;
		return RESP_ERROR;
	default:
		return RESP_BAD;
	}
}
