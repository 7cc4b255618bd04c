/* queue.h - what the scheduler remembers of the mail that waits
 *
 * job      a control file; remembers offsets, never an address
 * vertex   up to VERTEX_RCPTS_MAX recipients of a job that go one way: what
 *          an agent is given at a time
 * thread   all vertices of one (channel, host)
 * ring     all threads of one (clause, channel): they share agents
 *
 * Life: a job is one block (job, vertices, recipients) made by the intake
 * and freed when its files are gone; a thread lives as long as it has
 * vertices or a memory worth keeping; a ring until a reload.
 * A vertex is in one state and in one place: WAIT in the plan's heap, READY
 * in its thread's queue, FLIGHT in an agent's queue, else nowhere (PARKED
 * ones are counted by their thread).
 * All moments are clock_steady_ms.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_QUEUE_H
#define ZM_SCHEDULER_QUEUE_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "conf/conf.h"
#include "mail/spool/spool.h"

enum {
	VERTEX_RCPTS_MAX = 100,	/* more: more vertices, agents in parallel */
	HEAP_NONE = 0xffffffff,	/* heap_index of what is in no heap */
	NOTICES_NONE = 255
};

enum vertex_state {
	VERTEX_IDLE,		/* new, or set aside until its job is reread */
	VERTEX_WAIT,		/* until moment_ms */
	VERTEX_READY,		/* for an agent */
	VERTEX_FLIGHT,		/* at an agent */
	VERTEX_DONE,		/* every recipient is final */
	VERTEX_PARKED		/* held or frozen, without an end in sight */
};

enum vertex_park {		/* what an order keeps it for */
	PARK_NONE,
	PARK_HELD,		/* PARKED; or WAIT: the hold has an end */
	PARK_FROZEN,		/* PARKED */
	PARK_FUTURE,		/* WAIT: the sender asked for later */
	PARK_SCHEDULED		/* WAIT: an operator said when */
};

enum rcpt_flags {
	RCPT_FINAL = 1,
	RCPT_ANSWERED = 2,	/* in the attempt that runs */
	RCPT_ENDED = 4,		/* by a rule: the reporter makes it final */
	RCPT_RESENT = 8		/* is about to become another message's */
};

struct rcpt {
	uint32_t	offset;		/* of its r line */
	uint8_t		flags;		/* enum rcpt_flags */
	uint8_t		notify;		/* enum dsn_notify bits */
};

struct job;
struct thread;

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
	int8_t		 credit[LANES];
};

struct pace {			/* pace.h: what a destination can take */
	unsigned	 threshold;	/* above it sessions grow slowly */
	unsigned	 credit;	/* successes since the last growth */
	unsigned	 failures;	/* in a row, while others succeeded */
	int64_t		 good_ms;	/* last success; 0: none, or down */
	int64_t		 reduced_ms, slowed_ms;	/* last change downwards */
	int64_t		 eased_ms;	/* last step of slow_us's way back */
	int64_t		 slow_us;	/* pause between messages, learned */
	int64_t		 free_us;	/* the next one fits the rate then */
	int64_t		 taken_us, gap_us;	/* last one, mean pause */
};

struct vertex {
	struct job	*job;
	struct thread	*thread;
	TAILQ_ENTRY(vertex) entry;	/* thread's ready or agent's queue */
	int64_t		 moment_ms;	/* WAIT: due; FLIGHT: given at */
	int64_t		 next_ms;	/* FLIGHT: earliest retry asked for;
					 * WAIT: the retry behind a notice of
					 * delay; else 0 */
	uint32_t	 heap_index;
	uint32_t	 sender_offset, header_offset;
	uint32_t	 rcpt_first;	/* index in the job's array */
	uint16_t	 rcpt_count, final_count, unanswered;
	uint16_t	 tries;
	uint32_t	 expire_s;	/* given up at this age; 0: as the
					 * clause says */
	uint8_t		 state;		/* enum vertex_state */
	uint8_t		 lane;		/* READY: lanes.h */
	uint8_t		 park;		/* enum vertex_park */
	bool		 is_strict;	/* expire_s even when never tried */
	bool		 was_tried;	/* since this process knows it */
	uint8_t		 notices;	/* delay notices sent or passed over;
					 * NOTICES_NONE: none is owed */
	bool		 is_expired;	/* IDLE, until the reporter saw to it */
	bool		 has_ended;	/* the same, for some of its rcpts */
	bool		 met_trouble;	/* FLIGHT: an answer said deferall */
	bool		 has_ways;	/* its recipients have ways left */
	bool		 has_moved;	/* and one of them took the next */
};
TAILQ_HEAD(vertex_queue, vertex);

