/* inflow.h - bytes of connections, counted before they are a request
 *
 * The HTTP library has one limit for all requests, and reads a whole body
 * before it passes the request on.  So bytes are counted where they come in: a
 * body for /send may be as large as a message, and all of them together have at
 * most INFLOW_ALL_BYTES_MAX; every other request must be small.  A client that
 * sends more is answered at once; the rest of what it sends is dropped.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_INFLOW_H
#define ZM_WEB_INFLOW_H

#include <stdbool.h>
#include <stddef.h>

struct bufferevent;
struct event_base;

enum {
	INFLOW_BODY_BYTES_MAX = 32 << 20,
	INFLOW_ALL_BYTES_MAX = 64 << 20,
	INFLOW_SMALL_BYTES = 64 << 10,	/* always accepted of each */
	INFLOW_HEADER_BYTES_MAX = 8 << 10
};

/* From now on there is /send, whose body has at most body_bytes_max bytes. */
void inflow_allow(size_t body_bytes_max);
/* Is there /send? */
bool inflow_is_allowed(void);

struct inflow;
/* Count what comes; NULL if there is no /send. */
struct inflow *inflow_new(struct event_base *base, struct bufferevent *bev);
/* Is its request for /send, so that it may take longer? */
bool inflow_is_send(const struct inflow *inflow);
/* The connection has ended: no longer count its bytes. */
void inflow_free(struct inflow **inflow);

#endif
