/* core.c - the parts of the scheduler put together
 *
 * In     the end of each turn of the loop
 * Out    calls to the parts, in the order of a message's way
 * Holds  the timers of the plan's next moment and of each minute
 *
 * SPDX-License-Identifier: ISC
 */
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "io/cpu.h"
#include "journal/progress.h"
#include "scheduler/sharing/sharing.h"
#include "scheduler/sharing/warming.h"
#include "scheduler/core.h"
#include "scheduler/intake/scan.h"
#include "scheduler/intake/strays.h"
#include "scheduler/outcome/amend.h"

#include "base/banned.h"

static void
core_load_classes(const struct conf *conf)
{
	struct err err;

	if (conf_classes_load(conf, &err) < 0)
		warning("classes: %s; the rules of before stay", err.text);
}

static void
core_shape_due(void *context)
{
	struct scheduler *scheduler = context;

	queue_write_shapes(&scheduler->queue);
	timer_set(scheduler->queue.loop, &scheduler->shape_timer,
	    clock_steady_ms() + SHAPE_WRITE_MS, core_shape_due, scheduler);
}

/* Once a minute: what nobody told us, and what is too old. */
static void
core_minute(void *context)
{
	struct scheduler *scheduler = context;
	struct queue *queue = &scheduler->queue;
	ino_t inode;

	while (intake_take_orphan(&scheduler->intake, &inode))
		group_orphan(&scheduler->group, inode);
	strays_begin(&scheduler->intake);
	scan_begin(&scheduler->intake);
	thread_sweep(&queue->threads, clock_steady_ms() - INTAKE_RESCAN_MS);
	provider_sweep(&queue->providers, clock_wall_s());
	settle_tick(queue);
	outcome_sweep(&scheduler->outcome, clock_steady_ms());
	queue_write_arrivals(queue);
	timer_set(queue->loop, &scheduler->minute,
	    clock_steady_ms() + INTAKE_RESCAN_MS, core_minute, scheduler);
}

/* What is at an agent is looked at again in a second. */
static void
core_take_away(void *context)
{
	struct scheduler *scheduler = context;
	struct queue *queue = &scheduler->queue;
	unsigned budget = UINT_MAX, left = 0;
	struct job_walk walk;
	struct job *job;

	job_walk_init(&walk, &queue->jobs);
	while ((job = job_walk_next(&walk, &queue->jobs, &budget)) != NULL) {
		const char *node = sharing_taken_by(queue->sharing, job->id);

		if (node == NULL || job_is_finished(job))
			continue;
		if (job->flight_count == 0)
			group_take_away(&scheduler->group, job, node);
		else
			left++;
	}
	if (left > 0)
		timer_set(queue->loop, &scheduler->taken_timer,
		    clock_steady_ms() + SHARING_TICK_MS, core_take_away,
		    scheduler);
	else
		sharing_taken_done(queue->sharing);
}

static void
core_take_left(void *context, struct job *job, const char *node)
{
	struct scheduler *scheduler = context;

	group_take_away(&scheduler->group, job, node);
}

/* As its files say. */
static void
core_go_on(void *context, struct job *job)
{
	struct scheduler *scheduler = context;
	struct queue *queue = &scheduler->queue;
	ino_t inode = job->inode;

	intake_again(&scheduler->intake, job);
	job = job_table_find(&queue->jobs, inode);
	if (job != NULL)
		sharing_note_kept(queue->sharing, job);
}

static void
core_read_known(void *context, ino_t inode)
{
	struct scheduler *scheduler = context;

	intake_add(&scheduler->intake, inode, false);
	intake_soon(&scheduler->intake);
}

static const struct sharing_kind core_sharing_kind = {
	core_take_away, { core_take_left, core_go_on, core_read_known }
};

/* Each part knows those that it calls. */
static void
core_join(struct scheduler *scheduler)
{
	struct queue *queue = &scheduler->queue;

	scheduler->intake.queue = queue;
	scheduler->intake.group = &scheduler->group;
	scheduler->outcome.queue = queue;
	scheduler->outcome.group = &scheduler->group;
	scheduler->outcome.intake = &scheduler->intake;
	scheduler->reporter.queue = queue;
	scheduler->reporter.outcome = &scheduler->outcome;
	scheduler->agents.queue = queue;
	scheduler->agents.intake = &scheduler->intake;
	scheduler->agents.outcome = &scheduler->outcome;
}

