/* job.h - what the scheduler remembers of a message
 *
 * job      a control file; remembers offsets, never an address
 * vertex   up to VERTEX_RCPTS_MAX recipients of a job that go one way: what
 *          an agent is given at a time
 *
 * Life: a job is one block (job, vertices, recipients) made by the intake
 * and freed when its files are gone.  A vertex is in one state and in one
 * place: WAIT in the plan's heap, READY in its thread's queue, FLIGHT in an
 * agent's queue, else nowhere (PARKED ones are counted by their thread).
 * All moments are clock_steady_ms.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_JOB_H
#define ZM_SCHEDULER_JOB_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "mail/control_file/control_file.h"
#include "mail/spool/spool.h"

enum {
	VERTEX_RCPTS_MAX = 100,	/* more: more vertices, agents in parallel */
	JOB_LARGE_RCPTS = 1024,	/* the file of fewer is never large */
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
	PARK_SCHEDULED,		/* WAIT: an operator said when */
	PARK_ASKED		/* WAIT: for the script's answer, so long */
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
	uint8_t		 objective;	/* slot of objectives.h; 0: none */
};

struct job;
struct thread;

struct vertex {
	struct job	*job;
	struct thread	*thread;
	TAILQ_ENTRY(vertex) entry;	/* thread's ready or agent's queue */
	int64_t		 moment_ms;	/* WAIT: due; FLIGHT: given at */
	int64_t		 next_ms;	/* FLIGHT: earliest retry asked for;
					 * WAIT: the retry after a notice of
					 * delay; else 0 */
	uint32_t	 heap_index;
	uint32_t	 sender_offset, header_offset;
	uint32_t	 rcpt_first;	/* index in the job's array */
	uint16_t	 rcpt_count, final_count;
	uint16_t	 unanswered;	/* FLIGHT; PARK_ASKED: number of the
					 * question */
	uint16_t	 tries;
	uint32_t	 expire_s;	/* given up at this age; 0: as the
					 * clause says */
	uint32_t	 planned_s;	/* steady: it would have waited so
					 * long, but an order has it tried;
					 * 0: not */
	uint8_t		 state;		/* enum vertex_state */
	uint8_t		 lane;		/* READY: lanes.h */
	uint8_t		 park;		/* enum vertex_park */
	uint8_t		 notices;	/* delay notices sent or passed over;
					 * NOTICES_NONE: none is owed */
	uint16_t	 promised;	/* estimate.h said that it will have
					 * arrived; 0: nothing */
	bool		 is_allowed : 1; /* READY: the script lets it go */
	bool		 is_strict : 1;	/* expire_s even when never tried */
	bool		 was_tried : 1;	/* since this process knows it */
	bool		 is_expired : 1;	/* IDLE, until the reporter saw
					 * to it */
	bool		 has_ended : 1;	/* the same, for some of its rcpts */
	bool		 met_trouble : 1; /* FLIGHT: an answer said
					   * deferall */
	bool		 has_ways : 1;	/* its recipients have ways left */
	bool		 has_moved : 1;	/* and one of them took the next */
	bool		 is_stopped : 1; /* an order changed it: it goes nowhere
					  * before its job is reread */
	bool		 is_apart : 1;	/* somebody wanted it later: its age
					 * is not its destination's doing */
};
TAILQ_HEAD(vertex_queue, vertex);

enum job_flags {
	JOB_OWES = 1,		/* has final recipients not yet reported */
	JOB_RELOAD = 2,		/* reread when nothing of it is in flight */
	JOB_NOTICE = 4,		/* a notice of delay is due */
	JOB_TRASH = 8,		/* somebody was cancelled: ends in trash/ */
	JOB_WRITING = 16,	/* its report is being written; counts as a
				 * flight while a thread syncs that */
	JOB_AWAITED = 32,	/* a client waits for its verdict (hearers.h) */
	JOB_TOLD = 64,		/* a client heard the refusal: no report */
	JOB_UNCOPIED = 256,	/* has records that its copy on another machine
				 * has not */
	JOB_MOVING = 512,	/* to another node (sharing/moves.h) */
	JOB_TLS_OPTIONAL = 128	/* its sender asks for no TLS policy of the
				 * recipients' domains (terms.h) */
};

