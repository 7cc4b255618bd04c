/* plan.h - who is next, and when
 *
 * Pure: no descriptor, no address, no clock; moments are arguments.  Every
 * move of a vertex between its states goes through here, so the counts in
 * threads and jobs are right whatever the order of events.
 *
 *	IDLE --ready--> READY --take--> FLIGHT --ready|wait|done--> ...
 *	IDLE --wait---> WAIT  --due---> IDLE
 *	IDLE, FLIGHT --park--> PARKED
 *	any of IDLE, WAIT, READY, FLIGHT, PARKED --forget--> IDLE
 *
 * The ready vertices of a suspended thread stay where they are, too; a
 * pinned one has the operator's limit instead of the learned one.
 * A thread whose host nobody can reach is held: its ready vertices stay
 * where they are, none is fed; when the hold ends one vertex is fed as a
 * probe, and one success opens everything at once.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_PLAN_H
#define ZM_SCHEDULER_PLAN_H

#include "scheduler/plan/lanes.h"
#include "scheduler/plan/shaping/pace.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/ring.h"

struct planner {
	struct plan_heap due;	/* vertices in WAIT */
	struct plan_heap held;	/* threads whose host is down */
	struct plan_heap paced;	/* threads that went as fast as they may */
	struct flow_table flows;	/* of ready vertices */
	size_t		 ready_count, flight_count;
	size_t		 open_jobs;	/* see plan_job_begin */
	uint64_t	 taken_count;	/* since the start */
	bool		 is_asking;	/* the script is asked before a try:
					 * who is taken and not allowed was
					 * not tried */
};

/* An empty plan; plan_release frees what it allocated. */
void plan_init(struct planner *plan);
void plan_release(struct planner *plan);

/* One more needs the job's files (its flight_count): a vertex at an agent, or
 * the writer of its report; one less.  plan_take and the moves call them for
 * vertices. */
void plan_job_begin(struct planner *plan, struct job *job);
void plan_job_end(struct planner *plan, struct job *job);

/* The moves.  A vertex in a state from which the move cannot start is a panic.
 * plan_take gives the vertex whose turn it is, NULL if the thread has none, is
 * held or has to pause; the caller puts it into its agent's queue, and takes it
 * out before any move that ends FLIGHT. */
void plan_ready(struct planner *plan, struct vertex *vertex);
void plan_wait(struct planner *plan, struct vertex *vertex, int64_t due_ms);
void plan_park(struct planner *plan, struct vertex *vertex);
struct vertex *plan_take(struct planner *plan, struct thread *thread,
    int64_t now_ms);
void plan_done(struct planner *plan, struct vertex *vertex);
void plan_forget(struct planner *plan, struct vertex *vertex);

/* Take a vertex whose time has come, which is IDLE then; NULL: none yet. */
struct vertex *plan_due(struct planner *plan, int64_t now_ms);
/* Take a thread whose hold is over, which is open for a probe then; NULL: none
 * yet. */
struct thread *plan_unhold(struct planner *plan, int64_t now_ms);
/* Take a thread whose pause is over, which is open then; NULL: none yet. */
struct thread *plan_unpace(struct planner *plan, int64_t now_ms);
/* Clauses have changed: no thread waits longer than its new rate requires. */
void plan_repace(struct planner *plan, int64_t now_ms);
/* The moment of the next of all these; INT64_MAX: never. */
int64_t plan_next_ms(const struct planner *plan);

/* The host served an attempt that began at begun_ms: more sessions are allowed
 * (pace.h); a hold ends and every ready vertex may go. */
void plan_success(struct planner *plan, struct thread *thread, int64_t begun_ms,
    int64_t now_ms);

enum plan_trouble {
	PLAN_TROUBLE_OLD,	/* it is held already */
	PLAN_TROUBLE_LESS,	/* others are served: fewer sessions */
	PLAN_TROUBLE_DOWN	/* one session, held for delay_ms */
};
/* The host served nobody in an attempt that began at begun_ms. */
enum plan_trouble plan_trouble(struct planner *plan, struct thread *thread,
    int64_t begun_ms, int64_t now_ms, int64_t delay_ms);

/* An agent begins or stops working for the thread: counts it, for its provider,
 * too, and releases threads that waited for the provider. */
void plan_serve(struct thread *thread);
void plan_leave(struct thread *thread);
/* An agent says which provider's hosts take the thread's mail: its sessions now
 * count there, and no longer for its old provider. */
void plan_join(struct provider_table *providers, struct thread *thread,
    struct slice name);
/* Move the thread from its ring's queue into that of another ring; the caller
 * sets thread->ring.  It no longer waits for its provider. */
void plan_move(struct thread *thread, struct ring *to);
/* The provider's sessions are all taken: remove the thread from the ring's
 * queue until one ends. */
void plan_block(struct thread *thread);
/* Send nothing to this host until then, whatever answers come in; an existing
 * hold is extended, never shortened. */
void plan_hold(struct planner *plan, struct thread *thread, int64_t until_ms);
/* The operator says: try now.  If that fails, the hold is not extended. */
void plan_wake(struct planner *plan, struct thread *thread);
/* The same where the domain's TLS policy keeps other mail back, if mail with
 * JOB_TLS_OPTIONAL is ready: plan_take gives that first. */
void plan_wake_optional(struct planner *plan, struct thread *thread);
/* The same at a later moment: a hold that lasts longer ends then.  True: it
 * would have lasted longer. */
bool plan_wake_at(struct planner *plan, struct thread *thread, int64_t at_ms);
/* The operator suspends this destination, or resumes it. */
void plan_suspend(struct thread *thread, bool is_suspended);

/* How many sessions the thread may have: as learned or ordered; one while a
 * trouble is not over. */
unsigned plan_sessions(const struct thread *thread);

enum plan_step {
	PLAN_NOTHING,	/* nothing to feed, or nobody who may take it */
	PLAN_IDLE,	/* give one vertex to an idle agent */
	PLAN_START,	/* start an agent and give it one */
	PLAN_BLOCK,	/* its provider has no session left */
	PLAN_MORE	/* give more to the agents that serve it already */
};
/* What to do for a thread.  has_idle: its ring has an idle agent; may_start:
 * the limits allow another one; is_starving: another thread of the ring waits
 * for an agent, so nobody is fed ahead. */
enum plan_step plan_step(const struct thread *thread, bool has_idle,
    bool may_start, bool is_starving);

/* Does a destination of the queue have work, and may it have an agent, without
 * having one? */
bool plan_starves(const struct thread_queue *queue);
/* Has the ring anything to feed? */
bool plan_has_work(const struct ring *ring);

/* How many jobs each agent of the thread should have: an even share, at most
 * the clause's overfeed, but one during a probe or if all mail is bulk, because
 * jobs queued after bulk keep the agent from other destinations. */
unsigned plan_share(const struct thread *thread);

#endif
