/* http.h - a URL, and a reply, as a client of HTTP/1.1 reads them
 *
 * Small on purpose: one POST goes out and one reply comes back, so this reads
 * of RFC 9112 only the head (section 2.1), the length of a body (section 6.3)
 * and chunks (section 7.1).  Pure: bytes in, structs out; every bound has a
 * name.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_HTTP_H
#define ZM_GRAMMAR_HTTP_H

#include "base/err.h"
#include "base/str.h"

enum {
	HTTP_URL_BYTES_MAX = 1024,
	HTTP_HOST_BYTES = 256,
	HTTP_HEAD_BYTES_MAX = 32 * 1024,	/* status line and fields */
	HTTP_FIELDS_MAX = 200,
	HTTP_CHUNK_LINE_BYTES_MAX = 256,	/* a length, or a trailer */
	HTTP_WAIT_S_MAX = 86400			/* of a Retry-After */
};

struct http_url {
	bool		is_tls;			/* https */
	bool		is_six;			/* host is an IPv6 address */
	char		host[HTTP_HOST_BYTES];	/* lower case, no brackets */
	unsigned	port;
	struct slice	target;		/* "/path?query"; "" is "/" */
};

/* Parse "http://host[:port][/path][?query]", or the same with https.  A user
 * (passwords are configured elsewhere), a fragment, and bytes that are not
 * visible ASCII are refused.
 * out    target borrows from text
 * returns 0 or -1 (err). RFC 3986 section 3; RFC 9110 section 4.2 */
int http_url_parse(struct slice text, struct http_url *out, struct err *err);

struct http_head {
	unsigned	code;			/* 100 to 599 */
	unsigned	minor;			/* HTTP/1.minor */
	struct slice	reason;			/* may be empty */
	bool		is_closing;		/* no request may follow */
	bool		is_chunked;
	bool		has_length;
	uint64_t	length;			/* of the body */
	struct slice	retry_after;		/* as it came */
	struct slice	type;			/* Content-Type as it came */
	size_t		bytes;		/* of the head and its blank line */
};

enum http_progress {
	HTTP_BAD = -1,
	HTTP_MORE = 0,
	HTTP_DONE = 1
};

/* Read the head of a reply.
 * out      slices into in
 * returns HTTP_MORE while its end is missing, HTTP_BAD when it is malformed
 *         (err).  RFC 9112 sections 2 to 6 */
enum http_progress http_head_parse(struct slice in, struct http_head *out,
    struct err *err);

/* The body after a head; it may come in pieces of any size. */
struct http_body {
	enum http_body_step {
		HTTP_BODY_PLAIN, HTTP_BODY_TO_END, HTTP_CHUNK_LENGTH,
		HTTP_CHUNK_DATA, HTTP_CHUNK_END, HTTP_CHUNK_TRAILER,
		HTTP_BODY_OVER
	}		step;
	uint64_t	left;		/* bytes of the body or the chunk */
	size_t		fields;		/* trailers seen */
};

/* Begin the body that follows this head.  RFC 9112 section 6.3 */
void http_body_begin(struct http_body *body, const struct http_head *head);

/* Take bytes of the body.
 * out_used   how many bytes of in were taken; pass the rest again
 * text       the body's bytes are appended until it has text_max bytes; the
 *            rest is dropped
 * returns HTTP_DONE at the end of the body, HTTP_MORE before; HTTP_BAD when it
 *         is malformed (err) */
enum http_progress http_body_take(struct http_body *body, struct slice in,
    size_t *out_used,
    struct str *text, size_t text_max, struct err *err);

/* How many seconds a Retry-After, a number or a date, asks us to wait at now_s
 * (wall; RFC 9110 sections 5.6.7 and 10.2.3).  At most HTTP_WAIT_S_MAX; 0: it
 * cannot be read. */
int64_t http_retry_after(struct slice value, int64_t now_s);

#endif
