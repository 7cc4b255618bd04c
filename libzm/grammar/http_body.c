/* http_body.c - where the body of a reply ends, and what it says
 *
 * In     bytes after a head, cut anywhere
 * Out    the first of what they say; how far the body goes
 * Holds  the step and what is left of a chunk
 * Trusts nothing: a line between chunks is short, trailers are counted
 * Spec   RFC 9112 sections 6.3 and 7.1
 *
 *   chunked  = *chunk 1*"0" [ ext ] CRLF *( trailer CRLF ) CRLF
 *   chunk    = 1*HEXDIG [ ext ] CRLF *octet CRLF    ; as many as it says
 *   ext      = ( ";" / WSP ) *octet                 ; says nothing to us
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/http.h"

#include "base/banned.h"

void
http_body_begin(struct http_body *body, const struct http_head *head)
{
	memset(body, 0, sizeof(*body));
	if (head->code < 200 || head->code == 204 || head->code == 304)
		body->step = HTTP_BODY_OVER;
	else if (head->is_chunked)
		body->step = HTTP_CHUNK_LENGTH;
	else if (!head->has_length)
		body->step = HTTP_BODY_TO_END;
	else if (head->length == 0)
		body->step = HTTP_BODY_OVER;
	body->left = head->length;
}

static void
body_text_take(struct str *text, struct slice bytes, size_t text_max)
{
	size_t room = text->len < text_max ? text_max - text->len : 0;

	str_add_slice(text, slice_first(bytes, room));
}

/* chunk-size [ chunk-ext ]; extensions say nothing to us. */
static int
chunk_length(struct slice line, uint64_t *out, struct err *err)
{
	size_t n = 0;

	*out = 0;
	while (n < line.n && ascii_hex(line.p[n]) >= 0) {
		if (*out >> 56 != 0)
			return err_set(err, "a chunk is too long");
		*out = *out << 4 | (uint64_t)ascii_hex(line.p[n++]);
	}
	if (n == 0 || (n < line.n && line.p[n] != ';' && line.p[n] != ' ' &&
	    line.p[n] != '\t'))
		return err_set(err, "a chunk has no length");
	return 1;
}

static int
chunk_line_take(struct http_body *body, struct slice line, struct err *err)
{
	if (body->step == HTTP_CHUNK_LENGTH) {
		if (chunk_length(line, &body->left, err) < 0)
			return -1;
		body->step = body->left > 0 ? HTTP_CHUNK_DATA :
		    HTTP_CHUNK_TRAILER;
	} else if (body->step == HTTP_CHUNK_END) {
		if (line.n > 0)
			return err_set(err, "a chunk is longer than it said");
		body->step = HTTP_CHUNK_LENGTH;
	} else if (line.n == 0) {
		body->step = HTTP_BODY_OVER;
	} else if (++body->fields > HTTP_FIELDS_MAX) {
		return err_set(err, "too many trailers");
	}
	return 1;
}

/* A whole line of in after *used: 1 taken, 0 need more, -1. */
static int
line_step(struct http_body *body, struct slice in, size_t *used,
    struct err *err)
{
	struct slice line = slice_from(in, *used);
	size_t n = slice_find(line, '\n');

	if (n == line.n || n > HTTP_CHUNK_LINE_BYTES_MAX)
		return line.n > HTTP_CHUNK_LINE_BYTES_MAX ?
		    err_set(err, "a line between chunks is too long") : 0;
	*used += n + 1;
	line.n = n > 0 && line.p[n - 1] == '\r' ? n - 1 : n;
	return chunk_line_take(body, line, err);
}

static void
data_step(struct http_body *body, struct slice in, size_t *used,
    struct str *text, size_t text_max)
{
	struct slice bytes = slice_from(in, *used);

	if (body->step != HTTP_BODY_TO_END && bytes.n > body->left)
		bytes.n = (size_t)body->left;
	body_text_take(text, bytes, text_max);
	*used += bytes.n;
	if (body->step == HTTP_BODY_TO_END)
		return;
	body->left -= bytes.n;
	if (body->left == 0)
		body->step = body->step == HTTP_CHUNK_DATA ? HTTP_CHUNK_END :
		    HTTP_BODY_OVER;
}

enum http_progress
http_body_take(struct http_body *body, struct slice in, size_t *out_used,
    struct str *text, size_t text_max, struct err *err)
{
	*out_used = 0;
	while (body->step != HTTP_BODY_OVER) {
		bool is_data = body->step == HTTP_BODY_PLAIN ||
		    body->step == HTTP_BODY_TO_END ||
		    body->step == HTTP_CHUNK_DATA;
		int got = 1;

		if (*out_used == in.n)
			return HTTP_MORE;
		if (is_data)
			data_step(body, in, out_used, text, text_max);
		else
			got = line_step(body, in, out_used, err);
		if (got <= 0)
			return got;
	}
	return HTTP_DONE;
}
