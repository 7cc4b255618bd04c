/* table.h - the jobs by inode, and the lists that name them
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_JOBS_TABLE_H
#define ZM_SCHEDULER_JOBS_TABLE_H

#include "scheduler/jobs/job.h"

struct job_list {
	struct job	**jobs;
	size_t		 count, capacity;
};

struct job_written {
	ino_t		 inode;
	uint32_t	 number;
};

struct job_slots {		/* open addressing */
	struct job	**at;
	size_t		 size, count;	/* size: a power of two; 0: none */
};

struct job_table {
	struct job_slots now;
	struct job_slots old;		/* while it grows: jobs that have not
					 * moved to the others yet */
	size_t		 old_left;	/* the next one to be looked at */
	size_t		 count;
	unsigned	 wraps;		/* jobs that moved from the front of
					 * the slots to the end */
	uint32_t	 serial;	/* another one when a job of at least
					 * JOB_LARGE_RCPTS recipients came, or
					 * came again as another block */
	uint32_t	 writes;	/* see job_written */
	struct job_written *large;	/* of these jobs */
	size_t		 large_count, large_capacity;
	struct job_list	 lists[JOB_LISTS];
};

/* An empty table; job_table_release frees it. */
void job_table_init(struct job_table *table);
/* Free the table and its lists; its jobs must have been freed. */
void job_table_release(struct job_table *table);
struct job *job_table_find(const struct job_table *table, ino_t inode);
/* The inode must not be in the table. */
void job_table_add(struct job_table *table, struct job *job);
void job_table_remove(struct job_table *table, ino_t inode);
/* Walk in any order: *cursor from 0; NULL at the end.  Adding in between
 * may skip or repeat some. */
struct job *job_table_next(const struct job_table *table, size_t *cursor);

/* A walk in pieces.  A job that stays in the table is visited at least once,
 * whatever is added or removed between the pieces, and perhaps twice.  It goes
 * from the end to the front, because a removal only moves others forward, and
 * through the old slots before the others, into which they go; when the table
 * begins to grow, or after wraps, it starts again. */
struct job_walk {
	size_t		 left, size;	/* left: of both, the old ones last */
	unsigned	 wraps;
	bool		 is_over;
};

/* Begin a walk over the table. */
void job_walk_init(struct job_walk *walk, const struct job_table *table);
/* The next job.  budget: how many slots to look at; it is reduced.  NULL: the
 * walk is over, or budget is 0. */
struct job *job_walk_next(struct job_walk *walk,
    const struct job_table *table, unsigned *budget);

/* The scheduler itself wrote into the job's file what the recipients are now:
 * an order, a report's marks, an end of life.  The job's number is another one
 * then, which also a job that has come since then does not have; so who read
 * the file before sees that it is not what he has.  (Those of fewer than
 * JOB_LARGE_RCPTS have one together.)  What agents write is known by the
 * vertices. */
void job_written(struct job_table *table, const struct job *job);
uint32_t job_table_number(const struct job_table *table, const struct job *job);
/* The job is another block of one that had this number. */
void job_table_number_set(struct job_table *table, const struct job *job,
    uint32_t number);

/* Append the job to a list, unless it is there already.  If the list is a
 * stage, the job leaves its previous stage. */
void job_list_add(struct job_table *table, enum job_list_name name,
    struct job *job);
/* Remove the job from a list, whose last one takes its place.  Does nothing if
 * it is not there. */
void job_list_remove(struct job_table *table, enum job_list_name name,
    struct job *job);
/* Remove and return the last one; NULL: the list is empty. */
struct job *job_list_take(struct job_table *table, enum job_list_name name);

/* Remove a job from every list and the table, and free it.  A panic if a vertex
 * of it is still in the plan or at an agent, or its report is being written,
 * because somebody would use it after its end. */
void job_end(struct job_table *table, struct job **job);
/* When the scheduler stops: empty all lists, free all jobs; release the table
 * next. */
void job_table_end(struct job_table *table);
#endif
