/* inflow.h - what connections bring, counted before it is a request
 *
 * The HTTP library has one limit for all requests, and reads a body whole
 * before it says whose it is.  So bytes are counted where they come in: a
 * body for /send may be as large as a message, all of them together
 * INFLOW_ALL_BYTES_MAX; every other request is as small as ever.  Who brings
 * more is answered at once, and what he goes on sending is read and dropped.
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
	INFLOW_SMALL_BYTES = 64 << 10,	/* so much of each is always taken */
	INFLOW_HEADER_BYTES_MAX = 8 << 10
};

/* From now on there is /send, and a body of it has at most so many bytes. */
void inflow_allow(size_t body_bytes_max);
/* Is there? */
bool inflow_is_allowed(void);

struct inflow;
/* Count what comes; NULL when /send is not there. */
struct inflow *inflow_new(struct event_base *base, struct bufferevent *bev);
/* Its request is for /send: it may take longer. */
bool inflow_is_send(const struct inflow *inflow);
/* The connection is over: what it brought is gone. */
void inflow_free(struct inflow **inflow);

#endif
