/* plan.h - who is next, and when
 *
 * Pure: no descriptor, no address, no clock; moments are arguments.  Every
 * move of a vertex between its states goes through here, so the counts in
 * threads and jobs are right whatever the order of events.
 *
 *	IDLE --ready--> READY --take--> FLIGHT --ready|wait|done--> ...
 *	IDLE --wait---> WAIT  --due---> IDLE
 *	any of IDLE, WAIT, READY, FLIGHT --forget--> IDLE
 *
 * A thread whose host nobody can reach is held: its ready vertices stay
 * where they are, none is fed; when the hold ends one vertex is fed as a
 * probe, and one success opens everything at once.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_PLAN_H
#define ZM_SCHEDULER_PLAN_H

#include "scheduler/queue.h"

enum {
	THREAD_LIMIT_REOPEN = 5	/* agents one success after trouble allows */
};

struct plan_slot {
	int64_t	 at_ms;
	void	*object;
};
struct plan_heap {
	struct plan_slot *slots;
	size_t		  count, room;
	bool		  has_threads;	/* else vertices */
};

struct plan {
	struct plan_heap due;	/* vertices in WAIT */
	struct plan_heap held;	/* threads */
	size_t		 ready_count, flight_count;
};

void plan_init(struct plan *plan);
void plan_release(struct plan *plan);

/* The moves.  A vertex in a state that the move does not start from is a
 * panic.  plan_take gives the head of the thread's queue, NULL when the
 * thread has none or is held; the caller puts it into its agent's queue,
 * and takes it out before any move that ends FLIGHT. */
void plan_ready(struct plan *plan, struct vertex *vertex);
void plan_wait(struct plan *plan, struct vertex *vertex, int64_t due_ms);
struct vertex *plan_take(struct plan *plan, struct thread *thread,
    int64_t now_ms);
void plan_done(struct plan *plan, struct vertex *vertex);
void plan_forget(struct plan *plan, struct vertex *vertex);

/* A vertex whose time has come, now IDLE; NULL: none yet. */
struct vertex *plan_due(struct plan *plan, int64_t now_ms);
/* A thread whose hold is over, now open for a probe; NULL: none yet. */
struct thread *plan_unhold(struct plan *plan, int64_t now_ms);
/* When the next of both will be; INT64_MAX: never. */
int64_t plan_next_ms(const struct plan *plan);

/* Somebody at the host was served: one more agent may serve it; a hold ends
 * and every ready vertex may go. */
void plan_success(struct plan *plan, struct thread *thread);
/* Nobody could be served: back to one agent, held for delay_ms.  Answers
 * of attempts that began before the hold change nothing.  True when the
 * hold is new. */
bool plan_trouble(struct plan *plan, struct thread *thread, int64_t now_ms,
    int64_t delay_ms);
/* Nothing to this host until then, whatever answers come in; a hold that is
 * there is made longer, never shorter. */
void plan_hold(struct plan *plan, struct thread *thread, int64_t until_ms);
/* The operator says: try now. */
void plan_wake(struct plan *plan, struct thread *thread);

enum plan_step {
	PLAN_NOTHING,	/* nothing to feed, or nobody who may take it */
	PLAN_IDLE,	/* give one vertex to an idle agent */
	PLAN_START,	/* start an agent and give it one */
	PLAN_MORE	/* give more to the agents that serve it already */
};
/* What to do for a thread.  has_idle: its ring has an idle agent; may_start:
 * the limits allow one more; is_starving: another thread of the ring waits
 * for an agent, so nobody is fed ahead. */
enum plan_step plan_step(const struct thread *thread, bool has_idle,
    bool may_start, bool is_starving);

/* Jobs that each agent serving the thread should have: an even share, at
 * most the clause's overfeed, one while it is a probe. */
unsigned plan_share(const struct thread *thread);

#endif
