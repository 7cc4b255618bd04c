/* plan.c - who is next, and when
 *
 * In     vertices, threads, moments
 * Out    the next vertex, the next moment, what to do for a thread
 * Holds  heaps: waiting vertices, held threads, threads that pause
 * Trusts the callers' moments to be of one clock that does not go back
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/err.h"
#include "base/mem.h"
#include "scheduler/plan/plan.h"
#include "scheduler/plan/shaping/provider.h"

#include "base/banned.h"

void
plan_init(struct planner *plan)
{
	*plan = (struct planner){ .held.kind = HEAP_HELD,
	    .paced.kind = HEAP_PACED };
}

void
plan_release(struct planner *plan)
{
	heap_release(&plan->due);
	heap_release(&plan->held);
	heap_release(&plan->paced);
	flow_table_release(&plan->flows);
	plan_init(plan);
}

/* ---- the moves ---------------------------------------------------------- */

static void
runnable_leave(struct thread *thread)
{
	struct ring *ring = thread->ring;

	if (thread->is_quick) {
		TAILQ_REMOVE(&ring->runnable, thread, run_entry);
		ring->runnable_count--;
	} else {
		TAILQ_REMOVE(&ring->bulk, thread, run_entry);
		ring->bulk_count--;
	}
	thread->is_runnable = false;
}

static void
runnable_enter(struct thread *thread)
{
	struct ring *ring = thread->ring;

	thread->is_quick = lanes_have_quick(thread);
	if (thread->is_quick) {
		TAILQ_INSERT_TAIL(&ring->runnable, thread, run_entry);
		ring->runnable_count++;
	} else {
		TAILQ_INSERT_TAIL(&ring->bulk, thread, run_entry);
		ring->bulk_count++;
	}
	thread->is_runnable = true;
}

/* A thread is in one of its ring's queues while it has ready work, no hold
 * and no pause; in its provider's when that has no session left. */
static void
thread_settle(struct thread *thread)
{
	bool should = thread->ready_count > 0 && thread->wake_ms == 0 &&
	    thread->paced_ms == 0 && !thread->is_suspended;

	if (thread->is_blocked && !should)
		provider_unblock(thread);
	should = should && !thread->is_blocked;
	if (thread->is_runnable && (!should ||
	    thread->is_quick != lanes_have_quick(thread)))
		runnable_leave(thread);
	if (should && !thread->is_runnable)
		runnable_enter(thread);
}

void
plan_block(struct thread *thread)
{
	if (thread->is_blocked || !thread->is_runnable)
		return;
	runnable_leave(thread);
	provider_block(thread);
}

static void
plan_unblock(struct thread *thread)
{
	if (!thread->is_blocked)
		return;
	provider_unblock(thread);
	thread_settle(thread);
}

void
plan_move(struct thread *thread, struct ring *to)
{
	struct ring *from = thread->ring;
	bool is_runnable;

	plan_unblock(thread);
	is_runnable = thread->is_runnable;
	if (is_runnable)
		runnable_leave(thread);
	thread->ring = to;
	if (is_runnable)
		runnable_enter(thread);
	thread->ring = from;
}

void
plan_serve(struct thread *thread)
{
	thread->serving++;
	if (thread->provider != NULL)
		thread->provider->serving++;
}

/* Two come for one that goes: the first may have nothing to do any more, or
 * an agent elsewhere; when nobody serves the provider all may try. */
void
plan_leave(struct thread *thread)
{
	struct provider *provider = thread->provider;
	struct thread *waiting;
	int count = 2;

	thread->serving--;
	if (provider == NULL)
		return;
	provider->serving--;
	while ((waiting = TAILQ_FIRST(&provider->blocked)) != NULL &&
	    (count-- > 0 || provider->serving == 0))
		plan_unblock(waiting);
}

/* Those who waited for its sessions at the old provider wait for nobody. */
void
plan_join(struct provider_table *providers, struct thread *thread,
    struct slice name)
{
	unsigned serving = thread->serving;

	if (thread->provider != NULL &&
	    slice_is(name, thread->provider->name))
		return;
	plan_unblock(thread);
	while (thread->serving > 0)
		plan_leave(thread);
	provider_join(providers, thread, name);
	while (serving-- > 0)
		plan_serve(thread);
}

void
plan_job_begin(struct planner *plan, struct job *job)
{
	if (job->flight_count++ == 0)
		plan->open_jobs++;
}

void
plan_job_end(struct planner *plan, struct job *job)
{
	if (--job->flight_count == 0)
		plan->open_jobs--;
}

