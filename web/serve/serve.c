/* serve.c - the desk as a web server
 *
 * In     requests
 * Out    pages, files of ours, refusals
 * Holds  the listener, copies of the sessions
 * Trusts nobody without the cookie, and no form without its token; itself with
 *        nothing: what it may do is what the other process does for it
 * Spec   serve.h, routes.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/sandbox.h"
#include "daemon/skeleton.h"
#include "tls/login/https.h"
#include "web/page/charset.h"
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

enum { HELP = true, ALONE = false };

static const struct route {
	const char	*method, *path;
	enum role	 role;
	bool		 may_help;
	const struct page_row *page;
	serve_fn	*answer;
} routes[] = {
#define ROUTE(method, path, role, help, page, answer) \
	{ method, path, ROLE_##role, help, page, answer },
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

/* Who helps begins at the queue: the overview is of all mail. */
static void
serve_refuse_page(const struct route *route,
    const struct web_request *request, const struct web_session *session)
{
	if (session->role == ROLE_HELP && route->page == &page_overview &&
	    !request->wants_json)
		reply_go(request->http, "/queue", NULL);
	else
		reply_error(request->http, 403, route->role <= ROLE_LOOK ||
		    session->role == ROLE_HELP ? "Your role is for the mail "
		    "of some domains alone." : "Your role may look at this, "
		    "not order it.", request->wants_json,
		    session->role != ROLE_HELP);
}

/* Orders are for who has the role, and gave his password of late.  True: the
 * browser has its answer. */
static bool
serve_refuse_role(const struct route *route, const struct web_request *request,
    const struct web_session *session)
{
	if (session == NULL || route->role == ROLE_NONE)
		return false;
	if (!role_may(session->role, route->role, route->may_help))
		serve_refuse_page(route, request, session);
	else if (route->role <= ROLE_LOOK)
		return false;
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
		visit_make(session, request, route->page, rest);
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
	else if (!ask_is_up())
		reply_error(http, 503, ask_down_words, request.wants_json,
		    false);
	else
		serve_route(serving, &request);
}

/* ---- the listener ------------------------------------------------------- */

/* On loopback, or where a door leads; *port becomes the one it has.  -1 with
 * err. */
static int
serve_listen(const struct web_door *door, unsigned *port, struct err *err)
{
	struct sockaddr_in loopback = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)*port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_storage where = { 0 };
	int size = sizeof(where), fd, yes = 1;
	socklen_t there = sizeof(loopback);

	if (door == NULL) {
		memcpy(&where, &loopback, sizeof(loopback));
		size = sizeof(loopback);
	} else if (evutil_parse_sockaddr_port(door->address,
	    (struct sockaddr *)&where, &size) < 0) {
		return err_set(err, "%s: an address and a port are wanted, "
		    "like 192.0.2.1:8443 or [2001:db8::1]:8443",
		    door->address);
	}
	fd = socket(where.ss_family, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes,
	    sizeof(yes)) < 0 ||
	    bind(fd, (struct sockaddr *)&where, (socklen_t)size) < 0 ||
	    listen(fd, BACKLOG) < 0 || (door == NULL &&
	    getsockname(fd, (struct sockaddr *)&loopback, &there) < 0)) {
		(void)err_sys(err, "%s port %u", door != NULL ?
		    door->address : "127.0.0.1", *port);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*port = ntohs(loopback.sin_port);
	return fd;
}

static void
serve_on_signal(evutil_socket_t fd, short what, void *context)
{
	(void)event_base_loopbreak(context);
}

/* A certificate was renewed.  One that is no good leaves the one before. */
static void
serve_on_renewed(void *context)
{
	struct question *question = context;
	const struct web_door *door = question->context;
	struct question_answer *answer = &question->answer;
	struct ssl_ctx_st *tls = NULL;
	struct err err;

	if (answer->kind == ANSWER_GOOD)
		tls = https_context_of(str_slice(&answer->text),
		    door->certificate, str_slice(&answer->trouble), door->key,
		    &err);
	else
		(void)err_set(&err, "%s", answer->trouble.buf);
	if (tls != NULL)
		slots_set_tls(tls);
	else
		fprintf(stderr, "zmailer web: the certificate stays as it "
		    "was: %s\n", err.text);
	explicit_bzero(answer->trouble.buf, answer->trouble.len);
	question_release(question);
	mem_free(&question);
}

/* Who may open files reads it. */
static void
serve_on_hangup(evutil_socket_t fd, short what, void *context)
{
	static const char *const renew[] = { "renew", NULL };
	struct question *question = mem_alloc(1, sizeof(*question));

	question_door(question, renew);
	question->context = context;
	ask_begin(question, serve_on_renewed, question);
}