int
core_open(struct scheduler *scheduler, const struct conf *conf,
    struct spool *spool, struct loop *loop, agents_start_fn *start,
    agents_kill_fn *kill, struct err *err)
{
	memset(scheduler, 0, sizeof(*scheduler));
	core_join(scheduler);
	core_load_classes(conf);
	if (queue_open(&scheduler->queue, conf, spool, loop, err) < 0)
		return -1;
	group_open(&scheduler->group, &scheduler->queue);
	timer_set(loop, &scheduler->shape_timer, clock_steady_ms() +
	    SHAPE_WRITE_MS, core_shape_due, scheduler);
	agents_open(&scheduler->agents, start, kill);
	timer_set(loop, &scheduler->agents.standby_tick, clock_steady_ms() +
	    AGENT_TICK_MS, agents_stand_by, &scheduler->agents);
	formset_load(&scheduler->reporter.forms, conf);
	scheduler->queue.sharing = sharing_new(&scheduler->queue,
	    &core_sharing_kind, scheduler);
	scheduler->warming = warming_new(&scheduler->queue);
	if (intake_open(&scheduler->intake, err) < 0)
		return -1;
	core_minute(scheduler);
	return 0;
}

void
core_begin(struct scheduler *scheduler)
{
	intake_begin(&scheduler->intake);
}

/* The timer does nothing but end the wait. */
static void
core_wake(void *context)
{
}

/* At most each second, as often as somebody can read it. */
static void
core_note_progress(struct scheduler *scheduler)
{
	int64_t now_ms = clock_steady_ms();

	if (now_ms - scheduler->looked_ms < PROGRESS_NAP_MS)
		return;
	scheduler->looked_ms = now_ms;
	progress_work(PROGRESS_FEED, agents_have_unfed(&scheduler->agents,
	    now_ms), scheduler->queue.plan.taken_count);
}

/* Since the end of the turn before: to wait takes none. */
static void
core_count_cpu(struct queue *queue)
{
	int64_t now_us = cpu_thread_us();

	if (queue->cpu_us > 0 &&
	    now_us - queue->cpu_us > queue->longest_cpu_us)
		queue->longest_cpu_us = now_us - queue->cpu_us;
	queue->cpu_us = now_us;
}

void
core_turn(void *context)
{
	struct scheduler *scheduler = context;
	struct queue *queue = &scheduler->queue;
	int64_t next_ms, report_ms;
	bool is_cut;

	core_count_cpu(queue);
	if (scheduler->is_closed)	/* the last turn goes on to its end */
		return;
	(void)outcome_due(&scheduler->outcome, clock_steady_ms());
	report_ms = reporter_turn_end(&scheduler->reporter);
	is_cut = agents_feed(&scheduler->agents);
	warming_turn(scheduler->warming);
	intake_turn_end(&scheduler->intake);
	core_note_progress(scheduler);
	if (scheduler->verdicts != NULL)
		verdicts_turn_end(scheduler->verdicts);
	next_ms = plan_next_ms(&queue->plan);
	if (report_ms < next_ms)
		next_ms = report_ms;
	if (is_cut)
		next_ms = 0;
	if (next_ms == INT64_MAX)
		timer_clear(&scheduler->plan_timer);
	else if (scheduler->plan_timer.at_ms != next_ms)
		timer_set(queue->loop, &scheduler->plan_timer,
		    next_ms > 0 ? next_ms : 1, core_wake, scheduler);
}

/* A cluster may have come, gone, or be another. */
static void
core_renew_sharing(struct scheduler *scheduler)
{
	struct queue *queue = &scheduler->queue;

	if (sharing_fits(queue->sharing, queue->conf))
		return;
	timer_clear(&scheduler->taken_timer);
	sharing_move_none(queue->sharing, "the cluster is another one now");
	sharing_free(&queue->sharing);
	queue->sharing = sharing_new(queue, &core_sharing_kind, scheduler);
}

void
core_reload(struct scheduler *scheduler, const struct conf *conf)
{
	scheduler->queue.conf = conf;
	objectives_set(&scheduler->queue.objectives, conf);
	core_load_classes(conf);
	formset_load(&scheduler->reporter.forms, conf);
	core_renew_sharing(scheduler);
	agents_rematch(&scheduler->agents);
	settle_kept(&scheduler->queue);
}

void
core_close(struct scheduler *scheduler)
{
	scheduler->is_closed = true;
	timer_clear(&scheduler->plan_timer);
	timer_clear(&scheduler->shape_timer);
	timer_clear(&scheduler->minute);
	sampler_close(&scheduler->sampler);
	queue_write_shapes(&scheduler->queue);
	queue_write_arrivals(&scheduler->queue);
	amend_end(&scheduler->outcome);
	reporter_finish(&scheduler->reporter);
	group_commit(&scheduler->group);
	timer_clear(&scheduler->taken_timer);
	sharing_free(&scheduler->queue.sharing);
	warming_free(&scheduler->warming);
	agents_release(&scheduler->agents);
	intake_close(&scheduler->intake);
	group_release(&scheduler->group);
	queue_close(&scheduler->queue);
	formset_release(&scheduler->reporter.forms);
}
