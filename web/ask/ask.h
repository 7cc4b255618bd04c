/* ask.h - questions to the process that orders, from an event loop
 *
 * The process that serves the network may neither open files, nor run programs,
 * nor connect: it asks the other one (web/ask/wire.h), which checks each
 * question before it passes it on.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ASK_H
#define ZM_WEB_ASK_H

#include "web/ask/question.h"

struct event_base;

/* Ask over this socket (owned from now on); to be called once. */
void ask_open(struct event_base *base, int fd);
/* Is the other process there? */
bool ask_is_up(void);
/* What a page says when it is not. */
extern const char ask_down_words[];

/* Ask; fn is called once, from the loop, never from here, when the question
 * has its answer, at the latest shortly after ANSWER_MS.  The question must
 * stay until then. */
typedef void ask_fn(void *context);
void ask_begin(struct question *question, ask_fn *fn, void *context);

/* Call fn when a session has ended, with its secret. */
typedef void ask_over_fn(void *context, struct slice secret);
void ask_on_over(ask_over_fn *fn, void *context);

#endif
