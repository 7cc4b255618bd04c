/* lanes.h - which of a destination's ready mail goes next
 *
 * Three lanes a thread: urgent (the sender asked for priority), normal, bulk
 * (less than normal, or one of many recipients); where they compete, of
 * thirteen turns eight, four and one go to each.  In a lane every source has
 * a flow, and flows take turns; a vertex of many recipients costs several.
 * In a flow: first come, first served, or the oldest message first.
 *
 * Pure: no clock, no descriptor.  A flow lives while it has a vertex.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_LANES_H
#define ZM_SCHEDULER_LANES_H

#include "scheduler/plan/heap.h"
#include "scheduler/plan/ring.h"

enum {
	LANE_COST_RCPTS = 10,	/* recipients that cost as much as a turn */
	VERTEX_SHARED = 0x80	/* bit of vertex.lane: its source has a flow
				 * of its own */
};

struct flow {
	struct flow	*hash_next;
	struct thread	*thread;
	TAILQ_ENTRY(flow) entry;	/* its lane's turns */
	uint32_t	 source;
	uint8_t		 lane;
	bool		 is_by_age;
	unsigned	 count, turns;	/* turns saved up */
	struct vertex_queue queue;	/* by arrival */
	struct plan_heap aged;		/* or by age */
};

struct flow_table {		/* by (thread, lane, source) */
	struct flow	**buckets;	/* NULL or a power of two */
	size_t		 size, count;
};

/* Empty lanes. */
void lanes_init(struct lanes *lanes);
/* Free the table and its flows. */
void flow_table_release(struct flow_table *table);

/* Add a vertex that is in no lane to its thread's lanes. */
void lanes_add(struct flow_table *table, struct vertex *vertex);
/* It leaves. */
void lanes_remove(struct flow_table *table, struct vertex *vertex);
/* The vertex whose turn it is; the caller must remove it.  NULL: none is
 * ready. */
struct vertex *lanes_pick(struct thread *thread);
/* A vertex whose job has JOB_TLS_OPTIONAL, out of turn; the caller must remove
 * it.  NULL: none is ready.  Looks at all ready ones. */
struct vertex *lanes_pick_optional(const struct thread *thread);
/* All that are ready, in any order; out has room for ready_count. */
void lanes_list(const struct thread *thread, struct vertex **out);

/* Is it of a message to many, or of low priority, where these go last? */
static inline bool
vertex_is_bulk(const struct vertex *vertex)
{
	return vertex->lane == (LANE_BULK | VERTEX_SHARED);
}

/* Whether something else than bulk is ready. */
static inline bool
lanes_have_quick(const struct thread *thread)
{
	return thread->lanes.count[LANE_URGENT] > 0 ||
	    thread->lanes.count[LANE_NORMAL] > 0;
}

#endif
