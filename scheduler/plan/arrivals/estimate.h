/* estimate.h - when a message will have arrived, and whether that came true
 *
 * By the spans of those that arrived lately (arrivals.h): within that time
 * nine of ten arrived that had waited as long as this one will have when it
 * may go again; more of them, where fewer estimates held than nine of ten.
 * What is in line before it, at the pace of the line, may make it later.  An
 * order that has no end makes it unknown; so does a host that nobody meets,
 * and, where too little has arrived there, that others wait for it.
 *
 * Every recipient gets an estimate when it is accepted, and whoever asks gets
 * a new one.  An estimate is judged when its recipient has the message: the
 * earliest moment that was said and had not passed.  One that has passed
 * when somebody asks again, or will have when the message is tried again, has
 * not held, and is counted at once.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ESTIMATE_H
#define ZM_SCHEDULER_ESTIMATE_H

#include "scheduler/plan/queue.h"

enum { ESTIMATE_PERCENT = 90 };

enum estimate_kind {
	ESTIMATE_KNOWN,
	ESTIMATE_FEW,		/* too few arrived that had waited so long */
	ESTIMATE_ORDER		/* not before somebody does something */
};
/* "known", "few", "order". */
extern const char *const estimate_names[];

struct estimate {
	enum estimate_kind kind;
	int64_t		 at_ms;		/* KNOWN: steady */
	const struct arrival *by;	/* KNOWN: whose spans it was; good
					 * until the next turn */
	bool		 is_own;	/* the destination's, not all of its
					 * channel */
};

/* Of a vertex that is not done. */
void estimate_vertex(const struct queue *queue, const struct vertex *vertex,
    int64_t now_ms, struct estimate *out);
/* Of a message that comes for the thread now. */
void estimate_thread(const struct queue *queue, const struct thread *thread,
    int64_t now_ms, struct estimate *out);

/* It was said; it will be judged. */
void estimate_promise(struct queue *queue, struct vertex *vertex,
    const struct estimate *estimate, int64_t now_ms);
/* It is not tried before due_ms (steady): what was said and is over by then
 * has not held.  Else a host whose deferred mail waits for hours would have
 * kept all that was judged of it. */
void estimate_waits(struct queue *queue, struct vertex *vertex,
    int64_t due_ms);
/* A recipient of the vertex has the message: counts its span, and judges
 * what was said. */
void estimate_arrived(struct queue *queue, const struct vertex *vertex,
    int64_t now_ms);

#endif
