/* queue.c - the mail under way, and what all folders need to work on it
 *
 * In     new jobs; orders, moments, a zone's share of the day
 * Out    vertices that are ready, wait or are parked
 * Holds  the jobs, their destinations and what was learned of these
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "scheduler/plan/arrivals/estimate.h"
#include "scheduler/plan/queue.h"
#include "scheduler/plan/retry.h"

#include "base/banned.h"

void
queue_write_shapes(struct queue *queue)
{
	struct str text = STR_INIT;
	struct thread *thread = NULL;
	size_t bucket = 0;
	int64_t now_s = clock_wall_s();

	/* to the hour: a destination that is only seen again is no news */
	now_s -= now_s % 3600;
	while (thread_next(&queue->threads, &bucket, &thread) &&
	    text.len < SHAPE_TEXT_BYTES_MAX)
		shape_add_thread(&text, thread, now_s);
	shape_add_remembered(&queue->threads.shapes, &text);
	warm_add_lines(&queue->warms, &text);
	provider_add_lines(&queue->providers, now_s, &text);
	shape_write(&queue->threads.shapes, &text);
	str_release(&text);
}

void
queue_write_arrivals(struct queue *queue)
{
	struct str text = STR_INIT;

	arrivals_sweep(&queue->arrivals, clock_wall_s());
	arrivals_add_lines(&queue->arrivals, &text);
	objectives_add_lines(&queue->objectives, clock_wall_s(), &text);
	arrivals_write(&queue->arrivals, &text);
	str_release(&text);
}

/* Their lines are in the same file. */
static void
queue_open_objectives(struct queue *queue)
{
	struct str text = STR_INIT;

	objectives_set(&queue->objectives, queue->conf);
	if (runfile_read(&queue->arrivals.file, &text))
		objectives_read(&queue->objectives, str_slice(&text),
		    clock_wall_s());
	str_release(&text);
}

static void
queue_orders_due(void *context)
{
	queue_orders(context);
}

void
queue_orders(struct queue *queue)
{
	struct thread *thread = NULL;
	size_t bucket = 0;
	int64_t next_s;

	(void)orders_expire(&queue->orders, clock_wall_s());
	while (thread_next(&queue->threads, &bucket, &thread))
		orders_apply(&queue->orders, thread);
	next_s = orders_next_s(&queue->orders);
	timer_clear(&queue->orders_timer);
	if (next_s > 0)
		timer_set(queue->loop, &queue->orders_timer,
		    clock_steady_ms() + (next_s - clock_wall_s()) * 1000,
		    queue_orders_due, queue);
}

int
queue_open(struct queue *queue, const struct conf *conf, struct spool *spool,
    struct loop *loop, struct err *err)
{
	memset(queue, 0, sizeof(*queue));
	queue->conf = conf;
	queue->spool = spool;
	queue->loop = loop;
	queue->started_ms = clock_steady_ms();
	plan_init(&queue->plan);
	thread_table_init(&queue->threads);
	job_table_init(&queue->jobs);
	hearers_init(&queue->hearers);
	shape_open(&queue->threads.shapes, &queue->providers, &queue->warms,
	    conf->run_dir);
	arrivals_open(&queue->arrivals, conf->run_dir);
	queue_open_objectives(queue);
	if (orders_open(&queue->orders, spool, err) < 0)
		return -1;
	queue_orders(queue);
	return 0;
}

void
queue_close(struct queue *queue)
{
	struct job *job;
	size_t cursor = 0;

	timer_clear(&queue->orders_timer);
	while ((job = job_table_next(&queue->jobs, &cursor)) != NULL) {
		for (size_t i = 0; i < job->vertex_count; i++)
			plan_forget(&queue->plan, &job->vertices[i]);
		thread_forget_job(job);
	}
	job_table_end(&queue->jobs);
	job_table_release(&queue->jobs);
	hearers_release(&queue->hearers);
	thread_table_release(&queue->threads);
	provider_table_release(&queue->providers);
	warm_release(&queue->warms);
	arrivals_release(&queue->arrivals);
	objectives_release(&queue->objectives);
	plan_release(&queue->plan);
	orders_release(&queue->orders);
}

/* ---- jobs ------------------------------------------------------- */

unsigned
queue_notices_passed(uint32_t by_s, const struct conf_schedule *clause,
    int64_t age_ms)
{
	return retry_warns_due(clause, age_ms) +
	    (by_s > 0 && age_ms / 1000 >= by_s);
}

unsigned
queue_notices_due(const struct job *job, const struct conf_schedule *clause,
    int64_t age_ms)
{
	return queue_notices_passed(job->by_s, clause, age_ms);
}

