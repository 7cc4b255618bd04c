/* ring.h - what mail waits for: destinations, and the agents that serve them
 *
 * thread   all vertices of one (channel, host)
 * ring     all threads of one (clause, channel): they share agents
 *
 * A thread lives as long as it has vertices or a memory worth keeping; a ring
 * until a reload.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_RING_H
#define ZM_SCHEDULER_RING_H

#include "conf/conf.h"
#include "scheduler/jobs/job.h"

enum lane {
	LANE_URGENT,		/* its sender asked for priority */
	LANE_NORMAL,
	LANE_BULK,		/* less than normal, or one of many */
	LANES
};
struct flow;			/* lanes.h */
TAILQ_HEAD(flow_queue, flow);
struct lanes {			/* a thread's ready vertices */
	struct flow_queue flows[LANES];
	unsigned	 count[LANES];
	unsigned	 tls_optional;	/* of all: jobs with that flag */
	int8_t		 credit[LANES];
};

struct pace {			/* pace.h: what a destination can take */
	unsigned	 threshold;	/* above it sessions grow slowly */
	unsigned	 credit;	/* successes since the last growth */
	unsigned	 failures;	/* in a row, while others succeeded */
	unsigned	 step_good;	/* successes of this step */
	unsigned	 step_limit;	/* sessions before it */
	int64_t		 step_ms;	/* what begins from then on counts;
					 * 0: not all have come to work */
	int64_t		 step_took_ms;	/* the sum of what they took */
	int64_t		 step_rate;	/* successes in 1000 s before it */
	int64_t		 vain_ms;	/* the last one brought nothing */
	int64_t		 vain_wait_ms;	/* and none is tried for so long */
	int64_t		 good_ms;	/* last success; 0: none, or down */
	int64_t		 reduced_ms, slowed_ms;	/* last change downwards */
	int64_t		 eased_ms;	/* last step of slow_us's way back */
	int64_t		 slow_us;	/* pause between messages, learned */
	int64_t		 free_us;	/* the next one fits the rate then */
	int64_t		 taken_us, gap_us;	/* last one, mean pause */
};

struct ring;
struct provider;		/* provider.h */

struct thread {
	struct ring	*ring;
	struct provider	*provider;	/* who shares its MX; NULL: unknown */
	struct thread	*hash_next;
	const char	*channel, *host, *zone;	/* after the struct; zone ""
						 * is none */
	uint32_t	 hash;
	struct lanes	 lanes;		/* ready */
	unsigned	 ready_count, wait_count, flight_count, parked_count;
	unsigned	 named;		/* vertices of any state with it */
	unsigned	 serving;	/* agents with work of this thread */
	unsigned	 limit;		/* agents allowed now: feedback */
	unsigned	 pin;		/* an operator's limit; 0: none */
	unsigned	 orders_seen;	/* generation of orders.h */
	bool		 is_suspended;	/* by an operator */
	struct pace	 pace;
	int64_t		 paced_ms;	/* too fast until then; 0: no */
	uint32_t	 pace_index;
	unsigned	 trouble_count;	/* attempts in a row that nobody met */
	int64_t		 trouble_ms;	/* the first of them */
	int64_t		 wake_ms;	/* held until then; 0: not held */
	int64_t		 warming_ms;	/* its zone's plan of today holds it
					 * since then; 0: it does not */
	int64_t		 planned_ms;	/* it would have waited so long, but
					 * an order has it probed; 0: not */
	int64_t		 used_ms;	/* last time it had work */
	uint32_t	 heap_index;
	bool		 is_runnable;	/* in one of its ring's queues */
	bool		 is_quick;	/* in which: not only bulk is ready */
	bool		 is_blocked;	/* in its provider's queue instead */
	bool		 is_firm;	/* a success does not end the hold */
	bool		 is_by_tls;	/* the trouble: its TLS is not what a
					 * policy asks for */
	TAILQ_ENTRY(thread) run_entry;
	char		*reason;	/* its last words about itself: trouble,
					 * or that we are too much; or NULL */
};
TAILQ_HEAD(thread_queue, thread);

struct agent;
TAILQ_HEAD(agent_queue, agent);

struct ring {
	TAILQ_ENTRY(ring) entry;
	struct conf_schedule clause;	/* numbers; its pointers are unused */
	unsigned	 clause_index;
	const char	*channel, *zone;	/* after the struct */
	unsigned	 zone_agents;	/* of all rings of the zone; 0: any */
	struct thread_queue runnable;	/* ready work, not held */
	struct thread_queue bulk;	/* the same, nothing but bulk */
	unsigned	 runnable_count, bulk_count;	/* of each */
	unsigned	 quick_due;	/* slots to others before bulk, which
					 * has none, gets one */
	bool		 has_bulk;	/* an agent of the ring works for it */
	unsigned	 thread_count;
	struct agent_queue idle, busy;	/* idle: most recently used first */
	unsigned	 agent_count;
	unsigned	 start_failures;	/* agents in a row: unborn */
	int64_t		 start_after_ms;
	unsigned	 standby_failures;	/* in a row: no connection */
	int64_t		 standby_at_ms;	/* none is opened before */
	bool		 is_stale;	/* of a configuration that is gone */
};
TAILQ_HEAD(ring_queue, ring);

/* Is its trouble a TLS policy, so that jobs with JOB_TLS_OPTIONAL may still be
 * served? */
static inline bool
thread_spares_optional(const struct thread *thread)
{
	return thread->trouble_count > 0 && thread->is_by_tls;
}

/* At which age, in seconds, the vertex is given up. */
static inline int64_t
vertex_expire_s(const struct vertex *vertex)
{
	return vertex->expire_s > 0 ? vertex->expire_s :
	    vertex->thread->ring->clause.expire_s;
}

#endif
