/* heap.c - what comes first of many moments
 *
 * In     objects and their moments
 * Out    the earliest in slots[0]
 * Holds  16 bytes an object
 * Trusts nothing but its own indexes
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "scheduler/plan/heap.h"
#include "scheduler/plan/ring.h"

#include "base/banned.h"

enum { HEAP_CAPACITY_MIN = 64, HEAP_ROOM_FIRST = 4 };

static void
plan_heap_set_place(const struct plan_heap *heap, void *object, uint32_t index)
{
	switch (heap->kind) {
	case HEAP_VERTICES:
		((struct vertex *)object)->heap_index = index;
		break;
	case HEAP_HELD:
		((struct thread *)object)->heap_index = index;
		break;
	case HEAP_PACED:
		((struct thread *)object)->pace_index = index;
		break;
	}
}

static void
plan_heap_set_slot(struct plan_heap *heap, size_t index, struct plan_slot slot)
{
	heap->slots[index] = slot;
	plan_heap_set_place(heap, slot.object, (uint32_t)index);
}

static void
plan_heap_up(struct plan_heap *heap, size_t index, struct plan_slot slot)
{
	while (index > 0) {
		size_t parent = (index - 1) / 2;

		if (heap->slots[parent].at_ms <= slot.at_ms)
			break;
		plan_heap_set_slot(heap, index, heap->slots[parent]);
		index = parent;
	}
	plan_heap_set_slot(heap, index, slot);
}

static void
plan_heap_down(struct plan_heap *heap, size_t index, struct plan_slot slot)
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
		plan_heap_set_slot(heap, index, heap->slots[child]);
		index = child;
	}
	plan_heap_set_slot(heap, index, slot);
}

void
heap_add(struct plan_heap *heap, void *object, int64_t at_ms)
{
	if (heap->count == heap->capacity) {
		/* by half, not double: memory a waiting recipient counts */
		heap->capacity = heap->capacity >= HEAP_CAPACITY_MIN ?
		    heap->capacity + heap->capacity / 2 : heap->capacity > 0 ?
		    HEAP_CAPACITY_MIN : HEAP_ROOM_FIRST;
		heap->slots = mem_grow(heap->slots, heap->capacity,
		    sizeof(*heap->slots));
	}
	heap->count++;
	plan_heap_up(heap, heap->count - 1, (struct plan_slot){ at_ms,
	    object });
}

void
heap_remove(struct plan_heap *heap, size_t index)
{
	struct plan_slot last = heap->slots[--heap->count];
	struct plan_slot gone = heap->slots[index];

	if (index < heap->count) {
		if (last.at_ms < gone.at_ms)
			plan_heap_up(heap, index, last);
		else
			plan_heap_down(heap, index, last);
	}
	plan_heap_set_place(heap, gone.object, HEAP_NONE);
}

void
heap_release(struct plan_heap *heap)
{
	mem_free(&heap->slots);
	heap->count = heap->capacity = 0;
}
