/* reply.c - what a browser gets, with the fields that every reply has
 *
 * In     a status, a type, bytes
 * Out    a reply; nothing of it is kept, framed, or runs but our own files
 * Spec   CSP Level 3; RFC 9111 section 5.2.2.5; RFC 6265 section 4.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <event2/buffer.h>
#include <event2/http.h>

#include "base/json.h"
#include "web/page/layout.h"
#include "web/serve/reply.h"

#include "base/banned.h"

static const struct {
	const char	*name, *value;
} reply_fields[] = {
	{ "Content-Security-Policy", "default-src 'none'; style-src 'self'; "
	    "script-src 'self'; img-src 'self'; connect-src 'self'; "
	    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "X-DNS-Prefetch-Control", "off" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },
	{ "Vary", "Accept, Cookie" },
	{ "Connection", "close" },
};

static const char *
reply_reason(int status)
{
	static const struct {
		int		 status;
		const char	*words;
	} rows[] = {
		{ 200, "OK" }, { 303, "See Other" }, { 400, "Bad Request" },
		{ 403, "Forbidden" }, { 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 415, "Unsupported Media Type" },
		{ 421, "Misdirected Request" },
		{ 429, "Too Many Requests" }, { 503, "Service Unavailable" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].status == status)
			return rows[i].words;
	return "Internal Server Error";
}

static void
reply_add_fields(struct evhttp_request *http)
{
	for (size_t i = 0; i < sizeof(reply_fields) / sizeof(reply_fields[0]);
	    i++)
		(void)evhttp_add_header(evhttp_request_get_output_headers(
		    http), reply_fields[i].name, reply_fields[i].value);
}

void
reply_send(struct evhttp_request *http, int status, const char *type,
    struct slice text)
{
	struct evbuffer *body = evbuffer_new();

	reply_add_fields(http);
	(void)evhttp_add_header(evhttp_request_get_output_headers(http),
	    "Content-Type", type);
	if (body != NULL)
		(void)evbuffer_add(body, text.p, text.n);
	evhttp_send_reply(http, status, reply_reason(status), body);
	if (body != NULL)
		evbuffer_free(body);
}

void
reply_begin(struct evhttp_request *http, const char *type)
{
	reply_add_fields(http);
	(void)evhttp_add_header(evhttp_request_get_output_headers(http),
	    "Content-Type", type);
	evhttp_send_reply_start(http, 200, reply_reason(200));
}

void
reply_send_file(struct evhttp_request *http, const char *name,
    struct slice bytes)
{
	struct str how = STR_INIT;

	str_addf(&how, "attachment; filename=\"%s\"", name);
	(void)evhttp_add_header(evhttp_request_get_output_headers(http),
	    "Content-Disposition", how.buf);
	reply_send(http, 200, "application/octet-stream", bytes);
	str_release(&how);
}

void
reply_error(struct evhttp_request *http, int status, const char *words,
    bool wants_json, bool is_known)
{
	struct str out = STR_INIT;

	if (wants_json) {
		json_open_answer(&out);
		json_text(&out, "error", slice_of(words));
		json_close(&out);
	} else {
		layout_error(&out, status, words, is_known);
	}
	reply_send(http, status, wants_json ? "application/json" :
	    "text/html; charset=utf-8", str_slice(&out));
	str_release(&out);
}

void
reply_go(struct evhttp_request *http, const char *where, const char *cookie)
{
	struct evkeyvalq *fields = evhttp_request_get_output_headers(http);

	(void)evhttp_add_header(fields, "Location", where);
	if (cookie != NULL)
		(void)evhttp_add_header(fields, "Set-Cookie", cookie);
	reply_send(http, 303, "text/plain", SLICE(""));
}
