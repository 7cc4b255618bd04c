/* slots.h - connections: so many at a time, and none for ever
 *
 * libevent neither counts the connections of its HTTP server nor says when one
 * is over.  Each has a reference of ours to its bufferevent; one whose
 * callbacks are gone was let go.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_SLOTS_H
#define ZM_WEB_SLOTS_H

struct event_base;
struct evhttp;
struct evconnlistener;
struct ssl_ctx_st;

enum {
	SLOTS_MAX = 164,	/* LIVE_MAX of them may be streams */
	SLOT_MS = 20000,	/* until a request is whole */
	SLOT_SEND_MS = 120000,	/* the same of one that brings mail */
	SLOT_ALL_MS = 180000	/* with its answer */
};

/* Count what the listener takes and the server serves, from now on; with tls
 * (not NULL) each begins with a handshake. */
void slots_open(struct event_base *base, struct evhttp *http,
    struct evconnlistener *listener, struct ssl_ctx_st *tls);
/* Connections begin with this one from now on; those that are open keep
 * theirs.  The one before is released. */
void slots_set_tls(struct ssl_ctx_st *tls);
/* The connection of this bufferevent brought a whole request. */
struct bufferevent;
void slots_set_whole(struct bufferevent *bev);
/* Its answer goes on until who gives it ends it. */
void slots_set_live(struct bufferevent *bev);

#endif
