/* state.h - the one struct that the parts of the scheduler share
 *
 * The way of a message:  intake -> plan -> agents -> outcome -> reporter
 * -> group.  Each part has its own struct below and its own file; calls go
 * along that way, and back to plan.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_STATE_H
#define ZM_SCHEDULER_STATE_H

#include "io/ipc.h"
#include "io/loop.h"
#include "io/notify.h"
#include "scheduler/control/orders.h"
#include "scheduler/plan/plan.h"
#include "scheduler/plan/provider.h"
#include "scheduler/plan/queue.h"
#include "scheduler/plan/thread.h"
#include "scheduler/plan/zone.h"
#include "scheduler/report/formset.h"

/* ---- intake.c --------------------------------------------------------- */

struct intake_item {
	ino_t	inode;
	int	fd;		/* opened ahead; -1: not */
	bool	is_old;		/* an agent of a predecessor may be at it */
};

struct intake {
	struct intake_item *items;	/* to be looked at, oldest first */
	size_t		 first, count, room;
	size_t		 ahead;		/* of them, from the first, that were
					 * opened ahead if they are old */
	struct intake_item *busy;	/* locked by somebody: again in 1 s */
	size_t		 busy_count, busy_room;
	ino_t		*orphans;	/* control files without a body */
	size_t		 orphan_count, orphan_room;
	struct notify	*notify;
	struct str	 text;		/* reused from file to file */
	struct arena	*arena;
	struct spool_walk *walk;	/* of transport/; NULL: none runs */
	bool		 is_starting;	/* the first walk is not over */
	bool		 scan_again;	/* behind this one */
	struct timer	 more, busy_timer, rescan;
};

/* ---- agents.c ----------------------------------------------------------- */

struct agent {
	struct scheduler *scheduler;
	TAILQ_ENTRY(agent) entry;	/* its ring's idle or busy, or gone */
	struct ring	*ring;
	struct thread	*thread;	/* served now; NULL when idle */
	uint32_t	 last_hash;	/* of the thread it served last */
	unsigned	 token;		/* the launcher's name for it */
	pid_t		 pid;		/* 0: not told yet */
	int		 socket;	/* -1: closed, waits for the notice */
	struct watch	*watch;
	struct ipc_inbox *inbox;
	struct vertex_queue jobs;	/* in the order they were given */
	struct vertex	*unsent;	/* first of them not sent yet */
	unsigned	 job_count;
	unsigned	 sent_count, hungry_count;	/* since its start */
	unsigned	 talk_count;	/* lines since a job was done */
	struct str	 rest;		/* of a send that was cut short */
	int64_t		 heard_ms;	/* last sign of life */
	int64_t		 idle_ms;	/* since then without work */
	int64_t		 hungry_ms;	/* its last #hungry; 0: none yet */
	int64_t		 fed_ms;	/* given its last job; 0: none yet */
	unsigned	 lost_count;	/* jobs it had when it was lost */
	bool		 is_told_idle, is_closing, has_news, is_nonsense;
	bool		 is_surplus;	/* idle; its host wants fewer */
};

/* launcher_start_agent and launcher_kill_agent, or a test's. */
typedef int agents_start_fn(unsigned clause, const char *channel, int socket,
    unsigned token, struct err *err);
typedef int agents_kill_fn(unsigned token, struct err *err);

/* A job that an agent could not make sense of; the job itself is read anew
 * each time and does not remember. */
struct resync {
	char		 id[SPOOL_ID_BYTES];
	unsigned	 count;
};
enum { RESYNC_ROOM = 64 };

struct agents {
	agents_start_fn	*start;
	agents_kill_fn	*kill;
	struct agent_queue gone;	/* closed, exit notice not yet seen */
	unsigned	 token;
	unsigned	 count;		/* all but the gone */
	unsigned	 fd_budget;	/* jobs that may be open at a time */
	struct timer	 tick;
	struct resync	 resyncs[RESYNC_ROOM];
	unsigned	 resync_next;	/* oldest, to be overwritten */
	bool		 is_stopping;
};

/* ---- report.c, group.c, control.c -------------------------------- */

struct reporter {
	int64_t		 not_before_ms;	/* after trouble */
	struct formset	 forms;
};

struct group {
	struct spool_barrier barrier;
	bool		 is_durable;
	struct timer	 timer, step;
};

struct control;			/* control.c's own */
struct mailq_keeper;		/* mailq/keeper.c's own */

struct scheduler {
	const struct conf *conf;	/* current; not ours */
	struct spool	*spool;
	struct loop	*loop;
	struct plan	 plan;
	struct thread_table threads;
	struct provider_table providers;
	struct warm_table warms;
	struct job_table jobs;
	struct intake	 intake;
	struct agents	 agents;
	struct reporter	 reporter;
	struct group	 group;
	struct control	*control;
	struct mailq_keeper *mailq;	/* NULL: a test without it */
	struct orders	 orders;
	struct results	*results;	/* NULL: no script */
	struct timer	 plan_timer, shape_timer, orders_timer;
	bool		 is_closed;
	int64_t		 started_ms;
	size_t		 sweep_cursor;	/* outcome_sweep */
	struct {
		uint64_t	jobs, rcpts, delivered, failed, deferred;
	} total;			/* since the start */
};

/* Room for one more in a growing array; by half. */
#define ARRAY_ROOM(array, count, room) do { \
	if ((count) == (room)) { \
		(room) = (room) ? (room) + (room) / 2 : 64; \
		(array) = mem_grow((array), (room), sizeof(*(array))); \
	} } while (0)

#endif
