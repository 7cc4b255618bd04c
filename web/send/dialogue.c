/* dialogue.c - a letter handed to our own submission listener: the connection
 *
 * In     where the listener is; its bytes
 * Out    replies, to dialogue_steps.c; news, to who began
 * Holds  a connection, DIALOGUE_S at the most
 * Trusts the listener's bytes as little as any server's: reply.h
 * Spec   dialogue.h; RFC 3207
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <string.h>
#include <unistd.h>

#include "tls/login/https.h"
#include "web/send/dialogue_internal.h"

#include "base/banned.h"

enum { PART_S = 5 };

static const char *const step_names[STEPS] = {
#define STEP(name) #name,
	DIALOGUE_STEPS(STEP)
#undef STEP
};

/* ---- its end ------------------------------------------------------------ */

static void
dialogue_hang_up(struct dialogue *dialogue)
{
	dial_drop(&dialogue->dial);
	if (dialogue->bev != NULL)
		bufferevent_free(dialogue->bev);
	dialogue->bev = NULL;
	if (dialogue->timer != NULL)
		event_free(dialogue->timer);
	dialogue->timer = NULL;
}

void
dialogue_drop(struct dialogue **dialogue)
{
	if (*dialogue == NULL)
		return;
	dialogue_hang_up(*dialogue);
	mem_free(dialogue);
}

static void
parted_on_data(struct bufferevent *bev, void *context)
{
	bufferevent_free(bev);
}

static void
parted_on_event(struct bufferevent *bev, short what, void *context)
{
	bufferevent_free(bev);
}

/* QUIT, and whatever it answers. */
static void
dialogue_part(struct bufferevent *bev)
{
	struct timeval most = { .tv_sec = PART_S };

	bufferevent_setcb(bev, parted_on_data, NULL, parted_on_event, NULL);
	(void)bufferevent_set_timeouts(bev, &most, &most);
	(void)bufferevent_write(bev, "QUIT\r\n", 6);
}

/* The last thing that is done with it: who hears of it drops it. */
void
dialogue_over(struct dialogue *dialogue, enum dialogue_end end, int code,
    struct slice text)
{
	struct dialogue_told *told = dialogue->told;

	if (dialogue->step == STEP_OVER)
		return;
	dialogue->step = STEP_OVER;
	told->end = end;
	told->code = code;
	told->text = slice_copy(told->letter->arena, text);
	if (code != 0 && dialogue->bev != NULL) {
		dialogue_part(dialogue->bev);
		dialogue->bev = NULL;
	}
	dialogue_hang_up(dialogue);
	told->fn(told->context, DIALOGUE_OVER);
}

void
dialogue_down(struct dialogue *dialogue, const char *words)
{
	struct str text = STR_INIT;

	str_addf(&text, "the submission listener: %s (at %s)", words,
	    step_names[dialogue->step]);
	dialogue_over(dialogue, dialogue->step == STEP_END ?
	    DIALOGUE_UNKNOWN : DIALOGUE_DOWN, 0, str_slice(&text));
	str_release(&text);
}

static void
dialogue_on_late(evutil_socket_t fd, short what, void *context)
{
	dialogue_down(context, "it has not answered in time");
}

/* ---- bytes -------------------------------------------------------------- */

static void
dialogue_on_read(struct bufferevent *bev, void *context)
{
	struct dialogue *dialogue = context;
	struct evbuffer *in = bufferevent_get_input(bev);
	size_t n = evbuffer_get_length(in);
	enum reply_answer answer;
	struct reply reply;
	struct err err;
	struct arena *arena;
	struct slice bytes;

	if (n == 0 || dialogue->step == STEP_OVER)
		return;
	n = n < REPLY_BYTES_MAX ? n : REPLY_BYTES_MAX;
	arena = arena_new();
	bytes = slice_copy(arena, (struct slice){ (char *)evbuffer_pullup(in,
	    (ev_ssize_t)n), n });
	answer = reply_parse(bytes, &reply, &err);
	if (answer == REPLY_DONE) {
		(void)evbuffer_drain(in, reply.bytes);
		/* the next one in a turn of its own: after this one neither
		 * connection nor dialogue may be there any more */
		if (evbuffer_get_length(in) > 0 && dialogue->step !=
		    STEP_STARTTLS)
			bufferevent_trigger(bev, EV_READ,
			    BEV_TRIG_DEFER_CALLBACKS);
		dialogue_take(dialogue, &reply);
	} else if (answer == REPLY_BAD || n == REPLY_BYTES_MAX) {
		dialogue_down(dialogue, "this is no reply");
	}
	arena_free(&arena);
}

