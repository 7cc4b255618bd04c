/* group.h - finished messages and fresh records, made durable together
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_GROUP_H
#define ZM_SCHEDULER_GROUP_H

#include "scheduler/plan/queue.h"

enum { GROUP_FILES_MAX = 1000 };	/* more are not waited for */

struct group {
	struct queue	*queue;
	struct spool_barrier barrier;
	bool		 is_durable;
	struct timer	 timer, step;
};

/* Every recipient is final and nothing is owed (row F0): unlink the body
 * (F1); barrier and the unlink of the control file (F2, F3) come with the
 * group.  The job is not touched by the caller afterwards. */
void group_finish(struct group *group, struct job *job);

/* Row F1 left by somebody else: the control file has no body. */
void group_orphan(struct group *group, ino_t inode);

/* The job stays and its file has new records. */
void group_dirty(struct group *group, struct job *job);

/* Do it now (also when the scheduler stops). */
void group_commit(struct group *group);

/* Stop the timers; group_commit comes before. */
void group_release(struct group *group);

#endif