/* Out of whatever state it is in: afterwards IDLE and nowhere. */
static void
vertex_leave(struct planner *plan, struct vertex *vertex)
{
	struct thread *thread = vertex->thread;

	switch ((enum vertex_state)vertex->state) {
	case VERTEX_IDLE:
		break;
	case VERTEX_WAIT:
		heap_remove(&plan->due, vertex->heap_index);
		thread->wait_count--;
		break;
	case VERTEX_READY:
		lanes_remove(&plan->flows, vertex);
		thread->ready_count--;
		vertex->job->ready_count--;
		plan->ready_count--;
		thread_settle(thread);
		break;
	case VERTEX_FLIGHT:
		thread->flight_count--;
		plan_job_end(plan, vertex->job);
		plan->flight_count--;
		break;
	case VERTEX_PARKED:
		thread->parked_count--;
		break;
	case VERTEX_DONE:
		panic("a finished vertex moves");
	}
	vertex->state = VERTEX_IDLE;
}

void
plan_ready(struct planner *plan, struct vertex *vertex)
{
	struct thread *thread = vertex->thread;

	if (vertex->state == VERTEX_READY)
		panic("a ready vertex becomes ready");
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_READY;
	lanes_add(&plan->flows, vertex);
	thread->ready_count++;
	vertex->job->ready_count++;
	plan->ready_count++;
	thread_settle(thread);
}

void
plan_wait(struct planner *plan, struct vertex *vertex, int64_t due_ms)
{
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_WAIT;
	vertex->moment_ms = due_ms;
	vertex->thread->wait_count++;
	heap_add(&plan->due, vertex, due_ms);
}

void
plan_park(struct planner *plan, struct vertex *vertex)
{
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_PARKED;
	vertex->thread->parked_count++;
}

struct vertex *
plan_take(struct planner *plan, struct thread *thread, int64_t now_ms)
{
	struct vertex *vertex;

	if (thread->wake_ms != 0 || thread->paced_ms != 0 ||
	    thread->is_suspended)
		return NULL;
	vertex = thread_spares_optional(thread) ?
	    lanes_pick_optional(thread) : NULL;
	if (vertex == NULL)
		vertex = lanes_pick(thread);
	if (vertex == NULL)
		return NULL;
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_FLIGHT;
	vertex->moment_ms = now_ms;
	vertex->next_ms = 0;
	vertex->unanswered = vertex->rcpt_count - vertex->final_count;
	vertex->met_trouble = false;
	thread->used_ms = now_ms;
	thread->flight_count++;
	plan_job_begin(plan, vertex->job);
	plan->flight_count++;
	plan->taken_count++;
	if (plan->is_asking && !vertex->is_allowed)
		return vertex;
	thread->paced_ms = pace_taken(thread, now_ms);
	if (thread->paced_ms != 0) {
		heap_add(&plan->paced, thread, thread->paced_ms);
		thread_settle(thread);
	}
	return vertex;
}

void
plan_done(struct planner *plan, struct vertex *vertex)
{
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_DONE;
}

void
plan_forget(struct planner *plan, struct vertex *vertex)
{
	if (vertex->state != VERTEX_DONE)
		vertex_leave(plan, vertex);
}

/* ---- when -------------------------------------------------------- */

/* What is first in the heap, if its time has come; else NULL. */
static void *
heap_due(const struct plan_heap *heap, int64_t now_ms)
{
	return heap->count > 0 && heap->slots[0].at_ms <= now_ms ?
	    heap->slots[0].object : NULL;
}

struct vertex *
plan_due(struct planner *plan, int64_t now_ms)
{
	struct vertex *vertex = heap_due(&plan->due, now_ms);

	if (vertex != NULL)
		vertex_leave(plan, vertex);
	return vertex;
}

static void
thread_open(struct planner *plan, struct thread *thread)
{
	if (thread->wake_ms == 0)
		return;
	heap_remove(&plan->held, thread->heap_index);
	thread->wake_ms = 0;
	thread->is_firm = false;
	thread_settle(thread);
}

struct thread *
plan_unhold(struct planner *plan, int64_t now_ms)
{
	struct thread *thread = heap_due(&plan->held, now_ms);

	if (thread != NULL)
		thread_open(plan, thread);
	return thread;
}

struct thread *
plan_unpace(struct planner *plan, int64_t now_ms)
{
	struct thread *thread = heap_due(&plan->paced, now_ms);

	if (thread == NULL)
		return NULL;
	heap_remove(&plan->paced, thread->pace_index);
	thread->paced_ms = 0;
	thread_settle(thread);
	return thread;
}

void
plan_repace(struct planner *plan, int64_t now_ms)
{
	size_t count = plan->paced.count;
	struct thread **threads = mem_alloc(count + 1, sizeof(struct thread *));

	for (size_t i = 0; i < count; i++)
		threads[i] = plan->paced.slots[i].object;
	for (size_t i = 0; i < count; i++) {
		struct thread *thread = threads[i];
		int64_t at_ms = pace_again(thread, now_ms);

		if (at_ms >= thread->paced_ms)
			continue;
		heap_remove(&plan->paced, thread->pace_index);
		thread->paced_ms = at_ms;
		if (at_ms != 0)
			heap_add(&plan->paced, thread, at_ms);
		thread_settle(thread);
	}
	mem_free(&threads);
}