enum job_flags {
	JOB_OWES = 1,		/* has final recipients not yet reported */
	JOB_RELOAD = 2,		/* reread when nothing of it is in flight */
	JOB_NOTICE = 4,		/* a notice of delay is due */
	JOB_TRASH = 8,		/* somebody was cancelled: ends in trash/ */
	JOB_WRITING = 16	/* its report is being written */
};

/* Who else holds a pointer to a job: one list each, all in the job_table.
 * Beside them only plan and agents do (by its vertices), which job_free
 * checks; nobody else keeps a pointer longer than a call.  From JOB_OWING on
 * they are stages of a job's end: it is in one of these at most, and who puts
 * it into one takes it out of the other. */
enum job_list_name {
	JOB_FRESH,		/* descriptors are open since the intake */
	JOB_DIRTY,		/* has records that are not durable yet */
	JOB_OWING,		/* owes a report, others may still fail */
	JOB_REPORT,		/* a report or its end is to be written */
	JOB_FINISHED,		/* body unlinked, waits for the barrier */
	JOB_ENDING,		/* the barrier is under way, or passed */
	JOB_LISTS
};

enum { JOB_PLACES = JOB_OWING + 1 };	/* the stages share the last one */

struct kept;			/* kept.h */

struct job {
	ino_t		 inode;
	char		 id[SPOOL_ID_BYTES];
	int64_t		 born_ms;	/* when it was accepted */
	struct kept	*kept;		/* owed outcomes, until they are told */
	struct rcpt	*rcpts;		/* those that are not final at load */
	uint32_t	 source;	/* who shares a lot fairly: a hash */
	uint32_t	 by_s;		/* its sender wants to hear when it is
					 * older (DELIVERBY N); 0: not asked */
	uint32_t	 rcpt_total;	/* of the file, for message.done */
	uint32_t	 failed_count;
	uint32_t	 rcpt_count, final_count;
	uint32_t	 vertex_count, flight_count, ready_count;
	int		 control_fd, body_fd;	/* -1: closed */
	uint32_t	 unsent;	/* vertices in an outbox want body_fd */
	uint32_t	 at[JOB_PLACES];	/* in the list, from 1; 0: not
					 * in it */
	uint32_t	 owing_s;	/* OWING: since then, clock_steady_ms
					 * in seconds */
	uint16_t	 flags;		/* enum job_flags */
	int8_t		 priority;	/* of its sender's terms */
	uint8_t		 stage;		/* the list that the last of at[] is
					 * about */
	struct vertex	 vertices[];
};

struct ring;
struct provider;		/* provider.h */

struct thread {
	struct ring	*ring;
	struct provider	*provider;	/* who shares its MX; NULL: unknown */
	struct thread	*hash_next;
	const char	*channel, *host, *zone;	/* behind the struct; zone ""
						 * is none */
	uint32_t	 hash;
	struct lanes	 lanes;		/* ready */
	unsigned	 ready_count, wait_count, flight_count, parked_count;
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
	int64_t		 used_ms;	/* last time it had work */
	uint32_t	 heap_index;
	bool		 is_runnable;	/* in one of its ring's queues */
	bool		 is_quick;	/* in which: not only bulk is ready */
	bool		 is_blocked;	/* in its provider's queue instead */
	bool		 is_warming;	/* held by its zone's plan of today */
	bool		 is_firm;	/* a success does not end the hold */
	TAILQ_ENTRY(thread) run_entry;
	char		*reason;	/* last host trouble, or NULL */
};
TAILQ_HEAD(thread_queue, thread);

struct agent;
TAILQ_HEAD(agent_queue, agent);

