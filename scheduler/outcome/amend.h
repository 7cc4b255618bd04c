/* amend.h - what the scheduler itself has to say in a large control file
 *
 * The recipients of a vertex whose agent died, and those whose time is over,
 * get records; what the file says of them already is looked at before.  A large
 * file is read for that by a thread, one at a time, and the records are written
 * some recipients a turn.  Its job is in flight meanwhile, so that nobody
 * rereads or drops it.  After a crash the file says of those who had no record
 * yet what it said before, and they are found so again.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_AMEND_H
#define ZM_SCHEDULER_AMEND_H

#include "scheduler/outcome/outcome.h"

enum {
	AMEND_RCPTS = 1024,	/* recipients between two looks at the clock;
				 * of fewer a file is never large */
	AMEND_PIECES = 8	/* of so many, at most, in a turn */
};

/* Is the job's file so large that it is to be read so? */
bool amend_is_due(struct outcome *outcome, struct job *job);
/* The agent died at this vertex, which is in no queue any more: record it, and
 * have the file read again when nothing of the job is in flight (JOB_RELOAD is
 * the caller's). */
void amend_lost(struct outcome *outcome, struct vertex *vertex,
    const char *reason);
/* Give the expired recipients of the job their last outcome.  False: it has
 * none, or its file is not large.  True: the job is queued for the reporter
 * when that is done. */
bool amend_expired(struct outcome *outcome, struct job *job);
/* Is an agent's death being written? */
bool amend_is_about_death(const struct outcome *outcome);
/* The scheduler ends: wait for the thread, forget what is in hand. */
void amend_end(struct outcome *outcome);

#endif