int64_t
plan_next_ms(const struct planner *plan)
{
	int64_t next_ms = INT64_MAX;

	if (plan->due.count > 0)
		next_ms = plan->due.slots[0].at_ms;
	if (plan->held.count > 0 && plan->held.slots[0].at_ms < next_ms)
		next_ms = plan->held.slots[0].at_ms;
	if (plan->paced.count > 0 && plan->paced.slots[0].at_ms < next_ms)
		next_ms = plan->paced.slots[0].at_ms;
	return next_ms;
}

void
plan_success(struct planner *plan, struct thread *thread, int64_t begun_ms,
    int64_t now_ms)
{
	thread->trouble_count = 0;
	thread->planned_ms = 0;
	pace_good(thread, begun_ms, now_ms);
	if (!thread->is_firm)
		thread_open(plan, thread);
}

enum plan_trouble
plan_trouble(struct planner *plan, struct thread *thread, int64_t begun_ms,
    int64_t now_ms, int64_t delay_ms)
{
	if (thread->wake_ms != 0)
		return PLAN_TROUBLE_OLD;
	if (!pace_is_down(thread, begun_ms, now_ms))
		return PLAN_TROUBLE_LESS;
	pace_down(thread, now_ms);
	if (thread->planned_ms > now_ms) {
		if (thread->planned_ms - now_ms < delay_ms)
			delay_ms = thread->planned_ms - now_ms;
	} else if (thread->trouble_count++ == 0) {
		thread->trouble_ms = now_ms;
	}
	thread->planned_ms = 0;
	thread->wake_ms = now_ms + delay_ms;
	if (thread->wake_ms == 0)
		thread->wake_ms = 1;
	heap_add(&plan->held, thread, thread->wake_ms);
	thread_settle(thread);
	return PLAN_TROUBLE_DOWN;
}

void
plan_hold(struct planner *plan, struct thread *thread, int64_t until_ms)
{
	bool is_held = thread->wake_ms != 0;

	if (is_held && thread->wake_ms < until_ms)
		heap_remove(&plan->held, thread->heap_index);
	thread->is_firm = true;
	if (is_held && thread->wake_ms >= until_ms)
		return;
	thread->wake_ms = until_ms != 0 ? until_ms : 1;
	heap_add(&plan->held, thread, thread->wake_ms);
	thread_settle(thread);
}

void
plan_wake_optional(struct planner *plan, struct thread *thread)
{
	if (thread_spares_optional(thread) && thread->wake_ms != 0 &&
	    !thread->is_firm && thread->lanes.tls_optional > 0)
		plan_wake(plan, thread);
}

void
plan_wake(struct planner *plan, struct thread *thread)
{
	if (thread->wake_ms > thread->planned_ms)
		thread->planned_ms = thread->wake_ms;
	thread_open(plan, thread);
}

bool
plan_wake_at(struct planner *plan, struct thread *thread, int64_t at_ms)
{
	if (thread->wake_ms <= at_ms)	/* 0: not held at all */
		return false;
	if (thread->wake_ms > thread->planned_ms)
		thread->planned_ms = thread->wake_ms;
	heap_remove(&plan->held, thread->heap_index);
	thread->wake_ms = at_ms;
	heap_add(&plan->held, thread, at_ms);
	return true;
}

void
plan_suspend(struct thread *thread, bool is_suspended)
{
	thread->is_suspended = is_suspended;
	thread_settle(thread);
}

/* ---- who --------------------------------------------------------- */

unsigned
plan_sessions(const struct thread *thread)
{
	return thread->trouble_count > 0 ? 1 : pace_limit(thread);
}

enum plan_step
plan_step(const struct thread *thread, bool has_idle, bool may_start,
    bool is_starving)
{
	if (thread->ready_count == 0 || thread->wake_ms != 0 ||
	    thread->paced_ms != 0 || thread->is_suspended)
		return PLAN_NOTHING;
	if (provider_is_full(thread)) {
		if (thread->serving == 0)
			return PLAN_BLOCK;
	} else if (thread->serving < plan_sessions(thread)) {
		if (has_idle)
			return PLAN_IDLE;
		if (may_start)
			return PLAN_START;
	}
	if (thread->serving > 0 && !is_starving &&
	    thread->trouble_count == 0 && !provider_is_awaited(thread))
		return PLAN_MORE;
	return PLAN_NOTHING;
}

bool
plan_starves(const struct thread_queue *queue)
{
	const struct thread *thread;

	TAILQ_FOREACH(thread, queue, run_entry)
		if (thread->serving == 0)
			return true;
	return false;
}

bool
plan_has_work(const struct ring *ring)
{
	return !TAILQ_EMPTY(&ring->runnable) || !TAILQ_EMPTY(&ring->bulk);
}

unsigned
plan_share(const struct thread *thread)
{
	unsigned most = thread->ring->clause.overfeed;
	unsigned serving = thread->serving ? thread->serving : 1;
	unsigned share = (thread->ready_count + thread->flight_count +
	    serving - 1) / serving;

	if (most == 0 || thread->trouble_count > 0 ||
	    (thread->ring->clause.is_fair && !lanes_have_quick(thread)))
		most = 1;
	return share < most ? share : most;
}
