/* dial.h - connections to the submission listener, made by who may
 *
 * The process that serves can connect nowhere: the one that orders does, to
 * the listener of its start, and passes the descriptor (web/ask/wire.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_DIAL_H
#define ZM_WEB_DIAL_H

struct event_base;
struct dial;

/* fd is a connection, the hearer's; -1: there is none. */
typedef void dial_fn(void *context, int fd);

/* Ask over this socket (taken) from now on; once. */
void dial_open(struct event_base *base, int fd);
/* fn is called from the loop, once, never from here; it frees the dial. */
struct dial *dial_begin(dial_fn *fn, void *context);
/* Nobody waits for it any more.  NULL: nothing. */
void dial_drop(struct dial **dial);

#endif
