/* serve.c - the desk as a web server
 *
 * In     requests
 * Out    pages, files of ours, refusals
 * Holds  the listener, the sessions
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
#include <event2/util.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tls/login/https.h"
#include "web/pages/pages.h"
#include "web/send/inflow.h"
#include "web/send/send.h"
#include "web/serve/live.h"
#include "web/serve/reply.h"
#include "web/serve/request.h"
#include "web/serve/serve.h"
#include "web/serve/serving.h"
#include "web/serve/slots.h"
#include "web/serve/visits.h"

#include "web/serve/files.inc"

#include "base/banned.h"

enum { READ_S = 10, BACKLOG = 128 };

void
serving_cookie(const struct serving *serving, const struct web_session *session,
    char out[SERVING_COOKIE_BYTES])
{
	snprintf(out, SERVING_COOKIE_BYTES, "%s=%s; Path=/; %sHttpOnly; "
	    "SameSite=Strict", serving->cookie, session->cookie,
	    serving->is_network ? "Secure; " : "");
}

/* ---- addresses without a page ------------------------------------------- */

/* The cookie is of this port: browsers send those of one host to all its
 * ports. */
static void
serve_open(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	char cookie[SERVING_COOKIE_BYTES];

	if (serving->is_network ||
	    evhttp_request_get_command(request->http) != EVHTTP_REQ_GET ||
	    !session_open(&serving->all[0], rest, clock_steady_ms())) {
		reply_error(request->http, 403, "This link was used, or is "
		    "too old: start zmailer web again for another one.",
		    request->wants_json, false);
		return;
	}
	serving_cookie(serving, &serving->all[0], cookie);
	reply_go(request->http, "/", cookie);
	explicit_bzero(cookie, sizeof(cookie));
}

static void
serve_leave(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	struct arena *arena = arena_new();
	struct form form;
	bool is_ours = form_read_fields(request->body, arena, &form) == 0 &&
	    session_is_ours(session, form_get(&form, "csrf"));

	arena_free(&arena);
	if (is_ours)
		session_leave(session);
	reply_error(request->http, is_ours ? 200 : 403, is_ours ?
	    "The session is over." : "The form is not of this session.",
	    request->wants_json, !is_ours);
}

static void
serve_style(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	reply_send(request->http, 200, "text/css; charset=utf-8",
	    slice_of(file_style));
}

static void
serve_script(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	reply_send(request->http, 200, "text/javascript; charset=utf-8",
	    slice_of(file_script));
}

/* ---- routes ------------------------------------------------------------- */

static const struct route {
	const char	*method, *path;
	enum role	 role;
	const struct page_row *page;
	serve_fn	*answer;
} routes[] = {
#define ROUTE(method, path, role, page, answer) \
	{ method, path, ROLE_##role, page, answer },
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

/* Who is not known is shown the door, or how to come in. */
static void
serve_turn_away(const struct serving *serving,
    const struct web_request *request)
{
	bool is_page = request->method != NULL && !request->wants_json &&
	    strcmp(request->method, "GET") == 0;

	if (serving->is_network && is_page)
		reply_go(request->http, "/login", NULL);
	else
		reply_error(request->http, 403, serving->is_network ?
		    "Nobody is known here by this browser: log in at /login." :
		    "Nobody is known here by this browser: zmailer web prints "
		    "a link.", request->wants_json, false);
}

/* Orders are for who has the role, and gave his password of late.  True: the
 * browser has its answer. */
static bool
serve_refuse_role(const struct route *route, const struct web_request *request,
    const struct web_session *session)
{
	if (session == NULL || route->role <= ROLE_LOOK)
		return false;
	if (session->role < route->role)
		reply_error(request->http, 403, "Your role may look at this, "
		    "not order it.", request->wants_json, true);
	else if (!session_may_act(session, clock_steady_ms()))
		login_want_again(request, session);
	else
		return false;
	return true;
}

static void
serve_route(struct serving *serving, const struct web_request *request)
{
	struct web_session *session = session_whose(serving->all,
	    serving->cookie, request->cookies, clock_steady_ms());
	const struct route *route;
	struct slice rest;
	int status;

	if (!login_is_current(serving, session))
		session = NULL;
	route = serve_route_find(request, &rest, &status);
	if (session == NULL && (route == NULL || route->role != ROLE_NONE))
		serve_turn_away(serving, request);
	else if (route == NULL)
		reply_error(request->http, status, status == 405 ?
		    "This address does not take that method." :
		    "There is no such page.", request->wants_json,
		    session != NULL);
	else if (serve_refuse_role(route, request, session))
		return;
	else if (route->page != NULL)
		visit_make(serving->asker, session, request, route->page,
		    rest);
	else
		route->answer(serving, session, request, rest);
}

static void
serve_on_request(struct evhttp_request *http, void *context)
{
	struct serving *serving = context;
	struct web_request request;
	struct slice uri = slice_of(evhttp_request_get_uri(http));
	struct bufferevent *bev = evhttp_connection_get_bufferevent(
	    evhttp_request_get_connection(http));
	const char *words;
	int status;

	slots_set_whole(bev);
	if (send_is_path(slice_first(uri, slice_find(uri, '?')))) {
		slots_set_live(bev);	/* its own deadlines end it */
		send_take(http, uri);
		return;
	}
	status = request_read(http, serving->is_network ? NULL : serving->host,
	    &request, &words);
	if (status != 0)
		reply_error(http, status, words, request.wants_json, false);
	else
		serve_route(serving, &request);
}

/* ---- the listener ------------------------------------------------------- */

/* On loopback, or where a door leads.  *port becomes the one it has. */
static struct evconnlistener *
serve_listen(struct event_base *base, const struct web_door *door,
    unsigned *port, struct err *err)
{
	struct sockaddr_in loopback = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)*port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage where = { 0 };
	int size = sizeof(where);
	socklen_t there = sizeof(loopback);
	struct evconnlistener *listener;

	if (door == NULL) {
		memcpy(&where, &loopback, sizeof(loopback));
		size = sizeof(loopback);
	} else if (evutil_parse_sockaddr_port(door->address,
	    (struct sockaddr *)&where, &size) < 0) {
		(void)err_set(err, "%s: an address and a port are wanted, "
		    "like 192.0.2.1:8443 or [2001:db8::1]:8443",
		    door->address);
		return NULL;
	}
	listener = evconnlistener_new_bind(base, NULL, NULL,
	    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC |
	    LEV_OPT_REUSEABLE, BACKLOG, (struct sockaddr *)&where, size);
	if (listener == NULL || (door == NULL &&
	    getsockname(evconnlistener_get_fd(listener),
	    (struct sockaddr *)&loopback, &there) < 0)) {
		(void)err_sys(err, "%s port %u", door != NULL ?
		    door->address : "127.0.0.1", *port);
		return NULL;
	}
	*port = ntohs(loopback.sin_port);
	return listener;
}

static void
serve_on_signal(evutil_socket_t fd, short what, void *context)
{
	(void)event_base_loopbreak(context);
}

/* A certificate was renewed.  One that is no good leaves the one before. */
static void
serve_on_hangup(evutil_socket_t fd, short what, void *context)
{
	const struct web_door *door = context;
	struct err err;
	struct ssl_ctx_st *tls = https_context(door->certificate, door->key,
	    &err);

	if (tls != NULL)
		slots_set_tls(tls);
	else
		fprintf(stderr, "zmailer web: the certificate stays as it "
		    "was: %s\n", err.text);
}

/* Without a door a terminal that is closed ends the desk. */
static void
serve_until_signal(struct event_base *base, struct web_door *door)
{
	const struct {
		int number;
		event_callback_fn callback_fn;
		void *context;
	} signals[] = {
		{ SIGINT, serve_on_signal, base },
		{ SIGTERM, serve_on_signal, base },
		{ SIGHUP, door != NULL ? serve_on_hangup : serve_on_signal,
		    door != NULL ? (void *)door : base },
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct event *event = evsignal_new(base, signals[i].number,
		    signals[i].callback_fn, signals[i].context);

		if (event == NULL || event_add(event, NULL) < 0)
			panic("no signals");
	}
	(void)event_base_dispatch(base);
}

static void
serve_limit(struct evhttp *http)
{
	evhttp_set_max_headers_size(http, REQUEST_HEADER_BYTES_MAX);
	evhttp_set_max_body_size(http, inflow_is_allowed() ?
	    INFLOW_BODY_BYTES_MAX : REQUEST_BODY_BYTES_MAX);
	evhttp_set_timeout(http, READ_S);
	evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_POST |
	    EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE |
	    EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PATCH);
}

