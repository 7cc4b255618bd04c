/* resp.c - what Redis is asked, and what it answers
 *
 * In     bytes of a server
 * Out    the first answer; what an array holds is read by the same call
 * Holds  nothing
 * Trusts nothing: the length is bounded before anything is waited for
 * Spec   resp.h; the Redis serialization protocol, version 2
 *
 *	answer  = "*" count CRLF count*answer / "*-1" CRLF /
 *	          "+" text CRLF / "-" text CRLF / ":" number CRLF /
 *	          "$-1" CRLF / "$" length CRLF length*OCTET CRLF
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/resp.h"

#include "base/banned.h"

enum { LINE_BYTES_MAX = 1024, ITEMS_MAX = 1024, DEPTH_MAX = 4 };

void
resp_add_head(struct str *out, size_t count)
{
	str_addf(out, "*%zu\r\n", count);
}

void
resp_add_word(struct str *out, struct slice word)
{
	str_addf(out, "$%zu\r\n", word.n);
	str_add_slice(out, word);
	str_adds(out, "\r\n");
}

void
resp_add_command(struct str *out, const struct slice *words, size_t count)
{
	resp_add_head(out, count);
	for (size_t i = 0; i < count; i++)
		resp_add_word(out, words[i]);
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

static enum resp_answer
resp_read_at(struct slice bytes, unsigned depth, struct slice *out_text,
    size_t *out_used);

/* Its items, one after the other. */
static enum resp_answer
resp_read_array(struct slice line, struct slice rest, unsigned depth,
    struct slice *out_text, size_t *out_used)
{
	enum resp_answer answer;
	struct slice text;
	size_t used = 0, item;
	uint64_t count;

	if (slice_is(line, "-1"))
		return RESP_NIL;
	if (depth >= DEPTH_MAX || !slice_number(line, 0, ITEMS_MAX, &count))
		return RESP_BAD;
	for (; count > 0; count--) {
		answer = resp_read_at(slice_from(rest, used), depth + 1, &text,
		    &item);
		if (answer != RESP_BAD && used + (answer == RESP_MORE ?
		    rest.n - used : item) > RESP_BYTES_MAX)
			answer = RESP_BAD;
		if (answer == RESP_BAD || answer == RESP_MORE)
			return answer;
		used += item;
	}
	*out_text = slice_first(rest, used);
	*out_used += used;
	return RESP_ARRAY;
}

static enum resp_answer
resp_read_at(struct slice bytes, unsigned depth, struct slice *out_text,
    size_t *out_used)
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
	case '*':
		return resp_read_array(line, slice_from(bytes, end + 1),
		    depth, out_text, out_used);
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

enum resp_answer
resp_read(struct slice bytes, struct slice *out_text, size_t *out_used)
{
	return resp_read_at(bytes, 0, out_text, out_used);
}
