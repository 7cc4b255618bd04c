/* table.c - the jobs by inode, and the lists that name them
 *
 * Out    find, add, remove in constant time, each of them: a table of a million
 *        that grows moves some jobs with each one that is added
 * Holds  two words a job, three while it grows, and one more in each list
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "scheduler/jobs/array.h"
#include "scheduler/jobs/table.h"

#include "base/banned.h"

enum {
	TABLE_SIZE_MIN = 64,
	TABLE_MOVES = 8		/* old slots that an addition looks at: all of
				 * them long before the table grows again */
};

static void
slots_init(struct job_slots *slots, size_t size)
{
	*slots = (struct job_slots){ mem_alloc(size, sizeof(struct job *)),
	    size, 0 };
}

static void
slots_release(struct job_slots *slots)
{
	mem_free(&slots->at);
	*slots = (struct job_slots){ NULL, 0, 0 };
}

void
job_table_init(struct job_table *table)
{
	memset(table, 0, sizeof(*table));
	slots_init(&table->now, TABLE_SIZE_MIN);
}

void
job_table_release(struct job_table *table)
{
	slots_release(&table->now);
	slots_release(&table->old);
	mem_free(&table->large);
	table->count = 0;
	for (enum job_list_name name = 0; name < JOB_LISTS; name++) {
		mem_free(&table->lists[name].jobs);
		table->lists[name] = (struct job_list){ NULL, 0, 0 };
	}
}

/* Inodes come in runs: multiply, so that the runs spread. */
static size_t
slots_home(const struct job_slots *slots, ino_t inode)
{
	uint64_t mixed = (uint64_t)inode * 0x9e3779b97f4a7c15u;

	return (size_t)(mixed >> 32) & (slots->size - 1);
}

static size_t
slots_find(const struct job_slots *slots, ino_t inode)
{
	size_t at = slots_home(slots, inode);

	while (slots->at[at] != NULL && slots->at[at]->inode != inode)
		at = (at + 1) & (slots->size - 1);
	return at;
}

struct job *
job_table_find(const struct job_table *table, ino_t inode)
{
	struct job *job = table->now.at[slots_find(&table->now, inode)];

	if (job == NULL && table->old.count > 0)
		job = table->old.at[slots_find(&table->old, inode)];
	return job;
}

static void
slots_add(struct job_slots *slots, struct job *job)
{
	size_t at = slots_find(slots, job->inode);

	if (slots->at[at] != NULL)
		panic("job %ju is in the table", (uintmax_t)job->inode);
	slots->at[at] = job;
	slots->count++;
}

/* Knuth 6.4 R: close the gap, so that no probe ends too early. */
static void
slots_remove(struct job_slots *slots, size_t gap, unsigned *io_wraps)
{
	size_t mask = slots->size - 1, at = gap;

	slots->at[gap] = NULL;
	slots->count--;
	for (;;) {
		struct job *job;
		size_t home;

		at = (at + 1) & mask;
		job = slots->at[at];
		if (job == NULL)
			return;
		home = slots_home(slots, job->inode);
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		*io_wraps += at < gap;
		slots->at[gap] = job;
		slots->at[at] = NULL;
		gap = at;
	}
}

/* ---- growth ------------------------------------------------------- */

/* From the end to the front; what a removal moved to the end meanwhile is met
 * when it begins there again. */
static void
table_move_some(struct job_table *table)
{
	struct job_slots *old = &table->old;

	for (int i = 0; i < TABLE_MOVES && old->count > 0; i++) {
		size_t at = (table->old_left - 1) & (old->size - 1);
		struct job *job = old->at[at];

		if (job == NULL) {
			table->old_left = at;
			continue;
		}
		slots_remove(old, at, &table->wraps);
		slots_add(&table->now, job);
	}
	if (old->size > 0 && old->count == 0)
		slots_release(old);
}

static void
table_grow(struct job_table *table)
{
	while (table->old.size > 0)
		table_move_some(table);
	table->old = table->now;
	table->old_left = table->old.size;
	slots_init(&table->now, 2 * table->old.size);
}

/* ---- what was written of large ones ------------------------------ */

static struct job_written *
written_find(const struct job_table *table, ino_t inode)
{
	for (size_t i = 0; i < table->large_count; i++)
		if (table->large[i].inode == inode)
			return &table->large[i];
	return NULL;
}

uint32_t
job_table_number(const struct job_table *table, const struct job *job)
{
	const struct job_written *large = job->rcpt_total < JOB_LARGE_RCPTS ?
	    NULL : written_find(table, job->inode);

	return large != NULL ? large->number : table->writes;
}

void
job_table_number_set(struct job_table *table, const struct job *job,
    uint32_t number)
{
	struct job_written *large = written_find(table, job->inode);

	if (large != NULL)
		large->number = number;
}

void
job_written(struct job_table *table, const struct job *job)
{
	table->writes++;
	if (job->rcpt_total >= JOB_LARGE_RCPTS)
		job_table_number_set(table, job, table->writes);
}