/* When the next notice after so many is due; INT64_MAX: never. */
static int64_t
queue_notice_ms(const struct job *job, const struct conf_schedule *clause,
    unsigned sent)
{
	size_t clauses = 0;
	int64_t age_s = INT64_MAX;
	bool by_is_left = job->by_s > 0;

	for (unsigned i = 0; i <= sent; i++) {
		bool has_clause = clauses < clause->warn_count;

		if (by_is_left && (!has_clause ||
		    job->by_s <= clause->warn_s[clauses])) {
			age_s = job->by_s;
			by_is_left = false;
		} else if (has_clause) {
			age_s = clause->warn_s[clauses++];
		} else {
			return INT64_MAX;
		}
	}
	return job->born_ms + age_s * 1000;
}

void
queue_wait(struct queue *queue, struct vertex *vertex, int64_t due_ms)
{
	const struct conf_schedule *clause = &vertex->thread->ring->clause;
	int64_t warn_ms = vertex->notices == NOTICES_NONE ? INT64_MAX :
	    queue_notice_ms(vertex->job, clause, vertex->notices);
	int64_t end_ms = vertex->job->born_ms +
	    (int64_t)vertex->expire_s * 1000;

	if ((vertex->is_strict || (vertex->has_ways &&
	    vertex->expire_s > 0)) && end_ms < due_ms)
		due_ms = end_ms;
	estimate_waits(queue, vertex, due_ms);
	if (warn_ms < due_ms && (vertex->tries > 0 || vertex->job->by_s > 0)) {
		vertex->next_ms = due_ms;
		due_ms = warn_ms;
	} else {
		vertex->next_ms = 0;
	}
	plan_wait(&queue->plan, vertex, due_ms);
}

/* What would be said of it, were somebody to ask now. */
static void
queue_promise(struct queue *queue, struct vertex *vertex, int64_t now_ms)
{
	struct estimate estimate;

	estimate_vertex(queue, vertex, now_ms, &estimate);
	estimate_promise(queue, vertex, &estimate, now_ms);
}

static void
queue_place_vertex(struct queue *queue, struct vertex *vertex, int64_t now_ms)
{
	struct job *job = vertex->job;

	if (vertex->park == PARK_FROZEN ||
	    (vertex->park == PARK_HELD && vertex->moment_ms == 0))
		plan_park(&queue->plan, vertex);
	else if (vertex->park == PARK_HELD)
		plan_wait(&queue->plan, vertex, vertex->moment_ms);
	else if (vertex->moment_ms > now_ms || vertex->is_strict)
		queue_wait(queue, vertex, vertex->moment_ms > now_ms ?
		    vertex->moment_ms : now_ms);
	else
		plan_ready(&queue->plan, vertex);
	if (vertex->state == VERTEX_READY && (job->flags & JOB_TLS_OPTIONAL))
		plan_wake_optional(&queue->plan, vertex->thread);
	if (vertex->state != VERTEX_READY || vertex->thread->wake_ms != 0 ||
	    vertex->thread->is_suspended)
		queue_tell_later(queue, job, SLICE("its destination waits"));
	queue_promise(queue, vertex, now_ms);
}

bool
queue_place_some(struct queue *queue, struct job *job, size_t *at,
    size_t most)
{
	int64_t now_ms = clock_steady_ms();

	for (; *at < job->vertex_count && most > 0; most--) {
		struct vertex *vertex = &job->vertices[(*at)++];

		if (!vertex->is_stopped)
			queue_place_vertex(queue, vertex, now_ms);
	}
	return *at == job->vertex_count;
}

void
queue_place(struct queue *queue, struct job *job)
{
	size_t at = 0;

	(void)queue_place_some(queue, job, &at, SIZE_MAX);
}

void
queue_tell_later(struct queue *queue, struct job *job, struct slice why)
{
	struct hearer *hearer = (job->flags & JOB_AWAITED) == 0 ? NULL :
	    hearers_find(&queue->hearers, job->id);

	job->flags &= (uint16_t)~JOB_AWAITED;
	if (hearer != NULL)
		hearer_later(&queue->hearers, hearer, why);
}

void
queue_drop(struct queue *queue, struct job *job)
{
	if (job->flight_count > 0)
		panic("job %s is dropped in flight", job->id);
	for (size_t i = 0; i < job->vertex_count; i++)
		plan_forget(&queue->plan, &job->vertices[i]);
	thread_forget_job(job);
	job_end(&queue->jobs, &job);
}

/* ---- what a zone may send today --------------------------------- */

