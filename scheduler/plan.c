/* plan.c - who is next, and when
 *
 * In     vertices, threads, moments
 * Out    the next vertex, the next moment, what to do for a thread
 * Holds  two heaps: waiting vertices, held threads
 * Trusts the callers' moments to be of one clock that does not go back
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/err.h"
#include "base/mem.h"
#include "scheduler/plan.h"

#include "base/banned.h"

enum { HEAP_ROOM_MIN = 64 };

/* ---- a heap of moments ------------------------------------------------ */

static void
heap_put(struct plan_heap *heap, size_t index, struct plan_slot slot)
{
	heap->slots[index] = slot;
	if (heap->has_threads)
		((struct thread *)slot.object)->heap_index = (uint32_t)index;
	else
		((struct vertex *)slot.object)->heap_index = (uint32_t)index;
}

static void
heap_up(struct plan_heap *heap, size_t index, struct plan_slot slot)
{
	while (index > 0) {
		size_t parent = (index - 1) / 2;

		if (heap->slots[parent].at_ms <= slot.at_ms)
			break;
		heap_put(heap, index, heap->slots[parent]);
		index = parent;
	}
	heap_put(heap, index, slot);
}

static void
heap_down(struct plan_heap *heap, size_t index, struct plan_slot slot)
{
	for (;;) {
		size_t child = 2 * index + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    heap->slots[child + 1].at_ms < heap->slots[child].at_ms)
			child++;
		if (slot.at_ms <= heap->slots[child].at_ms)
			break;
		heap_put(heap, index, heap->slots[child]);
		index = child;
	}
	heap_put(heap, index, slot);
}

static void
heap_add(struct plan_heap *heap, void *object, int64_t at_ms)
{
	if (heap->count == heap->room) {
		/* by half, not double: memory a waiting recipient counts */
		heap->room = heap->room ? heap->room + heap->room / 2 :
		    HEAP_ROOM_MIN;
		heap->slots = mem_grow(heap->slots, heap->room,
		    sizeof(*heap->slots));
	}
	heap->count++;
	heap_up(heap, heap->count - 1, (struct plan_slot){ at_ms, object });
}

static void
heap_remove(struct plan_heap *heap, size_t index)
{
	struct plan_slot last = heap->slots[--heap->count];
	struct plan_slot gone = heap->slots[index];

	if (index < heap->count) {
		if (last.at_ms < gone.at_ms)
			heap_up(heap, index, last);
		else
			heap_down(heap, index, last);
	}
	if (heap->has_threads)
		((struct thread *)gone.object)->heap_index = HEAP_NONE;
	else
		((struct vertex *)gone.object)->heap_index = HEAP_NONE;
}

void
plan_init(struct plan *plan)
{
	*plan = (struct plan){ .held.has_threads = true };
}

void
plan_release(struct plan *plan)
{
	mem_free(&plan->due.slots);
	mem_free(&plan->held.slots);
	*plan = (struct plan){ .held.has_threads = true };
}

/* ---- the moves ---------------------------------------------------------- */

/* A thread is in its ring's queue while it has ready work and no hold. */
static void
thread_settle(struct thread *thread)
{
	bool should = thread->ready_count > 0 && thread->wake_ms == 0;

	if (should == thread->is_runnable)
		return;
	if (should) {
		TAILQ_INSERT_TAIL(&thread->ring->runnable, thread, run_entry);
		thread->ring->runnable_count++;
	} else {
		TAILQ_REMOVE(&thread->ring->runnable, thread, run_entry);
		thread->ring->runnable_count--;
	}
	thread->is_runnable = should;
}

/* Out of whatever state it is in: afterwards IDLE and nowhere. */
static void
vertex_leave(struct plan *plan, struct vertex *vertex)
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
		TAILQ_REMOVE(&thread->ready, vertex, entry);
		thread->ready_count--;
		vertex->job->ready_count--;
		plan->ready_count--;
		thread_settle(thread);
		break;
	case VERTEX_FLIGHT:
		thread->flight_count--;
		vertex->job->flight_count--;
		plan->flight_count--;
		break;
	case VERTEX_DONE:
		panic("a finished vertex moves");
	}
	vertex->state = VERTEX_IDLE;
}

void
plan_ready(struct plan *plan, struct vertex *vertex)
{
	struct thread *thread = vertex->thread;

	if (vertex->state == VERTEX_READY)
		panic("a ready vertex becomes ready");
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_READY;
	TAILQ_INSERT_TAIL(&thread->ready, vertex, entry);
	thread->ready_count++;
	vertex->job->ready_count++;
	plan->ready_count++;
	thread_settle(thread);
}

