/* array.h - arrays that grow
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ARRAY_H
#define ZM_SCHEDULER_ARRAY_H

#include "base/mem.h"

/* Make the array hold one more, by half when it is full. */
#define ARRAY_GROW(array, count, capacity) do { \
		if ((count) == (capacity)) { \
			(capacity) = (capacity) ? \
			    (capacity) + (capacity) / 2 : \
			    64; \
			(array) = mem_grow((array), (capacity), \
			    sizeof(*(array))); \
		} \
	} while (0)

#endif
