/* sentinels.c - one of the sentinels is asked where the master is
 *
 * In     the place of a sentinel; what it answers
 * Out    the place of the master, or why it is not known
 * Holds  one connection, while it is asked
 * Trusts no answer: an address and a port, bounded and checked; a name is
 *        never looked up
 * Spec   sentinels.h; Redis: SENTINEL get-master-addr-by-name
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "grammar/net.h"
#include "grammar/resp.h"
#include "io/stream.h"
#include "share/redis/dial.h"
#include "share/redis/said.h"
#include "share/redis/sentinels.h"

#include "base/banned.h"

enum { SHOWN_BYTES = 80, AUTH_WORDS = 2, ASK_WORDS = 3 };

struct sentinels {
	struct loop		*loop;
	struct sentinels_goal	 goal;
	int64_t			 patience_ms;
	sentinels_fn		*fn;
	void			*context;
	struct dial		*dial;		/* that connects; NULL */
	struct stream		*stream;	/* of who is asked; NULL */
	const struct store_place *place;
	bool			 is_let_in;	/* AUTH was answered, or is not
						 * wanted */
	struct store_place	 master;
	struct timer		 timer;
};

/* ---- what one answers --------------------------------------------------- */

static int
sentinels_read_address(const char *text, in_port_t port,
    struct store_place *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&out->address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&out->address;

	memset(&out->address, 0, sizeof(out->address));
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		out->length = sizeof(*four);
		return 0;
	}
	if (inet_pton(AF_INET6, text, &six->sin6_addr) != 1)
		return -1;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	out->length = sizeof(*six);
	return 0;
}

int
sentinels_read(struct slice items, struct store_place *out, struct err *err)
{
	struct slice host, number;
	struct str shown = STR_INIT;
	uint64_t port;
	size_t used;

	if (resp_read(items, &host, &used) != RESP_VALUE ||
	    resp_read(slice_from(items, used), &number, &used) != RESP_VALUE ||
	    !slice_number(number, 1, 65535, &port))
		return err_set(err, "what it tells is no address");
	str_add_slice(&shown, slice_first(host, INET6_ADDRSTRLEN));
	if (host.n >= INET6_ADDRSTRLEN || strlen(shown.buf) != host.n ||
	    sentinels_read_address(shown.buf, (in_port_t)port, out) != 0) {
		str_reset(&shown);
		str_add_escaped(&shown, slice_first(host, SHOWN_BYTES));
		err_set(err, "it tells '%s', which is no address: set "
		    "resolve-hostnames no", shown.buf);
		str_release(&shown);
		return -1;
	}
	strlcpy(out->host, shown.buf, sizeof(out->host));
	net_endpoint_text((const struct sockaddr *)&out->address, out->text,
	    sizeof(out->text));
	str_release(&shown);
	return 0;
}

/* ---- a question --------------------------------------------------------- */

void
sentinels_stop(struct sentinels *sentinels)
{
	if (sentinels == NULL)
		return;
	timer_clear(&sentinels->timer);
	dial_free(&sentinels->dial);
	stream_free(&sentinels->stream);
}

static void
sentinels_end(struct sentinels *sentinels, const char *words)
{
	char why[SENTINELS_WHY_BYTES];

	snprintf(why, sizeof(why), "sentinel %s: %s", sentinels->place->text,
	    words);
	sentinels_stop(sentinels);
	sentinels->fn(sentinels->context, NULL, why);
}

static void
sentinels_on_time(void *context)
{
	sentinels_end(context, "it does not answer");
}

static void
sentinels_flush(struct sentinels *sentinels)
{
	struct stream *stream = sentinels->stream;

	if (stream_flush(stream) == STREAM_FLUSH_BROKEN)
		sentinels_end(sentinels, stream_tls(stream) ==
		    STREAM_TLS_FAILED ? stream_tls_trouble(stream) :
		    "the connection broke");
	else
		stream_await(stream, true);
}

static void
sentinels_end_error(struct sentinels *sentinels, struct slice text)
{
	char words[SENTINELS_WHY_BYTES / 2];

	said_error(text, words, sizeof(words));
	sentinels_end(sentinels, words);
}

/* false: the question is over. */
static bool
sentinels_take(struct sentinels *sentinels, enum resp_answer answer,
    struct slice text)
{
	struct err err;