void
plan_wait(struct plan *plan, struct vertex *vertex, int64_t due_ms)
{
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_WAIT;
	vertex->moment_ms = due_ms;
	vertex->thread->wait_count++;
	heap_add(&plan->due, vertex, due_ms);
}

struct vertex *
plan_take(struct plan *plan, struct thread *thread, int64_t now_ms)
{
	struct vertex *vertex = TAILQ_FIRST(&thread->ready);

	if (vertex == NULL || thread->wake_ms != 0)
		return NULL;
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_FLIGHT;
	vertex->moment_ms = now_ms;
	vertex->next_ms = 0;
	vertex->unanswered = vertex->rcpt_count - vertex->final_count;
	vertex->met_trouble = false;
	thread->used_ms = now_ms;
	thread->flight_count++;
	vertex->job->flight_count++;
	plan->flight_count++;
	return vertex;
}

void
plan_done(struct plan *plan, struct vertex *vertex)
{
	vertex_leave(plan, vertex);
	vertex->state = VERTEX_DONE;
}

void
plan_forget(struct plan *plan, struct vertex *vertex)
{
	if (vertex->state != VERTEX_DONE)
		vertex_leave(plan, vertex);
}

/* ---- when -------------------------------------------------------- */

struct vertex *
plan_due(struct plan *plan, int64_t now_ms)
{
	struct vertex *vertex;

	if (plan->due.count == 0 || plan->due.slots[0].at_ms > now_ms)
		return NULL;
	vertex = plan->due.slots[0].object;
	vertex_leave(plan, vertex);
	return vertex;
}

static void
thread_open(struct plan *plan, struct thread *thread)
{
	if (thread->wake_ms == 0)
		return;
	heap_remove(&plan->held, thread->heap_index);
	thread->wake_ms = 0;
	thread->is_firm = false;
	thread_settle(thread);
}

struct thread *
plan_unhold(struct plan *plan, int64_t now_ms)
{
	struct thread *thread;

	if (plan->held.count == 0 || plan->held.slots[0].at_ms > now_ms)
		return NULL;
	thread = plan->held.slots[0].object;
	thread_open(plan, thread);
	return thread;
}

int64_t
plan_next_ms(const struct plan *plan)
{
	int64_t next_ms = INT64_MAX;

	if (plan->due.count > 0)
		next_ms = plan->due.slots[0].at_ms;
	if (plan->held.count > 0 && plan->held.slots[0].at_ms < next_ms)
		next_ms = plan->held.slots[0].at_ms;
	return next_ms;
}

void
plan_success(struct plan *plan, struct thread *thread)
{
	unsigned most = thread->ring->clause.parallel;

	if (thread->trouble_count > 0 && thread->limit < most &&
	    thread->limit < THREAD_LIMIT_REOPEN)
		thread->limit = most < THREAD_LIMIT_REOPEN ? most :
		    THREAD_LIMIT_REOPEN;
	else if (thread->limit < most)
		thread->limit++;
	thread->trouble_count = 0;
	if (!thread->is_firm)
		thread_open(plan, thread);
}

bool
plan_trouble(struct plan *plan, struct thread *thread, int64_t now_ms,
    int64_t delay_ms)
{
	if (thread->wake_ms != 0)
		return false;
	thread->limit = 1;
	thread->trouble_count++;
	thread->wake_ms = now_ms + delay_ms;
	if (thread->wake_ms == 0)
		thread->wake_ms = 1;
	heap_add(&plan->held, thread, thread->wake_ms);
	thread_settle(thread);
	return true;
}

void
plan_hold(struct plan *plan, struct thread *thread, int64_t until_ms)
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
plan_wake(struct plan *plan, struct thread *thread)
{
	thread_open(plan, thread);
}

/* ---- who --------------------------------------------------------- */

enum plan_step
plan_step(const struct thread *thread, bool has_idle, bool may_start,
    bool is_starving)
{
	if (thread->ready_count == 0 || thread->wake_ms != 0)
		return PLAN_NOTHING;
	if (thread->serving < thread->limit) {
		if (has_idle)
			return PLAN_IDLE;
		if (may_start)
			return PLAN_START;
	}
	if (thread->serving > 0 && !is_starving && thread->trouble_count == 0)
		return PLAN_MORE;
	return PLAN_NOTHING;
}

unsigned
plan_share(const struct thread *thread)
{
	unsigned most = thread->ring->clause.overfeed;
	unsigned serving = thread->serving ? thread->serving : 1;
	unsigned share = (thread->ready_count + thread->flight_count +
	    serving - 1) / serving;

	if (most == 0 || thread->trouble_count > 0)
		most = 1;
	return share < most ? share : most;
}