struct ring {
	TAILQ_ENTRY(ring) entry;
	struct conf_schedule clause;	/* numbers; its pointers are unused */
	unsigned	 clause_index;
	const char	*channel, *zone;	/* behind the struct */
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
	bool		 is_stale;	/* of a configuration that is gone */
};
TAILQ_HEAD(ring_queue, ring);

/* ---- jobs by inode, and the lists that name them ---------------------- */

struct job_list {
	struct job	**jobs;
	size_t		 count, capacity;
};

struct job_table {
	struct job	**slots;	/* open addressing, a power of two */
	size_t		 size, count;
	unsigned	 wraps;		/* jobs that moved from the front of
					 * the slots to the end */
	struct job_list	 lists[JOB_LISTS];
};

void job_table_init(struct job_table *table);
/* Frees the table and its lists; the jobs in it must be gone. */
void job_table_release(struct job_table *table);
struct job *job_table_find(const struct job_table *table, ino_t inode);
/* The inode must not be in the table. */
void job_table_add(struct job_table *table, struct job *job);
void job_table_remove(struct job_table *table, ino_t inode);
/* Walk in any order: *cursor from 0; NULL at the end.  Adding in between
 * may skip or repeat some. */
struct job *job_table_next(const struct job_table *table, size_t *cursor);

/* A walk in pieces.  A job that is in the table all the time is met at least
 * once, whatever comes and goes between the pieces; a job may be met twice.
 * From the end to the front, because a removal moves others forward only;
 * what does not fit that (growth, wraps) begins it anew. */
struct job_walk {
	size_t		 left, size;
	unsigned	 wraps;
	bool		 is_over;
};

void job_walk_init(struct job_walk *walk, const struct job_table *table);
/* The next job.  budget: slots to look at; it goes down.  NULL: it is over,
 * or budget is 0. */
struct job *job_walk_next(struct job_walk *walk,
    const struct job_table *table, unsigned *budget);

/* Which of at[] is about the list. */
static inline unsigned
job_place(enum job_list_name name)
{
	return name < JOB_OWING ? name : JOB_OWING;
}

static inline bool
job_is_in(const struct job *job, enum job_list_name name)
{
	return job->at[job_place(name)] != 0 &&
	    (name < JOB_OWING || job->stage == name);
}

/* Row F1 and on: its body is gone. */
static inline bool
job_is_finished(const struct job *job)
{
	return job_is_in(job, JOB_FINISHED) || job_is_in(job, JOB_ENDING);
}

/* Put the job into a list, at its end; one that is there stays where it is.
 * Of the stages, it leaves the one before. */
void job_list_add(struct job_table *table, enum job_list_name name,
    struct job *job);
/* Take it out; the last one of the list takes its place.  Nothing when it is
 * not there. */
void job_list_remove(struct job_table *table, enum job_list_name name,
    struct job *job);
/* Take the last one out and return it; NULL: the list is empty. */
struct job *job_list_take(struct job_table *table, enum job_list_name name);

/* One block for all; descriptors are -1, vertices IDLE and in no heap. */
struct job *job_new(size_t vertex_count, size_t rcpt_count);
/* The end of a job of the table: out of every list and of the table, then
 * freed.  A panic when a vertex of it is still in the plan or at an agent, or
 * its report is being written: somebody would use it after its end. */
void job_end(struct job_table *table, struct job **job);
/* Free one that is in no list; closes what is open.  The same panics. */
void job_free(struct job **job);
/* When the scheduler stops: all lists are emptied, all jobs freed; the table
 * must be released next. */
void job_table_end(struct job_table *table);
/* Close both descriptors. */
void job_close(struct job *job);
/* The same unless somebody still needs them: an agent, or a list but OWING. */
void job_rest(struct job *job);

static inline struct rcpt *
vertex_rcpts(const struct vertex *vertex)
{
	return vertex->job->rcpts + vertex->rcpt_first;
}

/* At which age, in seconds, the vertex is given up. */
static inline int64_t
vertex_expire_s(const struct vertex *vertex)
{
	return vertex->expire_s > 0 ? vertex->expire_s :
	    vertex->thread->ring->clause.expire_s;
}

/* The vertex's recipient with this offset, or NULL. */
struct rcpt *vertex_rcpt(const struct vertex *vertex, uint32_t offset);

#endif
