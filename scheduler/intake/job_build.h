/* job_build.h - a parsed control file becomes a job and joins the plan
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_JOB_BUILD_H
#define ZM_SCHEDULER_JOB_BUILD_H

#include "mail/control_file/control_file.h"
#include "scheduler/intake/intake.h"

/* A recipient on its way into a vertex.  Its thread is named by it until it is
 * there, so that it stays. */
struct rcpt_entry {
	struct thread		*thread;
	const struct control_rcpt	*rcpt;
	uint32_t		 group;
	uint32_t		 expire_s;	/* as in a vertex */
	uint8_t			 park;
	bool			 is_strict;
	int64_t			 until_s;	/* of the park; 0: no end */
};

/* What is to be told of those that are final. */
struct draft_ended {
	bool	 owes;
	uint32_t failed_count;
	int64_t	 kept_s;	/* when the first one of them is told, for
				 * settle_keep; 0: none is kept */
};

/* A job that is being built out of the recipients that are not final: vertices
 * of one group, channel and host, at most VERTEX_RCPTS_MAX each.  Not yet in
 * table or plan. */
struct job_draft {
	struct intake	*intake;
	const struct control_file *control;
	struct rcpt_entry *entries, one;
	size_t		 count;		/* of entries */
	size_t		 group, next;	/* the recipient to be taken next */
	struct draft_ended ended;
	struct job	*job;		/* NULL until job_draft_sort */
	struct vertex	*vertex;	/* the last one that was begun */
	size_t		 filled;	/* entries that are in a vertex */
};

/* The steps, in this order.  Those with most do that many recipients, and
 * return whether all are done.  control and arena stay the caller's. */
void job_draft_begin(struct job_draft *draft, struct intake *intake,
    const struct control_file *control, struct arena *arena);
bool job_draft_take(struct job_draft *draft, size_t most);
/* It looks at nothing but entries and control, and makes the job: a thread may
 * do it. */
void job_draft_sort(struct job_draft *draft);
void job_draft_make(struct job_draft *draft);
bool job_draft_fill(struct job_draft *draft, size_t most);
/* After any of them: it becomes nothing. */
void job_draft_drop(struct job_draft *draft);

/* All at once.  scratch is for the sorting.  *out_kept_s: for settle_keep. */
struct job *job_build(struct intake *intake,
    const struct control_file *control,
    struct arena *scratch, int64_t *out_kept_s);

#endif
