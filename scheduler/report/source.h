/* source.h - what reports about a job are made of: its control file as read
 *
 * A file of ordinary size is read for each report.  A large one (reading.h) is
 * read by a thread, and kept for one report after the other, each about
 * REPORT_RCPTS_MAX recipients at most.  As long as it is kept its job is in
 * flight, so that nobody rereads or drops it; what it owes by then (JOB_OWES,
 * JOB_NOTICE) is kept here, and what comes to be owed meanwhile is flagged anew
 * and told after another reading.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SOURCE_H
#define ZM_SCHEDULER_SOURCE_H

#include "scheduler/intake/reading.h"
#include "scheduler/report/reporter.h"

struct report_owed {
	struct control_rcpt	*rcpt;
	const struct control_group *group;
};

/* Who may be owed a report: the final ones that are not reported, and where a
 * notice is due all others. */
struct report_list {
	struct report_owed *owed;
	size_t		 count;
	size_t		 first;		/* those before it have been told */
};

struct report_source {
	struct control_file *control;
	struct report_list *list;
	struct control_file own;	/* of a file that was read at once */
	struct report_list own_list;
	bool		 is_kept;	/* it is the reporter's */
	uint16_t	 anew;		/* flags that the job got meanwhile */
};

/* Have the job's file read.  False: it is being read by a thread, and the job
 * is queued again when it is; or it cannot be read, which was dealt with: the
 * job may be gone.  With true the job is in nobody's hand, and source_end is
 * owed. */
bool source_begin(struct reporter *reporter, struct job *job,
    struct report_source *source);
/* more: one more report is to be made of it, after this one about told. */
struct bounce;
void source_end(struct reporter *reporter, struct job *job,
    struct report_source *source, const struct bounce *told, bool more);
/* The report came to nothing: what is kept in memory says too much. */
void source_forget(struct reporter *reporter, const struct job *job);
/* The scheduler ends, and nothing is under way. */
void source_release(struct reporter *reporter);

#endif
