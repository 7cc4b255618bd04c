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

#include "scheduler/sharing/moves.h"

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

struct sharing_kind {
	/* The list of what others have taken has come: remove those
	 * (sharing_taken_by), then sharing_taken_done. */
	void			(*taken)(void *context);
	struct moves_kind	 moves;
};

/* Connect, and ask for a lease; where conf keeps no copies: NULL.  kind is
 * borrowed. */
struct sharing *sharing_new(struct queue *queue,
    const struct sharing_kind *kind, void *context);
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
/* The same of a file that came here after the list: SHARING_UNKNOWN, it may
 * have come back; share is asked, and moves_kind.known called. */
enum sharing_fate { SHARING_OURS, SHARING_THEIRS, SHARING_UNKNOWN };
enum sharing_fate sharing_fate_of(struct sharing *sharing, ino_t inode,
    const char *id);
/* All that others have is gone from the queue. */
void sharing_taken_done(struct sharing *sharing);

/* ---- to another node, by an order; sharing is not NULL here -------------- */

/* A new order to move messages to node.  NULL: err. */
struct move_order *sharing_move_begin(struct sharing *sharing,
    const char *node, struct err *err);
/* That order; NULL: it is forgotten. */
struct move_order *sharing_move_order(struct sharing *sharing,
    uint64_t number);
/* Where a job goes, and since when (wall); NULL: it does not move. */
const struct move_order *sharing_move_of(struct sharing *sharing,
    const struct job *job, int64_t *out_since_s);
enum sharing_moved {
	SHARING_MOVES,		/* from now on */
	SHARING_BUSY,		/* somebody has it in hand */
	SHARING_TOO_LARGE	/* for a copy */
};
enum sharing_moved sharing_move(struct sharing *sharing, struct job *job,
    struct move_order *order);
/* It shall stay; why is for the journal.  The job may be freed. */
void sharing_move_back(struct sharing *sharing, struct job *job,
    const char *why);
/* All that moves goes on here, whatever was offered: another database is to
 * count.  NULL is harmless. */
void sharing_move_none(struct sharing *sharing, const char *why);
struct moves *sharing_moves(struct sharing *sharing);

#endif
