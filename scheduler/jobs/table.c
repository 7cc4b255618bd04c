/* table.c - the jobs by inode, and the lists that name them
 *
 * Out    find, add, remove in constant time
 * Holds  two words a job, and one more in each list
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "scheduler/jobs/array.h"
#include "scheduler/jobs/table.h"

#include "base/banned.h"

enum { TABLE_SIZE_MIN = 64 };

void
job_table_init(struct job_table *table)
{
	memset(table, 0, sizeof(*table));
	table->size = TABLE_SIZE_MIN;
	table->count = table->wraps = 0;
	table->slots = mem_alloc(table->size, sizeof(*table->slots));
}

void
job_table_release(struct job_table *table)
{
	mem_free(&table->slots);
	mem_free(&table->large);
	table->size = table->count = 0;
	for (enum job_list_name name = 0; name < JOB_LISTS; name++) {
		mem_free(&table->lists[name].jobs);
		table->lists[name] = (struct job_list){ NULL, 0, 0 };
	}
}

/* Inodes come in runs: multiply, so that the runs spread. */
static size_t
job_table_home(const struct job_table *table, ino_t inode)
{
	uint64_t mixed = (uint64_t)inode * 0x9e3779b97f4a7c15u;

	return (size_t)(mixed >> 32) & (table->size - 1);
}

static size_t
job_table_slot(const struct job_table *table, ino_t inode)
{
	size_t at = job_table_home(table, inode);

	while (table->slots[at] != NULL && table->slots[at]->inode != inode)
		at = (at + 1) & (table->size - 1);
	return at;
}

struct job *
job_table_find(const struct job_table *table, ino_t inode)
{
	return table->slots[job_table_slot(table, inode)];
}

static void
job_table_grow(struct job_table *table)
{
	struct job_table bigger = *table;

	bigger.size *= 2;
	bigger.slots = mem_alloc(bigger.size, sizeof(*bigger.slots));
	for (size_t i = 0; i < table->size; i++) {
		struct job *job = table->slots[i];

		if (job != NULL)
			bigger.slots[job_table_slot(&bigger, job->inode)] = job;
	}
	mem_free(&table->slots);
	*table = bigger;
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
	size_t at;

	if ((table->count + 1) * 4 > table->size * 3)
		job_table_grow(table);
	at = job_table_slot(table, job->inode);
	if (table->slots[at] != NULL)
		panic("job %ju is in the table", (uintmax_t)job->inode);
	table->slots[at] = job;
	table->count++;
	if (job->rcpt_total >= JOB_LARGE_RCPTS) {
		ARRAY_GROW(table->large, table->large_count,
		    table->large_capacity);
		table->large[table->large_count++] =
		    (struct job_written){ job->inode, ++table->writes };
	}
	table->serial += job->rcpt_total >= JOB_LARGE_RCPTS;
}

/* Knuth 6.4 R: close the gap, so that no probe ends too early. */
void
job_table_remove(struct job_table *table, ino_t inode)
{
	size_t mask = table->size - 1, gap = job_table_slot(table, inode),
	    at = gap;

	if (table->slots[gap] == NULL)
		return;
	written_forget(table, table->slots[gap]);
	table->slots[gap] = NULL;
	table->count--;
	for (;;) {
		struct job *job;
		size_t home;

		at = (at + 1) & mask;
		job = table->slots[at];
		if (job == NULL)
			return;
		home = job_table_home(table, job->inode);
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		table->wraps += at < gap;
		table->slots[gap] = job;
		table->slots[at] = NULL;
		gap = at;
	}
}

struct job *
job_table_next(const struct job_table *table, size_t *cursor)
{
	while (*cursor < table->size) {
		struct job *job = table->slots[(*cursor)++];

		if (job != NULL)
			return job;
	}
	return NULL;
}

void
job_walk_init(struct job_walk *walk, const struct job_table *table)
{
	*walk = (struct job_walk){ table->size, table->size, table->wraps,
	    false };
}

struct job *
job_walk_next(struct job_walk *walk, const struct job_table *table,
    unsigned *budget)
{
	if (walk->is_over)
		return NULL;
	if (walk->size != table->size || walk->wraps != table->wraps)
		job_walk_init(walk, table);
	while (walk->left > 0 && *budget > 0) {
		struct job *job = table->slots[--walk->left];

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
