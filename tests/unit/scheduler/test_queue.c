/* test_queue.c - jobs and the table that finds them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "scheduler/plan/queue.h"

static uint64_t seed;

static uint32_t
dice(uint32_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % sides;
}

Test(queue, the_table_finds_what_was_put_in)
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

Test(queue, a_walk_in_pieces_meets_all_that_stays)
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

Test(queue, a_recipient_is_found_by_its_offset)
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
