/* ask.h - questions under way at the process that orders, beside an event loop
 *
 * The process that serves the net may neither open files, nor run programs,
 * nor connect: it asks the other one (web/ask/wire.h), which looks at each
 * question before it carries it on.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ASK_H
#define ZM_WEB_ASK_H

#include "web/ask/question.h"

struct event_base;

/* Ask over this socket (taken) from now on; once. */
void ask_open(struct event_base *base, int fd);
/* Is anybody there who answers? */
bool ask_is_up(void);
/* What a page says when nobody is. */
extern const char ask_down_words[];

/* Ask; fn is called once, from the loop, never from here, when the question
 * has its answer.  It takes ANSWER_MS at the most, and a little.  The question
 * stays where it is until then. */
typedef void ask_fn(void *context);
void ask_begin(struct question *question, ask_fn *fn, void *context);

/* fn is called when a session is over: its secret. */
typedef void ask_over_fn(void *context, struct slice secret);
void ask_on_over(ask_over_fn *fn, void *context);

#endif
