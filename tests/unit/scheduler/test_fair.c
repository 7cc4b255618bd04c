/* test_fair.c - nobody starves at a destination
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "scheduler/plan/plan.h"
#include "scheduler/plan/thread.h"

enum { JOBS_MAX = 4000 };

static struct {
	struct planner	plan;
	struct ring	ring;
	struct thread	thread;
	struct job	*jobs[JOBS_MAX];
	size_t		count;
} f;

static void
fair_open(bool is_fair)
{
	memset(&f, 0, sizeof(f));
	plan_init(&f.plan);
	TAILQ_INIT(&f.ring.runnable);
	TAILQ_INIT(&f.ring.bulk);
	f.ring.clause.parallel = 1;
	f.ring.clause.is_fair = is_fair;
	f.thread.ring = &f.ring;
	f.thread.heap_index = HEAP_NONE;
	lanes_init(&f.thread.lanes);
	pace_init(&f.thread);
}

static struct job *
fair_job(uint32_t source, int priority, unsigned rcpts, uint32_t total)
{
	struct job *job = job_new(1, 1);

	cr_assert_lt(f.count, JOBS_MAX);
	job->inode = ++f.count;
	job->source = source;
	job->priority = (int8_t)priority;
	job->rcpt_total = total;
	job->vertices[0].thread = &f.thread;
	job->vertices[0].rcpt_count = (uint16_t)rcpts;
	f.jobs[f.count - 1] = job;
	plan_ready(&f.plan, &job->vertices[0]);
	return job;
}

static struct job *
fair_next(void)
{
	struct vertex *vertex = plan_take(&f.plan, &f.thread, 1000);

	if (vertex == NULL)
		return NULL;
	plan_done(&f.plan, vertex);
	return vertex->job;
}

static void
fair_close(void)
{
	for (size_t i = 0; i < f.count; i++) {
		plan_forget(&f.plan, &f.jobs[i]->vertices[0]);
		job_free(&f.jobs[i]);
	}
	plan_release(&f.plan);
}

Test(fair, one_who_sends_a_thousand_does_not_keep_another_waiting)
{
	struct job *small;
	unsigned before = 0;

	fair_open(true);
	for (int i = 0; i < 1000; i++)
		fair_job(1, 0, 1, 1);
	small = fair_job(2, 0, 1, 1);
	while (fair_next() != small)
		before++;
	cr_expect_leq(before, 1, "%u went first", before);
	fair_close();
}

Test(fair, without_fair_it_is_first_come_first_served)
{
	struct job *last;
	unsigned before = 0;

	fair_open(false);
	for (int i = 0; i < 1000; i++)
		fair_job(1, 0, 1, 1);
	last = fair_job(2, 0, 1, 1);
	while (fair_next() != last)
		before++;
	cr_expect_eq(before, 1000);
	fair_close();
}

/* Ten sources, one of them with vertices of a hundred recipients: each gets
 * its share of the recipients, not of the vertices. */
Test(fair, recipients_count_not_messages)
{
	unsigned big = 0, small = 0;

	fair_open(true);
	for (int i = 0; i < 100; i++)
		fair_job(1, 0, 99, 99);
	for (int i = 0; i < 2000; i++)
		fair_job(2 + (uint32_t)i % 9, 0, 1, 1);
	for (int i = 0; i < 1000; i++) {
		struct job *job = fair_next();

		*(job->source == 1 ? &big : &small) += 1;
	}
	cr_expect_geq(big, 9, "it is not starved: %u", big);
	cr_expect_leq(big, 13, "nor do the others wait for it: %u", big);
	fair_close();
}

Test(fair, lanes_share_eight_four_one_and_none_starves)
{
	unsigned counts[LANES] = { 0 };

	fair_open(true);
	for (int i = 0; i < 1000; i++) {
		fair_job(1, 5, 1, 1);
		fair_job(1, 0, 1, 1);
		fair_job(1, -5, 1, 1);
	}
	for (int i = 0; i < 1300; i++) {
		struct job *job = fair_next();

		counts[job->priority > 0 ? LANE_URGENT :
		    job->priority < 0 ? LANE_BULK : LANE_NORMAL]++;
	}
	cr_expect_eq(counts[LANE_URGENT], 800);
	cr_expect_eq(counts[LANE_NORMAL], 400);
	cr_expect_eq(counts[LANE_BULK], 100);
	fair_close();
}

Test(fair, a_message_to_many_goes_behind_what_is_for_few)
{
	struct job *small;
	unsigned before = 0;

	fair_open(true);
	for (int i = 0; i < 1000; i++)
		fair_job(1, 0, 100, 100000);
	small = fair_job(1, 0, 1, 1);
	while (fair_next() != small)
		before++;
	cr_expect_eq(before, 0, "%u went first", before);
	fair_close();
}

Test(fair, the_oldest_goes_first_when_asked)
{
	int64_t last_ms = -1;
	struct job *job;

	fair_open(false);
	f.ring.clause.is_by_age = true;
	for (int i = 0; i < 500; i++) {
		job = job_new(1, 1);
		f.jobs[f.count++] = job;
		job->born_ms = (i * 7919) % 500;
		job->vertices[0].thread = &f.thread;
		job->vertices[0].rcpt_count = 1;
		plan_ready(&f.plan, &job->vertices[0]);
	}
	while ((job = fair_next()) != NULL) {
		cr_assert_geq(job->born_ms, last_ms);
		last_ms = job->born_ms;
	}
	fair_close();
}
