/* questions.h - every question comes here, and leaves with its answer
 *
 * Bounds: QUESTIONS_FLIGHTS_MAX questions that libunbound is at; one more hears
 * SERVFAIL, and so does who waited for QUESTIONS_PATIENCE_MS.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_RESOLVER_SERVE_QUESTIONS_H
#define ZM_RESOLVER_SERVE_QUESTIONS_H

#include "resolver/serve/tally.h"
#include "resolver/unbound/lookup.h"

enum {
	QUESTIONS_FLIGHTS_MAX = 1024,
	QUESTIONS_PATIENCE_MS = 2800	/* less than DNS_TRY_MS of who asks */
};

struct questions;

/* Called once: bytes is a packet of the DNS. */
typedef void questions_answer_fn(void *context, struct slice bytes);

/* A question under way. */
struct unanswered;

/* lookups stays the caller's. */
struct questions *questions_new(struct loop *loop, struct lookups *lookups);

/* Take a packet.  fn is called with what goes back, at once (NULL is returned
 * then) or later; never for what is no question.  room: of an answer, beyond
 * which it is cut; 0: what the question says.  *out_is_taken (may be NULL):
 * false when it is no question at all. */
struct unanswered *questions_ask(struct questions *questions,
    struct slice packet, size_t room, questions_answer_fn *fn,
    void *context, bool *out_is_taken);

/* Who asked is gone; NULL is harmless. */
void questions_forget(struct unanswered **wait);

/* Nobody waits for an answer any more: call fn, now or then, once. */
void questions_when_empty(struct questions *questions, loop_fn *fn,
    void *context);

/* After lookups_free. */
void questions_free(struct questions **questions);

#endif
