/* serve.c - the desk as a web server on loopback
 *
 * In     requests
 * Out    pages, files of ours, refusals
 * Holds  the listener, one session
 * Trusts nobody without the cookie, and no form without its token
 * Spec   serve.h, routes.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "web/pages/pages.h"
#include "web/serve/reply.h"
#include "web/serve/request.h"
#include "web/serve/serve.h"
#include "web/serve/slots.h"
#include "web/serve/visits.h"

#include "web/serve/files.inc"

#include "base/banned.h"

enum { READ_S = 10, BACKLOG = 128, NAME_BYTES = 32, COOKIE_BYTES = 160 };

struct serving {
	struct asker	*asker;
	struct web_session	 session;
	char		 host[NAME_BYTES];	/* "127.0.0.1:PORT" */
	char		 cookie[NAME_BYTES];	/* its name */
};

/* ---- addresses without a page ------------------------------------------- */

typedef void serve_fn(struct serving *serving,
    const struct web_request *request, struct slice rest);

/* The cookie is of this port: browsers send those of one host to all its
 * ports. */
static void
serve_open(struct serving *serving, const struct web_request *request,
    struct slice rest)
{
	char cookie[COOKIE_BYTES];

	if (evhttp_request_get_command(request->http) != EVHTTP_REQ_GET ||
	    !session_open(&serving->session, rest, clock_steady_ms())) {
		reply_error(request->http, 403, "This link was used, or is "
		    "too old: start zmailer web again for another one.",
		    request->wants_json, false);
		return;
	}
	snprintf(cookie, sizeof(cookie), "%s=%s; Path=/; HttpOnly; "
	    "SameSite=Strict", serving->cookie, serving->session.cookie);
	reply_go(request->http, "/", cookie);
	explicit_bzero(cookie, sizeof(cookie));
}

static void
serve_leave(struct serving *serving, const struct web_request *request,
    struct slice rest)
{
	struct arena *arena = arena_new();
	struct form form;
	bool is_ours = form_read_fields(request->body, arena, &form) == 0 &&
	    session_is_ours(&serving->session, form_get(&form, "csrf"));

	arena_free(&arena);
	if (is_ours)
		session_leave(&serving->session);
	reply_error(request->http, is_ours ? 200 : 403, is_ours ?
	    "The session is over." : "The form is not of this session.",
	    request->wants_json, !is_ours);
}

static void
serve_style(struct serving *serving, const struct web_request *request,
    struct slice rest)
{
	reply_send(request->http, 200, "text/css; charset=utf-8",
	    slice_of(file_style));
}

static void
serve_script(struct serving *serving, const struct web_request *request,
    struct slice rest)
{
	reply_send(request->http, 200, "text/javascript; charset=utf-8",
	    slice_of(file_script));
}

/* ---- routes ------------------------------------------------------------- */

enum role { ANYBODY, KNOWN };

static const struct route {
	const char	*method, *path;
	enum role	 role;
	const struct page_row *page;
	serve_fn	*answer;
} routes[] = {
#define ROUTE(method, path, role, page, answer) \
	{ method, path, role, page, answer },
#include "web/serve/routes.h"
#undef ROUTE
};

static bool
route_fits(const struct route *route, struct slice path,
    struct slice *out_rest)
{
	size_t n = strlen(route->path);

	*out_rest = slice_from(path, n);
	if (n > 1 && route->path[n - 1] == '/')
		return slice_starts(path, route->path) && out_rest->n > 0;
	return slice_is(path, route->path);
}

/* NULL: none; with *out_status 404, or 405 where another method fits. */
static const struct route *
serve_route_find(const struct web_request *request, struct slice *out_rest,
    int *out_status)
{
	*out_status = 404;
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (!route_fits(&routes[i], request->path, out_rest))
			continue;
		if (request->method != NULL &&
		    strcmp(request->method, routes[i].method) == 0)
			return &routes[i];
		*out_status = 405;
	}
	return NULL;
}

