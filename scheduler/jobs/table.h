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

struct job_table {
	struct job	**slots;	/* open addressing, a power of two */
	size_t		 size, count;
	unsigned	 wraps;		/* jobs that moved from the front of
					 * the slots to the end */
	struct job_list	 lists[JOB_LISTS];
};

/* An empty table; job_table_release frees it. */
void job_table_init(struct job_table *table);
/* Frees the table and its lists; the jobs in it must be gone. */
void job_table_release(struct job_table *table);
struct job *job_table_find(const struct job_table *table, ino_t inode);
/* The inode must not be in the table. */
void job_table_add(struct job_table *table, struct job *job);
void job_table_remove(struct job_table *table, ino_t inode);
/* Walk in any order: *cursor from 0; NULL at the end.  Adding in between
 * may skip or repeat some. */
struct job *job_table_next(const struct job_table *table, size_t *cursor);

/* A walk in pieces.  A job that is in the table all the time is met at least
 * once, whatever comes and goes between the pieces; a job may be met twice.
 * From the end to the front, because a removal moves others forward only;
 * what does not fit that (growth, wraps) begins it anew. */
struct job_walk {
	size_t		 left, size;
	unsigned	 wraps;
	bool		 is_over;
};

/* Begin a walk over what is in the table. */
void job_walk_init(struct job_walk *walk, const struct job_table *table);
/* The next job.  budget: slots to look at; it goes down.  NULL: it is over,
 * or budget is 0. */
struct job *job_walk_next(struct job_walk *walk,
    const struct job_table *table, unsigned *budget);

/* Put the job into a list, at its end; one that is there stays where it is.
 * Of the stages, it leaves the one before. */
void job_list_add(struct job_table *table, enum job_list_name name,
    struct job *job);
/* Take it out; the last one of the list takes its place.  Nothing when it is
 * not there. */
void job_list_remove(struct job_table *table, enum job_list_name name,
    struct job *job);
/* Take the last one out and return it; NULL: the list is empty. */
struct job *job_list_take(struct job_table *table, enum job_list_name name);

/* The end of a job of the table: out of every list and of the table, then
 * freed.  A panic when a vertex of it is still in the plan or at an agent, or
 * its report is being written: somebody would use it after its end. */
void job_end(struct job_table *table, struct job **job);
/* When the scheduler stops: all lists are emptied, all jobs freed; the table
 * must be released next. */
void job_table_end(struct job_table *table);
#endif