static void
written_forget(struct job_table *table, const struct job *job)
{
	struct job_written *large = job->rcpt_total < JOB_LARGE_RCPTS ?
	    NULL : written_find(table, job->inode);

	if (large != NULL)
		*large = table->large[--table->large_count];
}

/* ---- in and out -------------------------------------------------- */

void
job_table_add(struct job_table *table, struct job *job)
{
	if (table->old.size > 0)
		table_move_some(table);
	else if ((table->count + 1) * 4 > table->now.size * 3)
		table_grow(table);
	if (table->old.count > 0 &&
	    table->old.at[slots_find(&table->old, job->inode)] != NULL)
		panic("job %ju is in the old table", (uintmax_t)job->inode);
	slots_add(&table->now, job);
	table->count++;
	if (job->rcpt_total >= JOB_LARGE_RCPTS) {
		ARRAY_GROW(table->large, table->large_count,
		    table->large_capacity);
		table->large[table->large_count++] =
		    (struct job_written){ job->inode, ++table->writes };
	}
	table->serial += job->rcpt_total >= JOB_LARGE_RCPTS;
}

/* False: it is not in these. */
static bool
table_remove_from(struct job_table *table, struct job_slots *slots,
    ino_t inode)
{
	size_t at = slots->count > 0 ? slots_find(slots, inode) : 0;

	if (slots->count == 0 || slots->at[at] == NULL)
		return false;
	written_forget(table, slots->at[at]);
	slots_remove(slots, at, &table->wraps);
	table->count--;
	return true;
}

void
job_table_remove(struct job_table *table, ino_t inode)
{
	if (!table_remove_from(table, &table->now, inode))
		(void)table_remove_from(table, &table->old, inode);
	if (table->old.size > 0 && table->old.count == 0)
		slots_release(&table->old);
}

/* The old slots come after the others. */
static struct job *
table_at(const struct job_table *table, size_t at)
{
	return at < table->now.size ? table->now.at[at] :
	    table->old.at[at - table->now.size];
}

struct job *
job_table_next(const struct job_table *table, size_t *cursor)
{
	while (*cursor < table->now.size + table->old.size) {
		struct job *job = table_at(table, (*cursor)++);

		if (job != NULL)
			return job;
	}
	return NULL;
}

void
job_walk_init(struct job_walk *walk, const struct job_table *table)
{
	*walk = (struct job_walk){ table->now.size + table->old.size,
	    table->now.size, table->wraps, false };
}

struct job *
job_walk_next(struct job_walk *walk, const struct job_table *table,
    unsigned *budget)
{
	if (walk->is_over)
		return NULL;
	if (walk->size != table->now.size || walk->wraps != table->wraps)
		job_walk_init(walk, table);
	if (walk->left > table->now.size + table->old.size)
		walk->left = table->now.size;	/* all of them have moved */
	while (walk->left > 0 && *budget > 0) {
		struct job *job = table_at(table, --walk->left);

		(*budget)--;
		if (job != NULL)
			return job;
	}
	walk->is_over = walk->left == 0;
	return NULL;
}

void
job_list_add(struct job_table *table, enum job_list_name name,
    struct job *job)
{
	struct job_list *list = &table->lists[name];

	if (job_is_in(job, name))
		return;
	if (name >= JOB_OWING) {
		if (job->at[job_place(name)] != 0)
			job_list_remove(table,
			    (enum job_list_name)job->stage, job);
		job->stage = (uint8_t)name;
	}
	if (list->count == list->capacity) {
		list->capacity += list->capacity / 2 + 64;
		list->jobs = mem_grow(list->jobs, list->capacity,
		    sizeof(struct job *));
	}
	list->jobs[list->count++] = job;
	job->at[job_place(name)] = (uint32_t)list->count;
}

void
job_list_remove(struct job_table *table, enum job_list_name name,
    struct job *job)
{
	struct job_list *list = &table->lists[name];
	unsigned place = job_place(name);
	uint32_t at = job->at[place];

	if (!job_is_in(job, name))
		return;
	list->jobs[at - 1] = list->jobs[--list->count];
	list->jobs[at - 1]->at[place] = at;
	job->at[place] = 0;
}

struct job *
job_list_take(struct job_table *table, enum job_list_name name)
{
	struct job_list *list = &table->lists[name];
	struct job *job;

	if (list->count == 0)
		return NULL;
	job = list->jobs[--list->count];
	job->at[job_place(name)] = 0;
	return job;
}

void
job_end(struct job_table *table, struct job **pjob)
{
	struct job *job = *pjob;

	for (enum job_list_name name = 0; name < JOB_LISTS; name++)
		job_list_remove(table, name, job);
	job_table_remove(table, job->inode);
	job_free(pjob);
}

void
job_table_end(struct job_table *table)
{
	size_t cursor = 0;
	struct job *job;

	for (enum job_list_name name = 0; name < JOB_LISTS; name++)
		while (job_list_take(table, name) != NULL)
			;
	while ((job = job_table_next(table, &cursor)) != NULL)
		job_free(&job);
}
