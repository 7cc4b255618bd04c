/* group.h - finished messages and fresh records, made durable together
 *
 * The threads of io/sync.h do what waits for the disk, in this order, each step
 * after the end of the one before:
 *
 * 	bodies		F0 -> F1	unlink, a removal a task
 * 	barrier		F1 -> F2	a directory, or a file, a task
 * 	control files	F2 -> F3	unlink, a removal a task
 *
 * While a barrier goes on, bodies of the next group are unlinked and control
 * files of the one before; there is one barrier at a time.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_GROUP_H
#define ZM_SCHEDULER_GROUP_H

#include "io/sync.h"
#include "scheduler/plan/queue.h"

enum {
	GROUP_FILES_MAX = 1000,		/* more are not waited for */
	GROUP_PARTS_MAX = SPOOL_BARRIER_DIRS + SPOOL_BARRIER_RECORDS,
	REMOVAL_FILES = 64,
	REMOVAL_WAIT_MS = 20		/* until a removal is full */
};

struct removal;
TAILQ_HEAD(removal_queue, removal);

struct group {
	struct queue	*queue;
	struct syncer	*syncer;
	/* F1: their removals wait for the next barrier; are in this one.
	 * Others are at the syncer. */
	struct removal_queue gone, barred;
	size_t		 gone_count;	/* messages */
	size_t		 held_count;	/* bodies that removals hold open */
	struct barrier_part {
		struct group	*group;
		struct sync_task task;
		size_t		 number;
		int		 error;		/* errno */
	}		 parts[GROUP_PARTS_MAX];
	size_t		 parts_left;	/* 0: no barrier is under way */
	struct spool_barrier barrier;
	int		 barrier_error;
	struct timer	 timer;		/* the next barrier */
	struct timer	 removal_timer;	/* a removal that is not full */
};

/* Begin, for a queue that is open already; makes the syncer. */
void group_open(struct group *group, struct queue *queue);

/* Every recipient is final and nothing is owed (row F0): unlink the body
 * (F1); barrier and the unlink of the control file (F2, F3) come with the
 * group.  The caller must not use the job afterwards. */
void group_finish(struct group *group, struct job *job);

/* Take over a row F1 that an earlier scheduler left: a control file without a
 * body. */
void group_orphan(struct group *group, ino_t inode);

/* Another node has taken the message over (sharing/sharing.h): move it to
 * trash/, with the reason.  Removes and frees the job, of which nothing may be
 * in flight. */
void group_take_away(struct group *group, struct job *job, const char *node);

/* The job stays, and its file has new records to be synced. */
void group_dirty(struct group *group, struct job *job);

/* Do everything now, and wait for its end (when the scheduler stops). */
void group_commit(struct group *group);

/* Stop the timers and the threads, after group_commit. */
void group_release(struct group *group);

#endif