static void
dialogue_on_event(struct bufferevent *bev, short what, void *context)
{
	struct dialogue *dialogue = context;

	if ((what & BEV_EVENT_CONNECTED) != 0) {
		if (dialogue->step == STEP_HANDSHAKE)
			dialogue_say_line(dialogue, "EHLO localhost",
			    STEP_EHLO);
		return;
	}
	if (dialogue->is_tls && (what & BEV_EVENT_ERROR) != 0 &&
	    bufferevent_get_openssl_error(bev) != 0)
		dialogue_down(dialogue, "TLS failed");
	else if ((what & BEV_EVENT_ERROR) != 0)
		dialogue_down(dialogue, evutil_socket_error_to_string(
		    EVUTIL_SOCKET_ERROR()));
	else
		dialogue_down(dialogue, "it hung up");
}

static void
dialogue_set_up(struct dialogue *dialogue)
{
	bufferevent_setcb(dialogue->bev, dialogue_on_read, NULL,
	    dialogue_on_event, dialogue);
	bufferevent_setwatermark(dialogue->bev, EV_READ, 0,
	    2 * REPLY_BYTES_MAX);
	(void)bufferevent_enable(dialogue->bev, EV_READ | EV_WRITE);
}

/* ---- TLS ---------------------------------------------------------------- */

/* The connection is one of TLS from now on.  -1: no memory. */
static int
dialogue_encrypt(struct dialogue *dialogue, int fd)
{
	const struct submit_place *place = dialogue->told->place;
	struct ssl_st *link = https_client_link(place->tls, place->is_near ?
	    NULL : place->name);

	if (link == NULL)
		return -1;
	dialogue->bev = bufferevent_openssl_socket_new(
	    dialogue->told->base, fd, link, BUFFEREVENT_SSL_CONNECTING,
	    BEV_OPT_CLOSE_ON_FREE);
	if (dialogue->bev == NULL)
		return -1;
	dialogue->is_tls = true;
	return 0;
}

/* What came before the handshake was said by nobody who is known. */
void
dialogue_start_tls(struct dialogue *dialogue)
{
	struct bufferevent *clear = dialogue->bev;
	int fd;

	if (evbuffer_get_length(bufferevent_get_input(clear)) > 0) {
		dialogue_down(dialogue, "it said more before TLS began");
		return;
	}
	fd = dup(bufferevent_getfd(clear));
	bufferevent_free(clear);
	dialogue->bev = NULL;
	dialogue->step = STEP_HANDSHAKE;
	if (fd < 0 || dialogue_encrypt(dialogue, fd) < 0) {
		dialogue_down(dialogue, "TLS cannot begin");
		return;
	}
	dialogue_set_up(dialogue);
}

/* ---- the beginning ------------------------------------------------------ */

/* fd is taken.  -1: no memory. */
static int
dialogue_connected(struct dialogue *dialogue, int fd)
{
	if (dialogue->told->place->is_tls) {
		if (dialogue_encrypt(dialogue, fd) < 0)
			return -1;
	} else {
		dialogue->bev = bufferevent_socket_new(dialogue->told->base,
		    fd, BEV_OPT_CLOSE_ON_FREE);
	}
	if (dialogue->bev == NULL)
		return -1;
	dialogue_set_up(dialogue);
	return 0;
}

static void
dialogue_on_dialed(void *context, int fd)
{
	struct dialogue *dialogue = context;

	dialogue->dial = NULL;
	if (fd < 0)
		dialogue_down(dialogue, "it does not listen");
	else if (dialogue_connected(dialogue, fd) < 0)
		dialogue_down(dialogue, "no memory for it");
}

struct dialogue *
dialogue_begin(struct dialogue_told *told)
{
	struct dialogue *dialogue = mem_alloc(1, sizeof(*dialogue));
	struct timeval most = { .tv_sec = DIALOGUE_S };

	*dialogue = (struct dialogue){ .told = told, .step = STEP_GREETING };
	told->id[0] = '\0';
	dialogue->timer = evtimer_new(told->base, dialogue_on_late, dialogue);
	if (dialogue->timer == NULL || event_add(dialogue->timer, &most) < 0)
		panic("no timer");
	dialogue->dial = dial_begin(dialogue_on_dialed, dialogue);
	return dialogue;
}
