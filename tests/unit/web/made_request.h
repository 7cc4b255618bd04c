/* made_request.h - bytes as the request that libevent would have read
 *
 * "METHOD ADDRESS\n", a field a line, an empty line, the body.  What libevent
 * itself refuses (a broken first line, fields beyond its limit) is not made.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_MADE_REQUEST_H
#define ZM_TESTS_MADE_REQUEST_H

#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static inline enum evhttp_cmd_type
made_method(struct slice word)
{
	static const struct {
		const char	*word;
		enum evhttp_cmd_type type;
	} rows[] = {
		{ "GET", EVHTTP_REQ_GET }, { "HEAD", EVHTTP_REQ_HEAD },
		{ "POST", EVHTTP_REQ_POST }, { "PUT", EVHTTP_REQ_PUT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(word, rows[i].word))
			return rows[i].type;
	return EVHTTP_REQ_DELETE;
}

static inline char *
made_text(struct slice bytes)
{
	char *text = malloc(bytes.n + 1);

	if (text == NULL)
		abort();
	if (bytes.n > 0)
		memcpy(text, bytes.p, bytes.n);
	text[bytes.n] = '\0';
	return text;
}

static inline void
made_field(struct evhttp_request *http, struct slice line)
{
	size_t colon = slice_find(line, ':');
	char *name = made_text(slice_first(line, colon));
	char *value = made_text(slice_trim(slice_from(line, colon + 1)));

	(void)evhttp_add_header(evhttp_request_get_input_headers(http), name,
	    value);
	free(name);
	free(value);
}

/* Free it with evhttp_request_free. */
static inline struct evhttp_request *
made_request(struct slice bytes)
{
	struct evhttp_request *http = evhttp_request_new(NULL, NULL);
	struct slice line = SLICE("");

	if (http == NULL)
		abort();
	(void)slice_cut(&bytes, '\n', &line);
	http->type = made_method(slice_first(line, slice_find(line, ' ')));
	http->uri = made_text(slice_from(line, slice_find(line, ' ') + 1));
	while (slice_cut(&bytes, '\n', &line) && line.n > 0)
		made_field(http, line);
	if (bytes.n > 0)
		(void)evbuffer_add(evhttp_request_get_input_buffer(http),
		    bytes.p, bytes.n);
	return http;
}

#endif
