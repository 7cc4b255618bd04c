/* live.c - numbers that a page shows while it is looked at
 *
 * In     who wants them; the scheduler's count by state
 * Out    events to all of them, when the count is another
 * Holds  at most LIVE_MAX streams, one question, one timer while there are any
 * Trusts nobody to read: the server ends who does not, within LIVE_WRITE_S
 * Spec   live.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "web/pages/pages.h"
#include "web/serve/live.h"
#include "web/serve/reply.h"
#include "web/serve/slots.h"

#include "base/banned.h"

struct live {
	LIST_ENTRY(live)	 all;
	struct evhttp_request	*http;
	struct web_session	*session;
	unsigned		 serial;	/* the session's, then */
	bool			 is_told;	/* the last count */
	bool			 is_gone;	/* the connection is */
};

static struct {
	LIST_HEAD(, live)	 all;
	unsigned		 count;
	struct serving		*serving;
	struct event		*timer;	/* NULL: nobody listens */
	struct question		 question;
	char			 secret[SESSION_SECRET_BYTES];	/* of one */
	int64_t			 asked_ms, said_ms;
	struct str		 last;	/* the event that was sent last */
} lives = { .all = LIST_HEAD_INITIALIZER(lives.all), .last = STR_INIT };

/* ---- one stream --------------------------------------------------------- */

static void
live_on_close(struct evhttp_connection *connection, void *context)
{
	struct live *live = context;

	live->is_gone = true;		/* freed by the next look */
}

static void
live_send(const struct live *live, struct slice text)
{
	struct evbuffer *piece = live->is_gone ? NULL : evbuffer_new();

	if (piece == NULL)
		return;
	(void)evbuffer_add(piece, text.p, text.n);
	evhttp_send_reply_chunk(live->http, piece);
	evbuffer_free(piece);
}

static void
live_end(struct live *live)
{
	struct evhttp_connection *connection =
	    evhttp_request_get_connection(live->http);

	if (connection != NULL)
		evhttp_connection_set_closecb(connection, NULL, NULL);
	LIST_REMOVE(live, all);
	lives.count--;
	evhttp_send_reply_end(live->http);
	mem_free(&live);
}

/* The server does not read while an answer is under way, so it does not see
 * who hangs up. */
static bool
live_is_left(const struct live *live)
{
	struct evhttp_connection *connection =
	    evhttp_request_get_connection(live->http);
	struct pollfd one = { .events = POLLRDHUP };

	if (connection == NULL)
		return true;
	one.fd = bufferevent_getfd(evhttp_connection_get_bufferevent(
	    connection));
	return poll(&one, 1, 0) > 0;
}

static bool
live_is_over(const struct live *live)
{
	return live->is_gone || live_is_left(live) ||
	    live->session->serial != live->serial ||
	    session_is_over(live->session, clock_steady_ms());
}

/* ---- all of them -------------------------------------------------------- */

/* What the scheduler said, as an event. */
static void
lives_add_event(struct str *out)
{
	const struct question_answer *answer = &lives.question.answer;
	struct slice rest = str_slice(&answer->text), line;
	struct arena *arena = arena_new();

	str_adds(out, "event: count\ndata: ");
	json_open_answer(out);
	if (answer->kind != ANSWER_GOOD && answer->kind != ANSWER_NONE) {
		json_text(out, "trouble", str_slice(&answer->trouble));
	} else {
		json_begin(out, "states");
		while (answer_line(&rest, &line)) {
			json_begin(out, slice_dup(arena, page_member(arena,
			    line, "key")));
			json_number(out, "messages", json_get_number(line,
			    "messages"));
			json_number(out, "recipients", json_get_number(line,
			    "recipients"));
			json_end(out);
		}
		json_end(out);
	}
	json_close(out);
	str_addc(out, '\n');
	arena_free(&arena);
}

/* A change is told to all; without one, who is new is told what is, and all
 * that we are there. */