static void
serve_route(struct serving *serving, const struct web_request *request)
{
	bool is_known = session_is_known(&serving->session, serving->cookie,
	    request->cookies, clock_steady_ms());
	const struct route *route;
	struct slice rest;
	int status;

	route = serve_route_find(request, &rest, &status);
	if (!is_known && (route == NULL || route->role == KNOWN))
		reply_error(request->http, 403, "Nobody is known here by "
		    "this browser: zmailer web prints a link.",
		    request->wants_json, false);
	else if (route == NULL)
		reply_error(request->http, status, status == 405 ?
		    "This address does not take that method." :
		    "There is no such page.", request->wants_json, is_known);
	else if (route->page != NULL)
		visit_make(serving->asker, &serving->session, request,
		    route->page, rest);
	else
		route->answer(serving, request, rest);
}

static void
serve_on_request(struct evhttp_request *http, void *context)
{
	struct serving *serving = context;
	struct web_request request;
	const char *words;
	int status;

	slots_set_whole(evhttp_connection_get_bufferevent(
	    evhttp_request_get_connection(http)));
	status = request_read(http, serving->host, &request, &words);
	if (status != 0)
		reply_error(http, status, words, request.wants_json, false);
	else
		serve_route(serving, &request);
}

/* ---- the listener ------------------------------------------------------- */

static struct evconnlistener *
serve_listen(struct event_base *base, unsigned *port, struct err *err)
{
	struct sockaddr_in where = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)*port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(where);
	struct evconnlistener *listener = evconnlistener_new_bind(base, NULL,
	    NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC |
	    LEV_OPT_REUSEABLE, BACKLOG, (struct sockaddr *)&where,
	    sizeof(where));

	if (listener == NULL || getsockname(evconnlistener_get_fd(listener),
	    (struct sockaddr *)&where, &size) < 0) {
		(void)err_sys(err, "127.0.0.1 port %u", *port);
		return NULL;
	}
	*port = ntohs(where.sin_port);
	return listener;
}

static void
serve_on_signal(evutil_socket_t fd, short what, void *context)
{
	(void)event_base_loopbreak(context);
}

static void
serve_until_signal(struct event_base *base)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct event *event = evsignal_new(base, signals[i],
		    serve_on_signal, base);

		if (event == NULL || event_add(event, NULL) < 0)
			panic("no signals");
	}
	(void)event_base_dispatch(base);
}

static void
serve_limit(struct evhttp *http)
{
	evhttp_set_max_headers_size(http, REQUEST_HEADER_BYTES_MAX);
	evhttp_set_max_body_size(http, REQUEST_BODY_BYTES_MAX);
	evhttp_set_timeout(http, READ_S);
	evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_POST |
	    EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
	    EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH);
}

static void
serve_say(const struct serving *serving)
{
	printf("http://%s/open/%s\n", serving->host, serving->session.link);
	fprintf(stderr, "The link lets one browser in, once, within %d "
	    "minutes.  Ctrl-C ends the desk.\n", SESSION_LINK_MS / 60000);
	fflush(stdout);
}

int
web_serve(struct asker *asker, unsigned port, struct err *err)
{
	struct serving serving = { .asker = asker };
	struct event_base *base = event_base_new();
	struct evhttp *http = base == NULL ? NULL : evhttp_new(base);
	struct evconnlistener *listener;

	if (http == NULL)
		return err_set(err, "no memory for a server");
	listener = serve_listen(base, &port, err);
	if (listener == NULL) {
		evhttp_free(http);
		event_base_free(base);
		return -1;
	}
	snprintf(serving.host, sizeof(serving.host), "127.0.0.1:%u", port);
	snprintf(serving.cookie, sizeof(serving.cookie), "zmailer-%u", port);
	session_init(&serving.session, clock_steady_ms());
	asker->base = base;
	ask_open(base);
	slots_open(base, http, listener);
	serve_limit(http);
	evhttp_set_gencb(http, serve_on_request, &serving);
	if (evhttp_bind_listener(http, listener) == NULL)
		return err_set(err, "no memory for a listener");
	serve_say(&serving);
	serve_until_signal(base);
	session_release(&serving.session);
	return 0;
}
