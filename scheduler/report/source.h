/* source.h - what reports about a job are made of: its control file as read
 *
 * A file of ordinary size is read for each report.  A large one (reading.h) is
 * read by a thread, some recipients at a time (gather.h), and kept for one
 * report after the other, each about REPORT_RCPTS_MAX recipients at most.  As
 * long as it is kept its job is in flight, so that nobody rereads or drops it;
 * what it owes by then (JOB_OWES, JOB_NOTICE) is kept here, and what comes to
 * be owed meanwhile is flagged anew and told after another reading.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SOURCE_H
#define ZM_SCHEDULER_SOURCE_H

#include "scheduler/report/gather.h"

struct bounce;

struct report_source {
	struct control_file *control;
	struct gather	*gather;
	struct intake_reading own_reading;	/* of a file that was read at
						 * once: control, arena */
	struct gather	 own;
	bool		 is_kept;	/* it is the reporter's */
	uint16_t	 anew;		/* flags that the job got meanwhile */
};

/* Have the job's file read.  False: it is being read by a thread, and the job
 * is queued again when it is; or it cannot be read, which was dealt with: the
 * job may be gone.  With true the job is in nobody's hand, and source_end is
 * owed. */
bool source_begin(struct reporter *reporter, struct job *job,
    struct report_source *source);
/* What is pending of the job stands in the file now, and is told or will be. */
void source_told(const struct report_source *source, struct job *job);
/* Too few are left in the list for a report, and more of the file can be read:
 * a thread does it, and the job is queued again.  Then source_end is not owed.
 * Before, those of the list that are not due now were taken out of it. */
bool source_more(struct reporter *reporter, struct job *job,
    struct report_source *source);
/* The header that the report returns; it is not in memory if the file is read
 * in windows.  0 or -1. */
int source_header(struct reporter *reporter,
    const struct report_source *source, struct bounce *bounce,
    struct err *err);
/* more: one more report is to be made of it, after this one about told. */
void source_end(struct reporter *reporter, struct job *job,
    struct report_source *source, const struct bounce *told, bool more);
/* The marks of a report are about to be written: who has the job's file open
 * for an order sees that; what is kept here has them. */
void source_written(struct reporter *reporter, struct job *job);
/* The report came to nothing: what is kept in memory says too much. */
void source_forget(struct reporter *reporter, const struct job *job);
/* The scheduler ends, and nothing is under way. */
void source_release(struct reporter *reporter);

#endif
