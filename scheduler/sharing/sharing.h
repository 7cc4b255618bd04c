/* sharing.h - the scheduler's side of the copies on other machines
 *
 * Where the cluster keeps copies (`cluster ... postgres`), the process share is
 * told which messages are done (row F1) and how those stay that were tried, and
 * asked for the lease: without it nothing new is given to agents, because
 * another node may have taken our mail over.  doc/protocol/share.md, section 4.
 *
 * A lease counts from before the question.  Of another epoch than before it
 * counts when the list of what others have taken is here, and those messages
 * are gone from the queue.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SHARING_SHARING_H
#define ZM_SCHEDULER_SHARING_SHARING_H

#include "scheduler/plan/queue.h"

enum {
	SHARING_TICK_MS = 1000,		/* connect, ask, tell what waits */
	SHARING_LEASE_EVERY_MS = 2000,
	SHARING_DONE_IDS = 100,		/* in a line */
	SHARING_DONE_BYTES_MAX = 8 << 20,	/* that wait; what does not fit
					 * is left to `zmailer cluster
					 * sweep` */
	SHARING_KEEPING_MAX = 32	/* messages under way at a time */
};

struct sharing;

/* Connect, and ask for a lease; where conf keeps no copies: NULL.
 * taken_fn(context): the list of what others have taken has come; remove those
 * (sharing_taken_by), then sharing_taken_done. */
struct sharing *sharing_new(struct queue *queue, loop_fn *taken_fn,
    void *context);
/* Is it what conf asks for: nothing, or this node of this cluster, with this
 * database?  Else epoch and list are of another, and it has to be made anew. */
bool sharing_fits(const struct sharing *sharing, const struct conf *conf);
/* Tell what can be told at once, and free it.  NULL is harmless. */
void sharing_free(struct sharing **sharing);

/* In all that follows NULL is harmless. */

/* The message is done, or deleted: it needs no copy. */
void sharing_note_done(struct sharing *sharing, const char *id);
/* The message stays, and its control file has new records. */
void sharing_note_kept(struct sharing *sharing, const struct job *job);

/* May mail be given to agents?  NULL: always. */
bool sharing_may_deliver(const struct sharing *sharing);
/* Why not. */
const char *sharing_why(const struct sharing *sharing);

/* The node that has taken the message over; NULL: none. */
const char *sharing_taken_by(const struct sharing *sharing, const char *id);
/* All that others have is gone from the queue. */
void sharing_taken_done(struct sharing *sharing);

#endif
