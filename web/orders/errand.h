/* errand.h - pass questions on to a verb or to the scheduler
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ERRAND_H
#define ZM_WEB_ERRAND_H

#include "web/ask/question.h"

struct event_base;

struct asker {			/* what is asked; the strings are borrowed */
	struct event_base *base;
	const char	*zmailer;	/* the program of the verbs */
	const char	*conf_path;	/* its -C, or NULL */
	const char	*run_dir;	/* where scheduler.sock is */
};

/* Ask in the name of who (NULL, "": of the user who runs us); fn is called
 * once, from the loop, never from here, when the question has its answer, after
 * at most ANSWER_MS.  The question must stay until then. */
typedef void errand_fn(void *context);
void errand_begin(const struct asker *asker, struct question *question,
    const char *who, errand_fn *fn, void *context);

/* Watch for the end of children; to be called once, before the first
 * question. */
void errand_open(struct event_base *base);
/* End all verbs that run; their fn is not called. */
void errand_end_all(void);

#endif
