/* queue.h - the mail in the scheduler, and what all folders need to work on it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_QUEUE_H
#define ZM_SCHEDULER_QUEUE_H

#include "io/loop.h"
#include "scheduler/jobs/table.h"
#include "scheduler/jobs/hearers.h"
#include "scheduler/plan/arrivals/arrivals.h"
#include "scheduler/plan/arrivals/objectives.h"
#include "scheduler/plan/orders.h"
#include "scheduler/plan/plan.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/thread.h"
#include "scheduler/plan/shaping/zone.h"

struct history;			/* journal/history.h */
struct sharing;			/* sharing/sharing.h */

struct queue {
	const struct conf *conf;	/* current; not ours */
	struct spool	*spool;
	struct loop	*loop;
	struct job_table jobs;
	struct hearers	 hearers;
	struct planner	 plan;
	struct thread_table threads;
	struct provider_table providers;
	struct warm_table warms;
	struct arrivals	 arrivals;
	struct objectives objectives;
	struct orders	 orders;
	const struct history *history;	/* NULL: none is kept */
	struct sharing	*sharing;	/* NULL: none are kept */
	struct timer	 orders_timer;
	int64_t		 started_ms;
	/* of the loop's thread: at the last turn's end; in one turn at most */
	int64_t		 cpu_us, longest_cpu_us;
	struct {
		uint64_t	jobs, rcpts, delivered, failed, deferred;
	} total;			/* since the start */
};

/* conf, spool and loop stay the caller's.  Reads the orders in force and what
 * was learned before; 0, or -1 with err. */
int queue_open(struct queue *queue, const struct conf *conf,
    struct spool *spool, struct loop *loop, struct err *err);
/* Frees the jobs, too; no agent may have one of them. */
void queue_close(struct queue *queue);

/* Orders have changed: drop what is over, tell all threads. */
void queue_orders(struct queue *queue);

/* Write what was learned about destinations into its file. */
void queue_write_shapes(struct queue *queue);
/* Write how long mail took to arrive into its file, without old records. */
void queue_write_arrivals(struct queue *queue);

/* Put every vertex of a new job where its records say: ready, or waiting. */
void queue_place(struct queue *queue, struct job *job);
/* The same for so many at most, from the vertex of index *at on (0 at first).
 * Returns whether all are placed. */
bool queue_place_some(struct queue *queue, struct job *job, size_t *at,
    size_t most);

/* The job will take longer than a client should wait (hearers.h); why says the
 * reason. */
void queue_tell_later(struct queue *queue, struct job *job,
    struct slice why);

/* Let a vertex wait until due_ms, or until it is owed a notice of delay if
 * that is earlier. */
void queue_wait(struct queue *queue, struct vertex *vertex, int64_t due_ms);

/* Forget and free a job of which nothing is in flight. */
void queue_drop(struct queue *queue, struct job *job);

/* May the thread's next vertex go?  False if its zone's share of the day is
 * used up: then ready mail moves to the overflow zone, or the thread is held
 * until tomorrow. */
bool queue_admits(struct queue *queue, struct thread *thread);

/* May this one go, which was taken for it?  False if its zone's share of the
 * day, which all nodes have together, is not enough for its recipients: it is
 * ready again, and the thread is held when no other fits. */
bool queue_fits(struct queue *queue, struct vertex *vertex);
/* It went. */
void queue_spend(struct queue *queue, const struct vertex *vertex);
/* Moments for allowance.h. */
struct allowance_now queue_now(const struct queue *queue);

/* Notices of delay whose time has come at that age: the clause's, and
 * DELIVERBY's. */
unsigned queue_notices_due(const struct job *job,
    const struct conf_schedule *clause, int64_t age_ms);
/* The same before there is a job: by_s as there. */
unsigned queue_notices_passed(uint32_t by_s,
    const struct conf_schedule *clause, int64_t age_ms);

#endif
