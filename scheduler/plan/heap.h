/* heap.h - the first of many moments
 *
 * A heap of vertices or threads, each of which knows its place, so that it can
 * be removed from the middle.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_HEAP_H
#define ZM_SCHEDULER_HEAP_H

#include <stddef.h>
#include <stdint.h>

enum plan_heap_kind {		/* which field says the place */
	HEAP_VERTICES,		/* vertex.heap_index */
	HEAP_HELD,		/* thread.heap_index */
	HEAP_PACED		/* thread.pace_index */
};

struct plan_slot {
	int64_t	 at_ms;
	void	*object;
};
struct plan_heap {
	struct plan_slot *slots;
	size_t		  count, capacity;
	enum plan_heap_kind kind;
};

/* The object must be in no heap of this kind. */
void heap_add(struct plan_heap *heap, void *object, int64_t at_ms);
/* Remove the object at this place; its index becomes HEAP_NONE. */
void heap_remove(struct plan_heap *heap, size_t index);
void heap_release(struct plan_heap *heap);

#endif
