/* ask.c - questions under way at the process that orders
 *
 * In     questions
 * Out    their answers, each once; "nobody is there" when it has ended
 * Holds  the socket, a timer for each question
 * Trusts lengths as far as wire.c lets them pass
 * Spec   ask.h, wire.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "web/ask/ask.h"
#include "web/ask/wire.h"

#include "base/banned.h"

enum { GRACE_MS = 10000 };	/* the other one counts ANSWER_MS itself */

const char ask_down_words[] = "The process that asks for the desk has ended: "
    "stop this one and start zmailer web again.";

struct ask {
	LIST_ENTRY(ask)	 all;
	unsigned	 serial;
	struct question	*question;
	struct event	*timer;
	ask_fn		*fn;
	void		*context;
};

static struct {
	LIST_HEAD(, ask)	 all;
	struct event_base	*base;
	struct bufferevent	*bev;		/* NULL: nobody is there */
	unsigned		 serial;
	struct wire_answer	 head;		/* of the answer that comes */
	bool			 has_head;
	ask_over_fn		*over_fn;
	void			*over_context;
} asks = { .all = LIST_HEAD_INITIALIZER(asks.all) };

bool
ask_is_up(void)
{
	return asks.bev != NULL;
}

void
ask_on_over(ask_over_fn *fn, void *context)
{
	asks.over_fn = fn;
	asks.over_context = context;
}

static void
ask_end(struct ask *ask)
{
	ask_fn *fn = ask->fn;
	void *context = ask->context;

	LIST_REMOVE(ask, all);
	event_free(ask->timer);
	mem_free(&ask);
	fn(context);
}

static void
ask_fail(struct ask *ask, enum question_answer_kind kind, const char *words)
{
	struct question_answer *answer = &ask->question->answer;

	answer->kind = kind;
	str_reset(&answer->trouble);
	str_adds(&answer->trouble, words);
	ask_end(ask);
}

static void
ask_on_timer(evutil_socket_t fd, short what, void *context)
{
	if (ask_is_up())
		ask_fail(context, ANSWER_TROUBLE, "there was no answer in "
		    "time");
	else
		ask_fail(context, ANSWER_ABSENT, ask_down_words);
}

static void
ask_set_timer(struct ask *ask, int64_t ms)
{
	struct timeval when = { .tv_sec = ms / 1000,
	    .tv_usec = ms % 1000 * 1000 };

	if (event_add(ask->timer, &when) < 0)
		panic("no timer");
}

/* ---- what comes --------------------------------------------------------- */

static void
asks_take_bytes(struct evbuffer *in, struct str *out, size_t n)
{
	if (n == 0)
		return;
	(void)evbuffer_remove(in, str_room(out, n), n);
	out->len += n;
	out->buf[out->len] = '\0';
}

static struct ask *
asks_with_serial(unsigned serial)
{
	struct ask *ask;

	LIST_FOREACH(ask, &asks.all, all)
		if (ask->serial == serial)
			return ask;
	return NULL;
}

static void
asks_hear_over(struct evbuffer *in)
{
	struct str secret = STR_INIT;

	asks_take_bytes(in, &secret, asks.head.text_bytes);
	(void)evbuffer_drain(in, asks.head.trouble_bytes);
	if (asks.over_fn != NULL)
		asks.over_fn(asks.over_context, str_slice(&secret));
	explicit_bzero(secret.buf, secret.len);
	str_release(&secret);
}

/* All of it is there.  Who asked may have given it up. */
static void
asks_take_answer(struct evbuffer *in)
{
	struct ask *ask = asks_with_serial(asks.head.serial);
	struct question_answer *answer;

	if (asks.head.serial == WIRE_PUSHED) {
		asks_hear_over(in);
		return;
	}
	if (ask == NULL) {
		(void)evbuffer_drain(in, asks.head.text_bytes +
		    asks.head.trouble_bytes);
		return;
	}
	answer = &ask->question->answer;
	answer->kind = asks.head.kind;
	answer->is_cut = asks.head.is_cut;
	asks_take_bytes(in, &answer->text, asks.head.text_bytes);
	asks_take_bytes(in, &answer->trouble, asks.head.trouble_bytes);
	ask_end(ask);
}

/* The questions that are under way are answered in the next turn. */
static void
asks_lose(const char *why)
{
	struct ask *ask;

	warning("%s", why);
	bufferevent_free(asks.bev);
	asks.bev = NULL;
	LIST_FOREACH(ask, &asks.all, all)
		ask_set_timer(ask, 0);
}

/* 1; 0: more has to come; -1: it is no answer. */
static int
asks_read_head(struct evbuffer *in)
{
	size_t n;
	char *line;
	int result;

	if (asks.has_head)
		return 1;
	line = evbuffer_readln(in, &n, EVBUFFER_EOL_LF);
	if (line == NULL)
		return evbuffer_get_length(in) > WIRE_HEAD_BYTES_MAX ? -1 : 0;
	result = wire_read_answer((struct slice){ line, n }, &asks.head);
	mem_free(&line);
	asks.has_head = result == 0;
	return result == 0 ? 1 : -1;
}

static void
asks_on_read(struct bufferevent *bev, void *context)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	int result;

	while ((result = asks_read_head(in)) > 0) {
		if (evbuffer_get_length(in) < asks.head.text_bytes +
		    asks.head.trouble_bytes)
			return;
		asks.has_head = false;
		asks_take_answer(in);
	}
	if (result < 0)
		asks_lose("the process that asks talks nonsense");
}

static void
asks_on_event(struct bufferevent *bev, short what, void *context)
{
	asks_lose(ask_down_words);
}

void
ask_open(struct event_base *base, int fd)
{
	asks.base = base;
	asks.bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (asks.bev == NULL)
		panic("no memory for a socket");
	bufferevent_setcb(asks.bev, asks_on_read, NULL, asks_on_event, NULL);
	(void)bufferevent_enable(asks.bev, EV_READ | EV_WRITE);
}

/* ---- what goes ---------------------------------------------------------- */

static void
ask_send(const struct ask *ask)
{
	const struct question *question = ask->question;
	const char *words[WIRE_WORDS_MAX] = { NULL };
	struct str line = STR_INIT;
	size_t n = 0;

	if (!question->is_door) {
		words[n++] = "ask";
		words[n++] = question->secret != NULL ? question->secret : "";
		words[n++] = question->is_live ? "live" : "page";
		words[n++] = question->is_socket ? "socket" : "verb";
	}
	if (question->is_socket)
		words[n++] = question->request.buf;
	for (size_t i = 0; question->words[i] != NULL &&
	    n < WIRE_WORDS_MAX - 1; i++)
		words[n++] = question->words[i];
	words[n] = NULL;
	wire_add_call(&line, ask->serial, words);
	(void)bufferevent_write(asks.bev, line.buf, line.len);
	explicit_bzero(line.buf, line.len);
	str_release(&line);
}

void
ask_begin(struct question *question, ask_fn *fn, void *context)
{
	struct ask *ask = mem_alloc(1, sizeof(*ask));

	if (question->is_socket)
		str_addc(&question->request, '}');
	if (++asks.serial == WIRE_PUSHED)
		asks.serial++;
	*ask = (struct ask){ .serial = asks.serial, .question = question,
	    .fn = fn, .context = context };
	LIST_INSERT_HEAD(&asks.all, ask, all);
	ask->timer = evtimer_new(asks.base, ask_on_timer, ask);
	if (ask->timer == NULL)
		panic("no timer");
	ask_set_timer(ask, ask_is_up() ? ANSWER_MS + GRACE_MS : 0);
	if (ask_is_up())
		ask_send(ask);
}
