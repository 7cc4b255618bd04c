/* slots.h - limits of connections: how many, and how long
 *
 * libevent neither counts the connections of its HTTP server nor says when one
 * has ended.  We hold a reference to the bufferevent of each; if its callbacks
 * are gone, the server has let it go.
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
	SLOT_MS = 20000,	/* until a request is complete */
	SLOT_SEND_MS = 120000,	/* the same for one with mail */
	SLOT_ALL_MS = 180000	/* with its answer */
};

/* Count what the listener accepts and the server serves, from now on; if tls is
 * not NULL, each connection begins with a handshake. */
void slots_open(struct event_base *base, struct evhttp *http,
    struct evconnlistener *listener, struct ssl_ctx_st *tls);
/* Use this context for new connections; open ones keep theirs.  The old context
 * is released. */
void slots_set_tls(struct ssl_ctx_st *tls);
/* The connection of this bufferevent has a complete request. */
struct bufferevent;
void slots_set_whole(struct bufferevent *bev);
/* Its answer is a stream, which has no limit of time. */
void slots_set_live(struct bufferevent *bev);

#endif
