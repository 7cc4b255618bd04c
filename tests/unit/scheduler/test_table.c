/* test_table.c - jobs and the table that finds them
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <string.h>

#include <criterion/criterion.h>

#include "scheduler/jobs/table.h"

static uint64_t seed;

static uint32_t
dice(uint32_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % sides;
}

Test(table, the_table_finds_what_was_put_in)
{
	enum { INODES = 5000 };
	static struct job *all[INODES];
	struct job_table table;
	size_t cursor = 0, count = 0, seen = 0;

	seed = 3;
	job_table_init(&table);
	for (int i = 0; i < 200000; i++) {
		uint32_t n = dice(INODES);

		cr_assert_eq(job_table_find(&table, n + 1), all[n]);
		if (all[n] == NULL) {
			all[n] = job_new(0, 0);
			all[n]->inode = n + 1;
			job_table_add(&table, all[n]);
			count++;
		} else if (dice(2) == 0) {
			job_table_remove(&table, n + 1);
			job_free(&all[n]);
			count--;
		}
		cr_assert_eq(table.count, count);
	}
	while (job_table_next(&table, &cursor) != NULL)
		seen++;
	cr_expect_eq(seen, count);
	for (int i = 0; i < INODES; i++)
		job_free(&all[i]);
	job_table_release(&table);
}

/* Jobs that are there from the beginning to the end of a walk are met, while
 * others come and go between its pieces; dense, so that clusters are long and
 * wrap. */
static void
walk_among(struct job_table *table, struct job **all, uint32_t inodes,
    uint32_t changes)
{
	bool *stays = mem_alloc(inodes, sizeof(bool));
	struct job_walk walk;
	struct job *job;

	for (uint32_t n = 0; n < inodes; n++)
		stays[n] = all[n] != NULL && dice(4) > 0;
	job_walk_init(&walk, table);
	while (!walk.is_over) {
		unsigned budget = 1 + dice(40);

		while ((job = job_walk_next(&walk, table, &budget)) != NULL)
			stays[job->inode - 1] = false;
		for (uint32_t i = dice(changes); i > 0; i--) {
			uint32_t n = dice(inodes);

			if (all[n] == NULL) {
				all[n] = job_new(0, 0);
				all[n]->inode = n + 1;
				job_table_add(table, all[n]);
			} else if (!stays[n]) {
				job_table_remove(table, n + 1);
				job_free(&all[n]);
			}
		}
	}
	for (uint32_t n = 0; n < inodes; n++)
		cr_assert(!stays[n], "inode %u was not met", n + 1);
	mem_free(&stays);
}

Test(table, a_walk_in_pieces_meets_all_that_stays)
{
	static const uint32_t sizes[] = { 40, 90, 700, 3000 };
	static struct job *all[3000];
	unsigned wraps = 0;

	seed = 7;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int round = 0; round < 60; round++) {
			struct job_table table;

			job_table_init(&table);
			for (uint32_t n = 0; n < sizes[i]; n++) {
				all[n] = NULL;
				if (dice(2) > 0)
					continue;
				all[n] = job_new(0, 0);
				all[n]->inode = n + 1;
				job_table_add(&table, all[n]);
			}
			walk_among(&table, all, sizes[i], 12);
			wraps += table.wraps;
			for (uint32_t n = 0; n < sizes[i]; n++)
				job_free(&all[n]);
			job_table_release(&table);
		}
	cr_expect_gt(wraps, 0, "the hard case was there");
}

/* The lists against a naive model: jobs come, go into lists, out of them, and
 * end, at every moment. */
enum { LIST_JOBS = 300 };

static void
lists_compare(const struct job_table *table, struct job *const *all,
    bool (*model)[JOB_LISTS])
{
	for (int name = 0; name < JOB_LISTS; name++) {
		const struct job_list *list = &table->lists[name];
		size_t count = 0;

		for (uint32_t n = 0; n < LIST_JOBS; n++) {
			if (all[n] == NULL)
				continue;
			cr_assert_eq(job_is_in(all[n],
			    (enum job_list_name)name), model[n][name]);
			count += model[n][name];
		}
		cr_assert_eq(list->count, count, "nobody else is in it");
		for (size_t i = 0; i < list->count; i++) {
			cr_assert_eq(list->jobs[i]->at[job_place(
			    (enum job_list_name)name)], i + 1);
			cr_assert_eq(all[list->jobs[i]->inode - 1],
			    list->jobs[i]);
		}
	}
}

Test(table, a_job_that_ends_is_in_no_list)
{
	static struct job *all[LIST_JOBS];
	static bool model[LIST_JOBS][JOB_LISTS];
	struct job_table table;

	seed = 11;
	job_table_init(&table);
	for (int i = 0; i < 100000; i++) {
		uint32_t n = dice(LIST_JOBS);
		enum job_list_name name = dice(JOB_LISTS);
		struct job *job;

		if (all[n] == NULL) {
			all[n] = job_new(0, 0);
			all[n]->inode = n + 1;
			job_table_add(&table, all[n]);
		}
		switch (dice(8)) {
		case 0:
			job_end(&table, &all[n]);
			memset(model[n], 0, sizeof(model[n]));
			break;
		case 1:
			job = job_list_take(&table, name);
			if (job != NULL)
				model[job->inode - 1][name] = false;
			break;
		case 2: case 3:
			job_list_remove(&table, name, all[n]);
			model[n][name] = false;
			break;
		default:
			job_list_add(&table, name, all[n]);
			if (name >= JOB_OWING)	/* the stage before is left */
				memset(&model[n][JOB_OWING], 0, sizeof(bool) *
				    (JOB_LISTS - JOB_OWING));
			model[n][name] = true;
		}
		if (i % 100 == 0)
			lists_compare(&table, all, model);
	}
	lists_compare(&table, all, model);
	job_table_end(&table);
	job_table_release(&table);
}

Test(table, a_job_is_not_freed_while_it_is_listed, .signal = SIGABRT)
{
	struct job_table table;
	struct job *job = job_new(0, 0);

	job->inode = 1;
	job_table_init(&table);
	job_table_add(&table, job);
	job_list_add(&table, JOB_OWING, job);
	job_free(&job);
}

Test(table, a_job_does_not_end_at_an_agent, .signal = SIGABRT)
{
	struct job_table table;
	struct job *job = job_new(1, 1);

	job->inode = 1;
	job->vertices[0].state = VERTEX_FLIGHT;
	job_table_init(&table);
	job_table_add(&table, job);
	job_end(&table, &job);
}

Test(table, a_recipient_is_found_by_its_offset)
{
	struct job *job = job_new(2, 150);
	struct vertex *vertex = &job->vertices[1];

	for (uint32_t i = 0; i < 150; i++)
		job->rcpts[i].offset = 100 + i * 10;
	vertex->rcpt_first = 100;
	vertex->rcpt_count = 50;
	cr_expect_eq(vertex_rcpt(vertex, 1100), &job->rcpts[100]);
	cr_expect_eq(vertex_rcpt(vertex, 1590), &job->rcpts[149]);
	cr_expect_null(vertex_rcpt(vertex, 1090), "of the other vertex");
	cr_expect_null(vertex_rcpt(vertex, 1105));
	cr_expect_null(vertex_rcpt(vertex, 0));
	cr_expect_null(vertex_rcpt(vertex, UINT32_MAX));
	job_free(&job);
}
