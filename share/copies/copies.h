/* copies.h - copies of accepted mail in the PostgreSQL of the cluster
 *
 * Questions (copying.h) are answered by what one connection says.  Copies that
 * are asked while a transaction is under way are the next one, up to a bound.
 * When the database does not answer within COPIES_PATIENCE_MS the connection is
 * given up, all that wait are answered "away" at once, and it is tried again.
 * Nothing is kept for later.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_COPIES_H
#define ZM_SHARE_COPIES_COPIES_H

#include "daemon/skeleton.h"
#include "share/copies/copying.h"
#include "share/copies/goal.h"

struct copies;
struct copies_wait;

/* The lines of an answer, each with its LF and without the token, the last one
 * begins with "ok".  Called once, in the loop or before copies_ask returns. */
typedef void copies_answer_fn(void *context, struct slice lines);

/* What is borrowed must outlive it. */
struct copies *copies_new(struct process *process,
    const struct copies_goal *goal);
/* Waits are not answered; their descriptors are closed. */
void copies_free(struct copies **copies);

/* Ask.  Takes the descriptors, as many as copying_descriptors says, in each
 * case.  returns the wait until fn is called; NULL: it was called already. */
struct copies_wait *copies_ask(struct copies *copies,
    const struct copying *question, const int *fds, copies_answer_fn *fn,
    void *context);

/* Answer the lines of a status: "copies ...", "owner ..." each, and "ok".
 * returns as copies_ask. */
struct copies_wait *copies_ask_status(struct copies *copies,
    copies_answer_fn *fn, void *context);

/* Nobody waits for it any more; NULL is harmless; nulls *wait. */
void copies_forget(struct copies_wait **wait);

#endif
