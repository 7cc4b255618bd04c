/* ask.h - questions under way, beside an event loop
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ASK_H
#define ZM_WEB_ASK_H

#include "web/ask/question.h"

struct event_base;

struct asker {			/* who is asked; the strings are the caller's */
	struct event_base *base;
	const char	*zmailer;	/* the program of the verbs */
	const char	*conf_path;	/* its -C, or NULL */
	const char	*run_dir;	/* where scheduler.sock is */
};

/* Ask; fn is called once, from the loop, never from here, when the question
 * has its answer.  It takes ANSWER_MS at the most.  The question stays where
 * it is until then. */
typedef void ask_fn(void *context);
void ask_begin(const struct asker *asker, struct question *question,
    ask_fn *fn, void *context);

/* Children that ended: once, before the first question. */
void ask_open(struct event_base *base);

#endif