/* Without a door a terminal that is closed ends the desk. */
static void
serve_take_signals(struct event_base *base, const struct web_door *door)
{
	const struct {
		int number;
		event_callback_fn callback_fn;
		void *context;
	} signals[] = {
		{ SIGINT, serve_on_signal, base },
		{ SIGTERM, serve_on_signal, base },
		{ SIGHUP, door != NULL ? serve_on_hangup : serve_on_signal,
		    door != NULL ? (void *)(uintptr_t)door : base },
	};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct event *event = evsignal_new(base, signals[i].number,
		    signals[i].callback_fn, signals[i].context);

		if (event == NULL || event_add(event, NULL) < 0)
			panic("no signals");
	}
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

/* The process that orders says whose session has ended. */
static void
serve_on_over(void *context, struct slice secret)
{
	struct serving *serving = context;
	struct web_session *session = session_of(serving->all, secret, false,
	    clock_steady_ms());

	if (session != NULL)
		session_leave(session);
}

/* By which name the cookie goes. */
static void
serve_prepare(struct serving *serving, const struct web_door *door,
    const char *host, unsigned port)
{
	for (size_t i = 0; i < SESSIONS_MAX; i++) {
		session_init(&serving->all[i], clock_steady_ms());
		serving->all[i].link[0] = '\0';	/* not ours to know */
	}
	serving->is_network = door != NULL;
	strlcpy(serving->host, host, sizeof(serving->host));
	if (door == NULL)
		snprintf(serving->cookie, sizeof(serving->cookie),
		    "zmailer-%u", port);
	else
		strlcpy(serving->cookie, "__Host-zmailer",
		    sizeof(serving->cookie));
}

/* Nobody but who started us needs to know; the desk itself is locked in. */
static int
serve_shut_in(const struct conf *conf, struct err *err)
{
	struct sandbox rules = { .sockets = SOCKETS_NONE,
	    .may_accept = true };
	struct rlimit none = { 0, 0 };

	charset_prepare();
	tzset();
	(void)clock_steady_ms();
	(void)setrlimit(RLIMIT_CORE, &none);
	rules.worked[0] = send_dir();
	rules.worked_count = rules.worked[0] != NULL;
	if (daemon_drop(conf, ROLE_WEB, err) < 0 ||
	    sandbox_enter(&rules, err) < 0)
		return -1;
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
	return 0;
}

/* The link is said. */
static void
serve_on_said(void *context)
{
}

/* From the fork of the other process on. */
static int
serve_forked(struct web_site *site, const struct orders_ends *orders,
    int listening,
    struct ssl_ctx_st *tls, unsigned port, struct err *err)
{
	static const char *const ready[] = { "ready", NULL };
	static struct serving serving;
	static struct question said;
	struct event_base *base = event_base_new();
	struct evhttp *http = base == NULL ? NULL : evhttp_new(base);
	struct evconnlistener *listener;

	if (http == NULL)
		return err_set(err, "no memory for a server");
	serving = (struct serving){ .base = base };
	serve_prepare(&serving, site->door, site->orders.host, port);
	ask_open(base, orders->calls);
	ask_on_over(serve_on_over, &serving);
	listener = evconnlistener_new(base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE |
	    LEV_OPT_CLOSE_ON_EXEC, BACKLOG, listening);
	if (listener == NULL)
		return err_set(err, "no memory for a listener");
	send_start(base, orders->dial);
	slots_open(base, http, listener, tls);
	serve_limit(http);
	evhttp_set_gencb(http, serve_on_request, &serving);
	if (evhttp_bind_listener(http, listener) == NULL)
		return err_set(err, "no memory for a listener");
	serve_take_signals(base, site->door);
	if (serve_shut_in(site->orders.conf, err) < 0)
		return -1;
	question_door(&said, ready);
	ask_begin(&said, serve_on_said, NULL);
	(void)event_base_dispatch(base);
	for (size_t i = 0; i < SESSIONS_MAX; i++)
		session_release(&serving.all[i]);
	return 0;
}

int
web_serve(struct web_site *site, unsigned port, struct err *err)
{
	const struct web_door *door = site->door;
	struct ssl_ctx_st *tls = NULL;
	struct orders_ends orders;
	int listening;

	if (door != NULL) {
		tls = https_context(door->certificate, door->key, err);
		if (tls == NULL)
			return -1;
	}
	listening = serve_listen(door, &port, err);
	if (listening < 0) {
		https_release(tls);
		return -1;
	}
	if (door != NULL)
		strlcpy(site->orders.host, door->address,
		    sizeof(site->orders.host));
	else
		snprintf(site->orders.host, sizeof(site->orders.host),
		    "127.0.0.1:%u", port);
	if (orders_start(&site->orders, listening, &orders, err) < 0)
		return -1;
	return serve_forked(site, &orders, listening, tls, port, err);
}