static void
queue_overflow(struct queue *queue, struct thread *thread,
    const struct conf_zone *zone)
{
	struct thread_way way = { slice_of(thread->channel),
	    slice_of(thread->host), slice_of(zone->overflow) };
	struct thread *to = thread_get(&queue->threads, queue->conf,
	    way, clock_steady_ms());
	size_t count = thread->ready_count;
	struct vertex **ready = mem_alloc(count + 1, sizeof(*ready));

	orders_apply(&queue->orders, to);
	lanes_list(thread, ready);
	for (size_t i = 0; i < count; i++) {
		plan_forget(&queue->plan, ready[i]);
		thread_take_vertex(to, ready[i]);
		plan_ready(&queue->plan, ready[i]);
	}
	mem_free(&ready);
}

struct allowance_now
queue_now(const struct queue *queue)
{
	return (struct allowance_now){ .ms = clock_steady_ms(),
	    .s = clock_wall_s(),
	    .nodes = (unsigned)queue->conf->cluster.node_count,
	    .patience_ms = queue->conf->cluster.patience_ms +
	    CLUSTER_MARGIN_MS };
}

/* The zone whose plan of today counts for the thread; NULL: none. */
static const struct conf_zone *
queue_warm_zone(const struct queue *queue, const struct thread *thread)
{
	const struct conf_zone *zone = thread->zone[0] == '\0' ? NULL :
	    conf_zone_find(queue->conf, slice_of(thread->zone));

	return zone != NULL && zone->warm_count > 0 ? zone : NULL;
}

/* Of all nodes together; NULL: of this one alone, or there are too many. */
static struct allowance *
queue_allowance(struct queue *queue, const struct thread *thread,
    const struct conf_zone *zone)
{
	return zone == NULL || !zone->warm_is_shared ? NULL :
	    allowance_get(&queue->warms.shared, thread);
}

static void
queue_hold_warming(struct queue *queue, struct thread *thread,
    int64_t until_ms)
{
	if (thread->warming_ms == 0)
		thread->warming_ms = clock_steady_ms();
	plan_hold(&queue->plan, thread, until_ms);
}

/* *out_until_ms: when to look again; 0: the day's is used up. */
static bool
queue_has_left(struct queue *queue, struct thread *thread,
    const struct conf_zone *zone, int64_t *out_until_ms, bool *out_is_over)
{
	struct allowance *allowance = queue_allowance(queue, thread, zone);
	struct allowance_now now = queue_now(queue);
	enum allowance_verdict verdict;

	if (allowance == NULL) {
		*out_until_ms = now.ms + warm_until_s(now.s) * 1000;
		*out_is_over = warm_left(&queue->warms, zone, thread,
		    now.s) == 0;
		return !*out_is_over;
	}
	verdict = allowance_admits(&queue->warms.shared, allowance, zone,
	    thread->ready_count, &now, out_until_ms);
	*out_is_over = verdict == ALLOWANCE_NO;
	return verdict == ALLOWANCE_YES;
}

bool
queue_admits(struct queue *queue, struct thread *thread)
{
	const struct conf_zone *zone = queue_warm_zone(queue, thread);
	int64_t until_ms;
	bool is_over;

	if (zone == NULL)
		thread->warming_ms = 0;
	if (zone == NULL ||
	    queue_has_left(queue, thread, zone, &until_ms, &is_over))
		return true;
	if (is_over && zone->overflow != NULL) {
		thread->warming_ms = 0;
		queue_overflow(queue, thread, zone);
	} else {
		queue_hold_warming(queue, thread, until_ms);
	}
	return false;
}

bool
queue_fits(struct queue *queue, struct vertex *vertex)
{
	struct thread *thread = vertex->thread;
	const struct conf_zone *zone = queue_warm_zone(queue, thread);
	struct allowance *allowance = queue_allowance(queue, thread, zone);
	struct allowance_now now;
	int64_t until_ms;

	if (allowance == NULL)
		return true;
	now = queue_now(queue);
	if (allowance_fits(&queue->warms.shared, allowance, zone,
	    vertex->unanswered, thread->ready_count + 1, &now, &until_ms))
		return true;
	plan_ready(&queue->plan, vertex);
	if (until_ms > 0)
		queue_hold_warming(queue, thread, until_ms);
	return false;
}

void
queue_spend(struct queue *queue, const struct vertex *vertex)
{
	struct thread *thread = vertex->thread;
	const struct conf_zone *zone = queue_warm_zone(queue, thread);
	struct allowance *allowance = queue_allowance(queue, thread, zone);

	thread->warming_ms = 0;		/* not before: a message that does not
					 * fit is looked at again and again */
	if (allowance != NULL)
		allowance_spend(allowance, vertex->unanswered,
		    clock_steady_ms());
	else if (thread->zone[0] != '\0')
		warm_add(&queue->warms, thread, vertex->unanswered,
		    clock_wall_s());
}