/* The lists that hold pointers to a job, all in the job_table (table.h).
 * Otherwise only plan and agents (by its vertices) and the writer of its report
 * (JOB_WRITING) hold one, which job_free checks; nobody else keeps a pointer
 * longer than a call.  From JOB_OWING on they are the stages of a job's end: it
 * is in at most one of these, and adding it to one removes it from the
 * other. */
enum job_list_name {
	JOB_FRESH,		/* descriptors are open since the intake,
				 * until an agent has them */
	JOB_DIRTY,		/* has records that are not durable yet */
	JOB_OWING,		/* owes a report, others may still fail */
	JOB_KEPT,		/* has failed ones that are told later */
	JOB_REPORT,		/* a report or its end is to be written */
	JOB_FINISHED,		/* nothing is owed: waits for its removal */
	JOB_ENDING,		/* in a removal: its files are being removed */
	JOB_LISTS
};

enum { JOB_PLACES = JOB_OWING + 1 };	/* the stages share the last one */

struct pending;			/* pending.h */

struct job {
	ino_t		 inode;
	char		 id[SPOOL_ID_BYTES];
	int64_t		 born_ms;	/* when it was accepted */
	/* owed outcomes, until they are told */
	struct pending	*pending;
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
	uint32_t	 report_s;	/* OWING, KEPT: until then, steady
					 * seconds */
	uint16_t	 flags;		/* enum job_flags */
	int8_t		 priority;	/* of its sender's terms */
	uint8_t		 objectives;	/* generation of those of its rcpts */
	uint8_t		 steered;	/* so often before_attempt chose its
					 * way */
	uint8_t		 stage;		/* the list that the last of at[] is
					 * about */
	uint8_t		 seen_control, seen_body;	/* in this round of
					 * strays.c a walk met them */
	struct vertex	 vertices[];
};

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

/* Row F0 and on: its body is gone, or about to go. */
static inline bool
job_is_finished(const struct job *job)
{
	return job_is_in(job, JOB_FINISHED) || job_is_in(job, JOB_ENDING);
}

/* Make a job, one block with its vertices and recipients; descriptors are -1,
 * vertices IDLE and in no heap. */
struct job *job_new(size_t vertex_count, size_t rcpt_count);
/* Free a job that is in no list (else panic), and close its descriptors. */
void job_free(struct job **job);
/* Close both descriptors. */
void job_close(struct job *job);
/* The same unless an agent, or a list other than OWING and KEPT, still needs
 * them. */
void job_rest(struct job *job);

static inline struct rcpt *
vertex_rcpts(const struct vertex *vertex)
{
	return vertex->job->rcpts + vertex->rcpt_first;
}

/* The vertex's recipient with this offset, or NULL. */
struct rcpt *vertex_rcpt(const struct vertex *vertex, uint32_t offset);

/* Is a report about this outcome owed?  RFC 3461 section 5.2: a host that took
 * a recipient over with its DSN parameters (relayed) reports itself.  For a
 * deferred one: whether a notice of delay may be sent. */
bool job_owes(unsigned notify, enum verdict_kind kind);
/* NOTIFY of a recipient, and what DELIVERBY adds: mode N a notice of delay, T a
 * report when another host takes it (NOTIFY_TRACE). */
enum { NOTIFY_TRACE = 0x40 };
unsigned rcpt_notify(const struct control_file *control,
    const struct control_rcpt *rcpt);

/* Is a report about this final recipient owed, and not yet sent? */
bool rcpt_owes(const struct control_file *control,
    const struct control_rcpt *rcpt);

#endif
