/* settle.h - jobs of which nothing is under way: done, or owing a report
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SETTLE_H
#define ZM_SCHEDULER_SETTLE_H

#include "scheduler/settle/group.h"

enum {
	SETTLE_OWING_MS = 300000	/* a failure waits so long for others */
};

/* Is the job done, or is something owed?  Goes on to report or finish. */
void settle_job(struct group *group, struct job *job);

/* Something of this job is to be looked at at the end of the turn: outcomes
 * to report, a notice of delay, expired recipients. */
void settle_report(struct queue *queue, struct job *job);

/* It keeps failed recipients whose reports wait; the first goes at until_s
 * (wall).  0: none any more. */
void settle_keep(struct queue *queue, struct job *job, int64_t until_s);

/* All that keeps something looks at once how long: the setting changed. */
void settle_kept(struct queue *queue);

/* Once a minute: who owes for too long, or kept something long enough,
 * reports now. */
void settle_tick(struct queue *queue);

#endif
