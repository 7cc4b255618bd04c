/* loop_timer.c - timers: a binary heap, earliest first, equal ones in order
 *
 * In     moments of the steady clock
 * Out    calls of what is due
 * Holds  pointers to timers that live in their owners
 * Spec   loop.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/mem.h"
#include "io/loop_poller.h"

#include "base/banned.h"

static bool
timer_is_before(const struct timer *a, const struct timer *b)
{
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms;
	return (int)(a->order - b->order) < 0;
}

static void
heap_put(struct timer_heap *timers, unsigned at, struct timer *timer)
{
	timers->heap[at] = timer;
	timer->heap_index = at;
}

static void
timers_up(struct timer_heap *timers, struct timer *timer)
{
	unsigned at = timer->heap_index;

	while (at > 1 && timer_is_before(timer, timers->heap[at / 2])) {
		heap_put(timers, at, timers->heap[at / 2]);
		at /= 2;
	}
	heap_put(timers, at, timer);
}

static void
timers_down(struct timer_heap *timers, struct timer *timer)
{
	unsigned at = timer->heap_index, child;

	while ((child = at * 2) <= timers->count) {
		if (child < timers->count &&
		    timer_is_before(timers->heap[child + 1],
		    timers->heap[child]))
			child++;
		if (!timer_is_before(timers->heap[child], timer))
			break;
		heap_put(timers, at, timers->heap[child]);
		at = child;
	}
	heap_put(timers, at, timer);
}

void
timer_clear(struct timer *timer)
{
	struct timer_heap *timers;
	unsigned at = timer->heap_index;
	struct timer *last;

	timer->at_ms = 0;
	if (at == 0)
		return;
	timers = loop_timers(timer->loop);
	timer->heap_index = 0;
	last = timers->heap[timers->count--];
	if (last == timer)
		return;
	heap_put(timers, at, last);
	timers_up(timers, last);
	timers_down(timers, last);
}

void
timer_set(struct loop *loop, struct timer *timer, int64_t at_ms, loop_fn *fn,
    void *context)
{
	struct timer_heap *timers = loop_timers(loop);

	timer_clear(timer);
	timer->at_ms = at_ms > 0 ? at_ms : 1;
	timer->fn = fn;
	timer->context = context;
	timer->loop = loop;
	timer->order = timers->order++;
	if (timers->count + 1 >= timers->room) {
		timers->room = timers->room ? timers->room * 2 : 16;
		timers->heap = mem_grow(timers->heap, timers->room,
		    sizeof(struct timer *));
	}
	heap_put(timers, ++timers->count, timer);
	timers_up(timers, timer);
}

/* A timer that is armed again for now or earlier waits for the next turn:
 * descriptors are looked at in between. */
void
timers_call(const struct loop *loop, struct timer_heap *timers)
{
	unsigned left = timers->count;
	int64_t now_ms;

	if (left == 0)
		return;
	now_ms = clock_steady_ms();
	while (left-- > 0 && timers->count > 0 &&
	    timers->heap[1]->at_ms <= now_ms) {
		struct timer *timer = timers->heap[1];

		timer_clear(timer);
		timer->fn(timer->context);
		if (loop_turn_is_over(loop))
			return;
	}
}

void
timers_release(struct timer_heap *timers)
{
	while (timers->count > 0)
		timer_clear(timers->heap[timers->count]);
	mem_free(&timers->heap);
	timers->room = 0;
}
