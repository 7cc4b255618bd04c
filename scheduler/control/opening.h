/* opening.h - a large control file is opened for a request beside the loop
 *
 * A thread reads it (reading.h), and sorts what the job has in memory by the
 * places of the recipients in the file; the request goes on when that is done.
 * The job is not kept meanwhile: when it has become another block its
 * recipients are listed and sorted anew, and when it has gone the request sees
 * that.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_OPENING_H
#define ZM_SCHEDULER_OPENING_H

#include "scheduler/intake/reading.h"

struct visit_rcpt {		/* a recipient that the scheduler knows */
	uint32_t	 offset;
	uint32_t	 vertex;	/* index in the job's */
};

struct opening {
	struct intake_reading *reading;	/* not to be used before it is ready */
	struct visit_rcpt *rcpts;	/* of the job, by offset */
	size_t		 rcpt_count;
	ino_t		 inode;
	uint32_t	 serial;	/* of the table when rcpts was listed */
	uint32_t	 number;	/* of the job when it began */
	bool		 is_taken;	/* by who had it opened */
	bool		 is_left;	/* nobody waits for it */
	loop_fn		*wake;		/* when it is ready; NULL: nobody */
	void		*wake_context;
};

/* Is the job's file so large that it should be opened so? */
bool opening_is_due(const struct job *job, int control_fd);
/* Begin; control_fd stays the caller's. */
struct opening *opening_new(struct intake *intake, const struct job *job,
    int control_fd, loop_fn *wake, void *wake_context);
/* The same file of a job that is another block now. */
void opening_again(struct opening *opening, const struct job *job,
    uint32_t serial);
bool opening_is_ready(const struct opening *opening);
/* In whatever state it is; memory is given back by the thread.  Sets NULL. */
void opening_leave(struct opening **opening);

/* List the job's recipients; out has room for job->rcpt_count.  True: they
 * are in the order of the file. */
bool visit_rcpts_list(const struct job *job, struct visit_rcpt *out);
void visit_rcpts_sort(struct visit_rcpt *rcpts, size_t count);

#endif
