/* request.c - what a browser wants, looked at before anything is done
 *
 * In     a request as libevent read it
 * Out    method, path, query, body; or a status to refuse it with
 * Trusts nothing: a field that decides stands there once, and as we write it
 * Spec   RFC 9110 sections 7.2, 12.5.1; RFC 9112 sections 3.2, 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "web/serve/request.h"

#include "base/banned.h"

enum { HOST_BYTES = 96 };

/* How often a field is there; *out_value is the last one's. */
static unsigned
request_count(struct evhttp_request *http, const char *name,
    const char **out_value)
{
	struct evkeyval *field;
	unsigned count = 0;

	*out_value = NULL;
	TAILQ_FOREACH(field, evhttp_request_get_input_headers(http), next)
		if (strcasecmp(field->key, name) == 0) {
			*out_value = field->value;
			count++;
		}
	return count;
}

/* A body has one length, and no other way to end: what a proxy and we could
 * read differently is not read at all. */
static int
request_check_length(struct evhttp_request *http, const char **out_words)
{
	const char *value;
	unsigned lengths;
	uint64_t length;

	*out_words = "The length of the request can be read in two ways.";
	if (request_count(http, "Transfer-Encoding", &value) > 0)
		return 400;
	lengths = request_count(http, "Content-Length", &value);
	if (lengths > 1 || (lengths == 1 && !slice_number(slice_of(value), 0,
	    REQUEST_BODY_BYTES_MAX, &length)))
		return 400;
	return 0;
}

static bool
request_is_host(const char *value)
{
	size_t n = strlen(value);

	for (size_t i = 0; i < n; i++)
		if (!ascii_is_alnum(value[i]) &&
		    !ascii_is_among(value[i], ".-:[]"))
			return false;
	return n > 0 && n < HOST_BYTES;
}

/* Another name that leads here (DNS rebinding) is not ours. */
static int
request_check_host(struct evhttp_request *http, const char *host,
    const char **out_words)
{
	const char *value;

	*out_words = "This is not the host that was asked for.";
	if (request_count(http, "Host", &value) != 1)
		return 421;
	if (host == NULL)
		return request_is_host(value) ? 0 : 421;
	return strcasecmp(value, host) == 0 ? 0 : 421;
}

/* A form of another site comes with its Origin ("null" is also what a page
 * that names no referrer has) or is called cross-site. */
static int
request_check_origin(struct evhttp_request *http, const char *host,
    const char **out_words)
{
	char ours[HOST_BYTES + sizeof("https://")];
	const char *value;
	unsigned count;

	*out_words = "The request comes from another site.";
	if (host != NULL)
		snprintf(ours, sizeof(ours), "http://%s", host);
	else if (request_count(http, "Host", &value) == 1)
		snprintf(ours, sizeof(ours), "https://%s", value);
	else
		return 421;
	count = request_count(http, "Origin", &value);
	if (count > 1 || (count == 1 && strcmp(value, "null") != 0 &&
	    strcasecmp(value, ours) != 0))
		return 403;
	count = request_count(http, "Sec-Fetch-Site", &value);
	if (count > 1 || (count == 1 && strcmp(value, "same-origin") != 0 &&
	    strcmp(value, "none") != 0))
		return 403;
	return 0;
}

static int
request_check_form(struct evhttp_request *http, const char **out_words)
{
	static const char type[] = "application/x-www-form-urlencoded";
	const char *value;

	*out_words = "The request has no form.";
	if (request_count(http, "Content-Type", &value) != 1 ||
	    strncasecmp(value, type, sizeof(type) - 1) != 0 ||
	    (value[sizeof(type) - 1] != '\0' &&
	    !ascii_is_among(value[sizeof(type) - 1], " \t;")))
		return 415;
	return 0;
}

static const char *
request_method(struct evhttp_request *http)
{
	switch (evhttp_request_get_command(http)) {
	case EVHTTP_REQ_GET:
	case EVHTTP_REQ_HEAD:
		return "GET";
	case EVHTTP_REQ_POST:
		return "POST";
	default:
		return NULL;
	}
}

int
request_read(struct evhttp_request *http, const char *host,
    struct web_request *out, const char **out_words)
{
	struct evbuffer *body = evhttp_request_get_input_buffer(http);
	struct slice uri = slice_of(evhttp_request_get_uri(http));
	const char *value;
	unsigned cookies;
	int status;

	*out = (struct web_request){ .http = http,
	    .method = request_method(http) };
	if ((status = request_check_length(http, out_words)) != 0 ||
	    (status = request_check_host(http, host, out_words)) != 0)
		return status;
	*out_words = "The address or the cookie is not one of ours.";
	if (uri.n == 0 || uri.p[0] != '/')
		return 400;
	out->path = slice_first(uri, slice_find(uri, '?'));
	out->query = slice_from(uri, out->path.n + 1);
	out->body.n = evbuffer_get_length(body);
	out->body.p = out->body.n > 0 ? (char *)evbuffer_pullup(body, -1) :
	    "";
	cookies = request_count(http, "Cookie", &value);
	if (cookies > 1)
		return 400;
	if (cookies == 1)
		out->cookies = slice_of(value);
	if (request_count(http, "Accept", &value) > 0)
		out->wants_json = strncasecmp(value, "application/json",
		    16) == 0;
	if (out->method == NULL || strcmp(out->method, "POST") != 0)
		return 0;
	if ((status = request_check_origin(http, host, out_words)) != 0)
		return status;
	return request_check_form(http, out_words);
}