static void
serve_say(const struct serving *serving)
{
	if (serving->is_network) {
		printf("https://%s/login\n", serving->host);
		fputs("Users of `auth users` who have a role log in there.  "
		    "Ctrl-C ends the desk.\n", stderr);
	} else {
		printf("http://%s/open/%s\n", serving->host,
		    serving->all[0].link);
		fprintf(stderr, "The link lets one browser in, once, within "
		    "%d minutes.  Ctrl-C ends the desk.\n",
		    SESSION_LINK_MS / 60000);
	}
	fflush(stdout);
}

/* Who comes in, and by which name the cookie goes. */
static void
serve_prepare(struct serving *serving, const struct web_door *door,
    unsigned port)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		session_init(&serving->all[i], clock_steady_ms());
	if (door == NULL) {
		snprintf(serving->host, sizeof(serving->host), "127.0.0.1:%u",
		    port);
		snprintf(serving->cookie, sizeof(serving->cookie),
		    "zmailer-%u", port);
		return;
	}
	serving->is_network = true;
	strlcpy(serving->host, door->address, sizeof(serving->host));
	strlcpy(serving->cookie, "__Host-zmailer", sizeof(serving->cookie));
	attempts_init(&serving->attempts);
	people_open(&serving->people, door->users, door->roles,
	    serving->asker->run_dir);
}

int
web_serve(struct asker *asker, unsigned port, struct web_door *door,
    struct err *err)
{
	static struct serving serving;
	struct event_base *base = event_base_new();
	struct evhttp *http = base == NULL ? NULL : evhttp_new(base);
	struct evconnlistener *listener = NULL;
	struct ssl_ctx_st *tls = NULL;

	if (http == NULL)
		return err_set(err, "no memory for a server");
	if (door != NULL)
		tls = https_context(door->certificate, door->key, err);
	if (door == NULL || tls != NULL)
		listener = serve_listen(base, door, &port, err);
	if (listener == NULL) {
		https_release(tls);
		evhttp_free(http);
		event_base_free(base);
		return -1;
	}
	serving = (struct serving){ .asker = asker };
	serve_prepare(&serving, door, port);
	asker->base = base;
	ask_open(base);
	send_start();
	slots_open(base, http, listener, tls);
	serve_limit(http);
	evhttp_set_gencb(http, serve_on_request, &serving);
	if (evhttp_bind_listener(http, listener) == NULL)
		return err_set(err, "no memory for a listener");
	serve_say(&serving);
	serve_until_signal(base, door);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		session_release(&serving.all[i]);
	if (serving.is_network)
		people_close(&serving.people);
	return 0;
}
