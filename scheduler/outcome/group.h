/* group.h - finished messages and fresh records, made durable together
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_GROUP_H
#define ZM_SCHEDULER_GROUP_H

#include "scheduler/state.h"

enum { GROUP_FILES_MAX = 1000 };	/* more are not waited for */

/* Every recipient is final and nothing is owed (row F0): unlink the body
 * (F1); barrier and the unlink of the control file (F2, F3) come with the
 * group.  The job is not touched by the caller afterwards. */
void group_finish(struct scheduler *scheduler, struct job *job);

/* Row F1 left by somebody else: the control file has no body. */
void group_orphan(struct scheduler *scheduler, ino_t inode);

/* The job stays and its file has new records. */
void group_dirty(struct scheduler *scheduler, struct job *job);

/* Do it now (also when the scheduler stops). */
void group_commit(struct scheduler *scheduler);

void group_release(struct scheduler *scheduler);

#endif
