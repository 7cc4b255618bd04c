/* core.c - the parts of the scheduler put together
 *
 * In     the end of each turn of the loop
 * Out    calls to the parts, in the order of a message's way
 * Holds  the timer for the plan's next moment
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "scheduler/agents/agents.h"
#include "scheduler/core.h"
#include "scheduler/intake/intake.h"
#include "scheduler/outcome/group.h"
#include "scheduler/outcome/outcome.h"
#include "scheduler/report/report.h"

#include "base/banned.h"

static void
classes_load(const struct conf *conf)
{
	struct err err;

	if (conf_classes_load(conf, &err) < 0)
		warning("classes: %s; the rules of before stay", err.text);
}

static void
shapes_write(struct scheduler *scheduler)
{
	struct str text = STR_INIT;
	struct thread *thread = NULL;
	size_t bucket = 0;
	int64_t now_s = clock_wall_s();

	/* to the hour: a destination that is only seen again is no news */
	now_s -= now_s % 3600;
	while (thread_next(&scheduler->threads, &bucket, &thread) &&
	    text.len < SHAPE_TEXT_BYTES_MAX)
		shape_add_thread(&text, thread, now_s);
	shape_add_kept(&scheduler->threads.shapes, &text);
	warm_add_lines(&scheduler->warms, &text);
	provider_add_lines(&scheduler->providers, now_s, &text);
	shape_write(&scheduler->threads.shapes, &text);
	str_release(&text);
}

static void
shape_tick(void *context)
{
	struct scheduler *scheduler = context;

	shapes_write(scheduler);
	timer_set(scheduler->loop, &scheduler->shape_timer,
	    clock_steady_ms() + SHAPE_WRITE_MS, shape_tick, scheduler);
}

int
core_open(struct scheduler *scheduler, const struct conf *conf,
    struct spool *spool, struct loop *loop, agents_start_fn *start,
    agents_kill_fn *kill, struct err *err)
{
	memset(scheduler, 0, sizeof(*scheduler));
	scheduler->conf = conf;
	scheduler->spool = spool;
	scheduler->loop = loop;
	scheduler->started_ms = clock_steady_ms();
	classes_load(conf);
	plan_init(&scheduler->plan);
	thread_table_init(&scheduler->threads);
	job_table_init(&scheduler->jobs);
	shape_open(&scheduler->threads.shapes, &scheduler->providers,
	    &scheduler->warms, conf->run_dir);
	timer_set(loop, &scheduler->shape_timer, clock_steady_ms() +
	    SHAPE_WRITE_MS, shape_tick, scheduler);
	agents_open(scheduler, start, kill);
	if (orders_open(&scheduler->orders, spool, err) < 0)
		return -1;
	core_orders(scheduler);
	formset_load(&scheduler->reporter.forms, conf);
	return intake_open(scheduler, err);
}

static void
orders_due(void *context)
{
	core_orders(context);
}

void
core_orders(struct scheduler *scheduler)
{
	struct thread *thread = NULL;
	size_t bucket = 0;
	int64_t next_s;

	(void)orders_expire(&scheduler->orders, clock_wall_s());
	while (thread_next(&scheduler->threads, &bucket, &thread))
		orders_apply(&scheduler->orders, thread);
	next_s = orders_next_s(&scheduler->orders);
	timer_clear(&scheduler->orders_timer);
	if (next_s > 0)
		timer_set(scheduler->loop, &scheduler->orders_timer,
		    clock_steady_ms() + (next_s - clock_wall_s()) * 1000,
		    orders_due, scheduler);
}

/* The timer does nothing but end the wait. */
static void
wake(void *context)
{
}

void
core_turn(void *context)
{
	struct scheduler *scheduler = context;
	int64_t next_ms, report_ms;

	if (scheduler->is_closed)	/* the last turn goes on to its end */
		return;
	(void)outcome_due(scheduler, clock_steady_ms());
	report_ms = report_turn_end(scheduler);
	agents_feed(scheduler);
	intake_turn_end(scheduler);
	next_ms = plan_next_ms(&scheduler->plan);
	if (report_ms < next_ms)
		next_ms = report_ms;
	if (next_ms == INT64_MAX)
		timer_clear(&scheduler->plan_timer);
	else if (scheduler->plan_timer.at_ms != next_ms)
		timer_set(scheduler->loop, &scheduler->plan_timer,
		    next_ms > 0 ? next_ms : 1, wake, scheduler);
}

void
core_reload(struct scheduler *scheduler, const struct conf *conf)
{
	scheduler->conf = conf;
	classes_load(conf);
	formset_load(&scheduler->reporter.forms, conf);
	agents_rematch(scheduler);
}

void
core_close(struct scheduler *scheduler)
{
	struct job *job;
	size_t cursor = 0;

	scheduler->is_closed = true;
	timer_clear(&scheduler->plan_timer);
	timer_clear(&scheduler->shape_timer);
	shapes_write(scheduler);
	timer_clear(&scheduler->orders_timer);
	group_commit(scheduler);
	agents_release(scheduler);
	while ((job = job_table_next(&scheduler->jobs, &cursor)) != NULL) {
		for (size_t i = 0; i < job->vertex_count; i++)
			plan_forget(&scheduler->plan, &job->vertices[i]);
	}
	job_table_end(&scheduler->jobs);
	intake_close(scheduler);
	group_release(scheduler);
	job_table_release(&scheduler->jobs);
	thread_table_release(&scheduler->threads);
	provider_table_release(&scheduler->providers);
	warm_release(&scheduler->warms);
	plan_release(&scheduler->plan);
	orders_release(&scheduler->orders);
	formset_release(&scheduler->reporter.forms);
}
