/* dial.h - connections to the submission listener, made by another process
 *
 * The process that serves cannot connect anywhere: the one that orders connects
 * to the listener named at the start, and passes the descriptor
 * (web/ask/wire.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_DIAL_H
#define ZM_WEB_DIAL_H

struct event_base;
struct dial;

/* fd is a connection, which the function then owns; -1: there is none. */
typedef void dial_fn(void *context, int fd);

/* Ask over this socket (owned from now on); to be called once. */
void dial_open(struct event_base *base, int fd);
/* Ask for a connection.  fn is called once, from the loop, never from here; the
 * dial is freed then. */
struct dial *dial_begin(dial_fn *fn, void *context);
/* Forget it: fn is not called.  NULL is harmless; sets *dial to NULL. */
void dial_drop(struct dial **dial);

#endif
