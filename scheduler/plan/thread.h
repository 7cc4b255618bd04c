/* thread.h - threads by (channel, host), rings by (clause, channel)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_THREAD_H
#define ZM_SCHEDULER_THREAD_H

#include "base/str.h"
#include "scheduler/plan/ring.h"
#include "scheduler/plan/shaping/shape.h"

struct thread_table {
	struct thread	**buckets;	/* a power of two of chains */
	size_t		 size, count;
	struct ring_queue rings;
	struct shape_table shapes;	/* of threads that are gone; may be
					 * not open */
};

enum {
	THREAD_LIMIT_START = 5	/* agents that a new destination may have */
};

/* An empty table without rings. */
void thread_table_init(struct thread_table *table);
/* Free threads and rings; no vertex or agent may still use them. */
void thread_table_release(struct thread_table *table);

struct thread_way {		/* what tells threads apart */
	struct slice	channel, host, zone;	/* zone empty: none */
};

/* The thread of this destination; a new one is made, with its ring, by conf's
 * clause. */
struct thread *thread_get(struct thread_table *table,
    const struct conf *conf, struct thread_way way, int64_t now_ms);
/* The same, or NULL. */
struct thread *thread_find(const struct thread_table *table,
    struct thread_way way);

/* Set the vertex's thread; NULL: none, its job is about to be freed.  A thread
 * is kept as long as a vertex names it, even one that is done, because orders
 * need each recipient's destination. */
void thread_take_vertex(struct thread *thread, struct vertex *vertex);
/* The same for a recipient that is on its way into a vertex. */
void thread_name(struct thread *thread);
void thread_unname(struct thread *thread);
/* None of the job's vertices names a thread any more. */
void thread_forget_job(struct job *job);

/* Free threads that have had no work since before_ms and nothing on them.
 * Those that are held stay: they remember that a host is down. */
void thread_sweep(struct thread_table *table, int64_t before_ms);

/* The configuration was replaced: every thread joins its new ring; rings that
 * no longer exist become stale.  Counts of serving agents move along. */
void thread_rematch(struct thread_table *table, const struct conf *conf);

/* Free a stale ring if it has no agent left. */
void ring_release_stale(struct thread_table *table, struct ring *ring);

/* How many agents all rings of this ring's zone have. */
unsigned ring_zone_agents(const struct thread_table *table,
    const struct ring *ring);

/* Walk all threads: *bucket from 0, *thread from NULL; false at the end. */
bool thread_next(const struct thread_table *table, size_t *bucket,
    struct thread **thread);

/* A walk in pieces.  A thread that stays in the table is visited once, whatever
 * is added or removed between the pieces: the table only grows, by doubling,
 * and the chains into which a chain was split are walked as one. */
struct thread_walk {
	size_t		 size, bucket;	/* size: of the table, at first */
	struct thread	*at;		/* good until the piece is over */
	bool		 is_over;
};

/* Begin a walk over all threads of the table. */
void thread_walk_init(struct thread_walk *walk,
    const struct thread_table *table);
/* The next thread.  budget: how many chains to look at; it is reduced, and may
 * be set to 0 to end the piece.  NULL: the walk is over, or budget is 0 and the
 * current chain has ended, where alone a piece may end. */
struct thread *thread_walk_next(struct thread_walk *walk,
    const struct thread_table *table, unsigned *budget);

#endif