static void
lives_tell(struct str *event)
{
	bool is_new = !slice_equal(str_slice(event), str_slice(&lives.last));
	int64_t now_ms = clock_steady_ms();
	bool is_sign = now_ms - lives.said_ms >= LIVE_SIGN_MS;
	struct live *live;

	LIST_FOREACH(live, &lives.all, all) {
		if (is_new || !live->is_told)
			live_send(live, str_slice(event));
		else if (is_sign)
			live_send(live, SLICE(":\n\n"));
		live->is_told = true;
	}
	if (is_new || is_sign)
		lives.said_ms = now_ms;
	str_reset(&lives.last);
	str_add_slice(&lives.last, str_slice(event));
}

static void
lives_wait(int64_t ms)
{
	struct timeval span = { .tv_sec = ms / 1000,
	    .tv_usec = ms % 1000 * 1000 };

	if (event_add(lives.timer, &span) < 0)
		panic("no timer");
}

static void
lives_on_answer(void *context)
{
	int64_t took_ms = clock_steady_ms() - lives.asked_ms;
	bool is_told = lives.question.answer.kind != ANSWER_OVER;
	struct str event = STR_INIT;

	lives_add_event(&event);
	question_release(&lives.question);
	if (is_told)	/* else the session that asked has ended */
		lives_tell(&event);
	str_release(&event);
	lives_wait(took_ms * LIVE_SHARE < LIVE_EVERY_MS ? LIVE_EVERY_MS :
	    took_ms * LIVE_SHARE > LIVE_LAST_MS ? LIVE_LAST_MS :
	    took_ms * LIVE_SHARE);
}

static void
lives_sweep(void)
{
	struct live *live = LIST_FIRST(&lives.all), *next;

	for (; live != NULL; live = next) {
		next = LIST_NEXT(live, all);
		if (live_is_over(live))
			live_end(live);
	}
}

static void
lives_look(evutil_socket_t fd, short what, void *context)
{
	lives_sweep();
	if (lives.count == 0) {
		event_free(lives.timer);
		lives.timer = NULL;
		return;
	}
	lives.asked_ms = clock_steady_ms();
	question_socket(&lives.question, "count", "count");
	json_text(&lives.question.request, "by", SLICE("state"));
	strlcpy(lives.secret, LIST_FIRST(&lives.all)->session->cookie,
	    sizeof(lives.secret));
	lives.question.secret = lives.secret;
	lives.question.is_live = true;
	ask_begin(&lives.question, lives_on_answer, NULL);
}

void
live_begin(struct serving *serving, struct web_session *session,
    const struct web_request *request, struct slice rest)
{
	struct evhttp_connection *connection =
	    evhttp_request_get_connection(request->http);
	struct bufferevent *bev = evhttp_connection_get_bufferevent(
	    connection);
	struct timeval patience = { .tv_sec = LIVE_WRITE_S };
	struct live *live;

	lives_sweep();
	if (lives.count == LIVE_MAX) {
		reply_error(request->http, 503, "As many pages as may be "
		    "live are: this one is as it was when it was made.",
		    request->wants_json, true);
		return;
	}
	live = mem_alloc(1, sizeof(*live));
	*live = (struct live){ .http = request->http, .session = session,
	    .serial = session->serial };
	LIST_INSERT_HEAD(&lives.all, live, all);
	lives.count++;
	lives.serving = serving;
	slots_set_live(bev);
	evhttp_connection_set_closecb(connection, live_on_close, live);
	reply_begin(request->http, "text/event-stream");
	/* it says nothing, and has to take what we say */
	(void)bufferevent_set_timeouts(bev, NULL, &patience);
	if (lives.timer != NULL)
		return;		/* the next answer is its first */
	lives.timer = evtimer_new(serving->base, lives_look, NULL);
	if (lives.timer == NULL)
		panic("no timer");
	lives_wait(0);
}
