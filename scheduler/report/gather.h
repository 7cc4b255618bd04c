/* gather.h - who of a control file may be owed a report
 *
 * Of a file that was read as a whole it is a list that points into it.  Of one
 * that is read in windows (window.h) it has copies of as many as a report
 * needs, and grows by the next windows' when it is too short.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_GATHER_H
#define ZM_SCHEDULER_GATHER_H

#include "scheduler/intake/reading.h"
#include "scheduler/jobs/pending.h"
#include "scheduler/report/reporter.h"

struct report_owed {
	struct control_rcpt	*rcpt;
	const struct control_group *group;
};

/* The final ones that are not reported, and where a notice is due all others.
 * In the order of the file. */
struct report_list {
	struct report_owed *owed;
	size_t		 count;
	size_t		 first;		/* those before it have been told */
	bool		 is_part;	/* of windows: without those that `keep
					 * failed` keeps */
	int64_t		 kept_s;	/* is_part: when the first one of these
					 * is to be told (wall); 0: none is */
};

struct gather {
	/* what its maker says */
	struct intake_reading *reading;
	bool		 with_notices;
	int64_t		 keep_s, now_s;	/* for control_rcpt_kept_until_s */
	struct pending	*pending;	/* taken from the job; NULL: there were
					 * none, or the file is whole */
	/* what comes of it */
	struct report_list list;
	struct arena	*arena;		/* of a part's copies */
	uint32_t	*untried;	/* offsets of those that are not final
					 * and of whom no attempt is known, in
					 * order; of the windows read last */
	size_t		 untried_count;
	size_t		 unwritten;	/* pending ones that no record of the
					 * windows tells of */
	size_t		 next;		/* window to be gathered */
	bool		*has_owed;	/* by window; NULL: not known */
};

/* All of reading->control, a whole file: into the reading's arena. */
void gather_all(struct gather *gather);
/* In the thread, after the first window was read (begin) and then to go on:
 * gather more of the windows, until more than REPORT_RCPTS_MAX are in the list
 * or none is left.  begin reads all of them if the file has to be known for it:
 * what was told before, and who is kept. */
void gather_begin(struct gather *gather);
void gather_more(struct gather *gather);
/* Is there a window that was not gathered? */
bool gather_has_more(const struct gather *gather);
void gather_release(struct gather *gather);

#endif