	if (answer == RESP_ERROR) {
		sentinels_end_error(sentinels, text);
	} else if (!sentinels->is_let_in) {
		sentinels->is_let_in = true;
		return true;
	} else if (answer == RESP_NIL) {
		sentinels_end(sentinels, "it knows no such master");
	} else if (answer != RESP_ARRAY || sentinels_read(text,
	    &sentinels->master, &err) != 0) {
		sentinels_end(sentinels, answer == RESP_ARRAY ? err.text :
		    "what it tells is no address");
	} else {
		sentinels_stop(sentinels);
		sentinels->fn(sentinels->context, &sentinels->master, NULL);
	}
	return false;
}

static void
sentinels_on_ready(void *context)
{
	struct sentinels *sentinels = context;
	struct stream *stream = sentinels->stream;
	enum stream_got got = stream_fill(stream);
	enum resp_answer answer;
	struct slice text;
	size_t used;

	for (;;) {
		answer = resp_read(stream_input(stream), &text, &used);
		if (answer == RESP_MORE)
			break;
		if (answer == RESP_BAD) {
			sentinels_end(sentinels, "what it answers is no RESP");
			return;
		}
		if (!sentinels_take(sentinels, answer, text))
			return;
		stream_consume(stream, used);
	}
	if (stream_tls(stream) == STREAM_TLS_FAILED)
		sentinels_end(sentinels, stream_tls_trouble(stream));
	else if (got == STREAM_EOF || got == STREAM_BROKEN)
		sentinels_end(sentinels, "it closed the connection");
	else
		sentinels_flush(sentinels);
}

static void
sentinels_say(struct sentinels *sentinels)
{
	const struct slice ask[ASK_WORDS] = { SLICE("SENTINEL"),
		SLICE("get-master-addr-by-name"),
		slice_of(sentinels->goal.master) };
	struct slice auth[AUTH_WORDS] = { SLICE("AUTH") };
	struct str bytes = STR_INIT;

	sentinels->is_let_in = sentinels->goal.password == NULL;
	if (!sentinels->is_let_in) {
		auth[1] = slice_of(sentinels->goal.password);
		resp_add_command(&bytes, auth, AUTH_WORDS);
	}
	resp_add_command(&bytes, ask, ASK_WORDS);
	stream_say(sentinels->stream, str_slice(&bytes));
	explicit_bzero(bytes.buf, bytes.len);
	str_release(&bytes);
	sentinels_flush(sentinels);
}

static void
sentinels_on_connected(void *context, int fd, const struct err *trouble)
{
	struct sentinels *sentinels = context;
	struct err err;

	sentinels->dial = NULL;
	if (fd < 0) {
		sentinels_end(sentinels, trouble->text);
		return;
	}
	sentinels->stream = stream_new(sentinels->loop, fd, sentinels_on_ready,
	    sentinels);
	if (dial_encrypt(sentinels->stream, sentinels->goal.tls,
	    sentinels->place->host, &err) != 0)
		sentinels_end(sentinels, err.text);
	else
		sentinels_say(sentinels);
}

/* What failed before it began, told in the loop. */
static void
sentinels_on_nothing(void *context)
{
	sentinels_end(context, "it cannot be connected to");
}

void
sentinels_ask(struct sentinels *sentinels, const struct store_place *place)
{
	int64_t now_ms = clock_steady_ms();
	struct err err;

	sentinels_stop(sentinels);
	sentinels->place = place;
	sentinels->dial = dial_new(sentinels->loop, place,
	    sentinels_on_connected, sentinels, &err);
	timer_set(sentinels->loop, &sentinels->timer, sentinels->dial == NULL ?
	    now_ms : now_ms + sentinels->patience_ms, sentinels->dial == NULL ?
	    sentinels_on_nothing : sentinels_on_time, sentinels);
}

struct sentinels *
sentinels_new(struct loop *loop, const struct sentinels_goal *goal,
    int64_t patience_ms, sentinels_fn *fn, void *context)
{
	struct sentinels *sentinels = mem_alloc(1, sizeof(*sentinels));

	sentinels->loop = loop;
	sentinels->goal = *goal;
	sentinels->patience_ms = patience_ms;
	sentinels->fn = fn;
	sentinels->context = context;
	return sentinels;
}

void
sentinels_free(struct sentinels **sentinels)
{
	sentinels_stop(*sentinels);
	mem_free(sentinels);
}
