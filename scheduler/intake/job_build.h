/* job_build.h - a parsed control file becomes a job and joins the plan
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_JOB_BUILD_H
#define ZM_SCHEDULER_JOB_BUILD_H

#include "mail/control_file/control_file.h"
#include "scheduler/intake/intake.h"

/* Recipients that may share a vertex: of one group, to one thread, under the
 * same orders.  The thread is named by it until its vertices are filled, so
 * that it stays. */
struct draft_kind {
	struct thread		*thread;
	int64_t			 until_s;	/* of the park; 0: no end */
	uint32_t		 sender_offset, header_offset;
	uint32_t		 expire_s;	/* as in a vertex */
	uint8_t			 park;
	bool			 is_strict, has_ways;
	uint32_t		 last;		/* of its vertices */
	uint32_t		 vertex_count;
	uint32_t		 next;		/* of its bucket, from 1 */
};

/* A vertex that fills up, in the order of the file. */
struct draft_vertex {
	int64_t			 moment_ms;
	uint32_t		 kind;
	uint32_t		 at;		/* in the job; then: of its next
						 * recipient */
	uint16_t		 rcpt_count, tries;
	uint8_t			 notices;
	bool			 is_apart;
};

/* All that is kept of a recipient. */
struct job_draft_rcpt {
	struct rcpt		 rcpt;
	uint32_t		 vertex;
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
 * table or plan.  It takes the recipients in the order of the file, and of
 * their control file it may be shown some at a time (window.h). */
struct job_draft {
	struct intake	*intake;
	const struct control_file *common;	/* what belongs to all */
	const struct control_file *window;	/* those that are taken now */
	struct job_draft_rcpt *rcpts, one_rcpt;
	size_t		 count;		/* of rcpts */
	struct draft_kind *kinds, one_kind;
	size_t		 kind_count;
	size_t		 kinds_from;	/* of the present group */
	uint32_t	*buckets;	/* of kinds, from 1; NULL: not needed */
	size_t		 bucket_count;	/* a power of two */
	struct draft_vertex *vertices, one_vertex;
	size_t		 vertex_count;
	size_t		 group, next;	/* the recipient to be taken next */
	int64_t		 born_ms;
	uint32_t	 by_s;		/* as in a job */
	uint8_t		 objectives;	/* generation, when it began */
	bool		 others_hear;	/* of some of them: not the client */
	bool		 is_trashed;	/* some were cancelled */
	struct draft_ended ended;
	struct job	*job;		/* NULL until job_draft_sort */
	size_t		 filled;	/* vertices that have their thread */
	size_t		 filling;	/* kind of the next one */
};

/* The steps, in this order; job_draft_window and job_draft_take for each window
 * of the file in turn.  Those with most do that many recipients (or vertices),
 * and return whether all are done.  common and window stay the caller's; common
 * has the totals of all. */
void job_draft_begin(struct job_draft *draft, struct intake *intake,
    const struct control_file *common);
void job_draft_window(struct job_draft *draft,
    const struct control_file *window);
bool job_draft_take(struct job_draft *draft, size_t most);
/* It looks at nothing but the draft, and makes the job: a thread may do it. */
void job_draft_sort(struct job_draft *draft);
void job_draft_make(struct job_draft *draft);
bool job_draft_fill(struct job_draft *draft, size_t most);
/* After the last, or instead of what would follow: free all but the job. */
void job_draft_end(struct job_draft *draft);
/* After any of them but that: it becomes nothing, and the job, too. */
void job_draft_drop(struct job_draft *draft);

/* All at once.  *out_kept_s: for settle_keep. */
struct job *job_build(struct intake *intake,
    const struct control_file *control, int64_t *out_kept_s);

#endif
