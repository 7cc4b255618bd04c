/* estimate.h - when a message will have arrived, and whether that came true
 *
 * An estimate is the time within which nine of ten recent messages arrived
 * (arrivals.h) that had waited as long as this one will have when it may go
 * again; more than nine, where fewer estimates than nine of ten held.  The mail
 * in line before it, at the pace of the line, may make it later.  It is unknown
 * under an order without an end, and for a host that serves nobody; also if too
 * little has arrived there and others wait for it.
 *
 * Every recipient gets an estimate when it is accepted, and whoever asks gets
 * a new one.  When its recipient has the message, the earliest estimate that
 * was given and had not passed is judged.  One that has passed when somebody
 * asks again, or will have when the message is tried again, counts as missed at
 * once.
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

/* Estimate for a vertex that is not done. */
void estimate_vertex(const struct queue *queue, const struct vertex *vertex,
    int64_t now_ms, struct estimate *out);
/* Estimate for a message that comes for the thread now. */
void estimate_thread(const struct queue *queue, const struct thread *thread,
    int64_t now_ms, struct estimate *out);

/* The estimate was given to somebody, and will be judged. */
void estimate_promise(struct queue *queue, struct vertex *vertex,
    const struct estimate *estimate, int64_t now_ms);
/* The vertex is not tried before due_ms (steady): an estimate that passes
 * before then counts as missed.  Otherwise all judged estimates of a host whose
 * deferred mail waits for hours would have held. */
void estimate_waits(struct queue *queue, struct vertex *vertex,
    int64_t due_ms);
/* A recipient of the vertex has the message: count its span, and judge its
 * estimate. */
void estimate_arrived(struct queue *queue, const struct vertex *vertex,
    int64_t now_ms);

#endif
