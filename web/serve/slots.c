/* slots.c - connections: so many at a time, and none for ever
 *
 * In     connections that the server takes
 * Out    the listener stops while all slots are taken; a connection that is
 *        too slow is shut
 * Holds  a reference to each bufferevent; a timer
 * Spec   slots.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/socket.h>

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/err.h"
#include "tls/login/https.h"
#include "web/send/inflow.h"
#include "web/serve/slots.h"

#include "base/banned.h"

enum { SWEEP_US = 200000, AFTER_BYTES = 1024 };

struct slot {
	struct bufferevent	*bev;	/* NULL: free */
	int64_t			 since_ms;
	bool			 is_whole, is_live;
	struct inflow		*inflow;	/* NULL: there is no /send */
};
static struct slot slots[SLOTS_MAX];
static struct evconnlistener *slots_listener;
static struct ssl_ctx_st *slots_tls;

static bool
slot_is_over(const struct slot *slot)
{
	bufferevent_event_cb on_event = NULL;

	bufferevent_getcb(slot->bev, NULL, NULL, &on_event, NULL);
	return on_event == NULL;
}

static int64_t
slot_may_take_ms(const struct slot *slot)
{
	if (slot->is_whole)
		return SLOT_ALL_MS;
	return inflow_is_send(slot->inflow) ? SLOT_SEND_MS : SLOT_MS;
}

/* Who is too slow sees the end; the server then frees it by itself. */
static void
slot_look(struct slot *slot, int64_t now_ms)
{
	int64_t age_ms = now_ms - slot->since_ms;

	if (slot_is_over(slot)) {
		inflow_free(&slot->inflow);
		(void)bufferevent_decref(slot->bev);
		slot->bev = NULL;
	} else if (!slot->is_live &&
	    age_ms > slot_may_take_ms(slot)) {
		(void)shutdown(bufferevent_getfd(slot->bev), SHUT_RDWR);
	}
}

static size_t
slots_sweep(void)
{
	int64_t now_ms = clock_steady_ms();
	size_t taken = 0;

	for (size_t i = 0; i < SLOTS_MAX; i++) {
		if (slots[i].bev != NULL)
			slot_look(&slots[i], now_ms);
		taken += slots[i].bev != NULL;
	}
	return taken;
}

static void
slots_on_sweep(evutil_socket_t fd, short what, void *context)
{
	if (slots_sweep() < SLOTS_MAX)
		(void)evconnlistener_enable(slots_listener);
}

static struct bufferevent *
slots_new(struct event_base *base)
{
	struct ssl_st *link;

	if (slots_tls == NULL)
		return bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	link = https_link(slots_tls);
	return link == NULL ? NULL : bufferevent_openssl_socket_new(base, -1,
	    link, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
}

/* The server wants a bufferevent for a connection that it took.  The
 * descriptor is closed with its events, by the last reference: another one of
 * its number would not be heard. */
static struct bufferevent *
slots_on_connection(struct event_base *base, void *context)
{
	struct bufferevent *bev = slots_new(base);
	size_t taken = slots_sweep() + 1;

	for (size_t i = 0; bev != NULL && i < SLOTS_MAX; i++)
		if (slots[i].bev == NULL) {
			bufferevent_incref(bev);
			slots[i] = (struct slot){ .bev = bev,
			    .since_ms = clock_steady_ms(),
			    .inflow = inflow_new(base, bev) };
			break;
		}
	if (taken >= SLOTS_MAX)
		(void)evconnlistener_disable(slots_listener);
	return bev;
}

/* What comes after the request is not read, so it must not be kept. */
void
slots_set_whole(struct bufferevent *bev)
{
	bufferevent_setwatermark(bev, EV_READ, 0, AFTER_BYTES);
	for (size_t i = 0; i < SLOTS_MAX; i++)
		if (slots[i].bev == bev)
			slots[i].is_whole = true;
}

void
slots_set_live(struct bufferevent *bev)
{
	for (size_t i = 0; i < SLOTS_MAX; i++)
		if (slots[i].bev == bev)
			slots[i].is_live = true;
}

void
slots_set_tls(struct ssl_ctx_st *tls)
{
	https_release(slots_tls);
	slots_tls = tls;
}

void
slots_open(struct event_base *base, struct evhttp *http,
    struct evconnlistener *listener, struct ssl_ctx_st *tls)
{
	struct timeval every = { .tv_usec = SWEEP_US };
	struct event *timer = event_new(base, -1, EV_PERSIST, slots_on_sweep,
	    NULL);

	slots_listener = listener;
	slots_tls = tls;
	evhttp_set_bevcb(http, slots_on_connection, NULL);
	if (timer == NULL || event_add(timer, &every) < 0)
		panic("no timer");
}
