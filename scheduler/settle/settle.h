/* settle.h - jobs without a running attempt: done, or owing a report
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SETTLE_H
#define ZM_SCHEDULER_SETTLE_H

#include "scheduler/settle/group.h"

enum {
	SETTLE_OWING_MS = 300000	/* a failure waits so long for others */
};

/* Report or finish the job, if it is done or something is owed. */
void settle_job(struct group *group, struct job *job);

/* Have the job looked at at the end of the turn: it has outcomes to report, a
 * notice of delay, or expired recipients. */
void settle_report(struct queue *queue, struct job *job);
/* The same within a minute: another one is in the way. */
void settle_report_later(struct queue *queue, struct job *job);

/* The job keeps failed recipients whose reports wait; the first is due at
 * until_s (wall).  0: none is kept any more. */
void settle_keep(struct queue *queue, struct job *job, int64_t until_s);

/* `keep failed` changed: recompute how long each job keeps its recipients. */
void settle_kept(struct queue *queue);

/* Once a minute: report what has been owed too long, or kept long enough. */
void settle_tick(struct queue *queue);

#endif
