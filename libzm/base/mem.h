/* mem.h - allocation that succeeds or ends the process
 *
 * Life cycle: one arena per unit of work (session, transaction, message,
 * job), released whole.  Everything in it dies together, so nobody frees
 * parts.  What outlives a unit of work is allocated with mem_alloc.
 * Limits are checked by the callers BEFORE they allocate: no size that
 * comes from outside reaches these functions unbounded.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_MEM_H
#define ZM_BASE_MEM_H

#include <stddef.h>

/* Zeroed memory for count objects of size bytes each; never NULL.  The product
 * is checked for overflow.  Exits 111 when there is no memory. */
void *mem_alloc(size_t count, size_t size);

/* Resize an array to count objects; new bytes are not zeroed; never NULL. */
void *mem_grow(void *old, size_t count, size_t size);

/* Copy of a C string, to be released with mem_free. */
char *mem_strdup(const char *text);

/* Free what *pointer points to and set it to NULL: mem_free(&x). */
#define mem_free(pointer) \
	do { mem_release(*(pointer)); *(pointer) = NULL; } while (0)
void mem_release(void *memory);
/* Before hundreds of megabytes are released: give back the pages that lie in
 * these n bytes, a piece at a time.  At once it takes tens of milliseconds, in
 * which no other thread gets memory from the system. */
void mem_drop_pages(void *memory, size_t n);

/* Tell the C library how to keep a heap, where it can be told (glibc); where
 * it cannot, nothing happens.  Both are called once, before the work begins.
 * mem_keep_heap: do not give back what is free at the end of the heap before
 * it is more than bytes, and take pieces of up to bytes from the heap.  For
 * work that comes in gusts: else each unit of it faults its pages in anew.
 * mem_share_heaps: at most count heaps for all threads, however many. */
void mem_keep_heap(size_t bytes);
void mem_share_heaps(unsigned count);

struct arena;

/* A new arena; its first use allocates about 4 KiB. */
struct arena *arena_new(void);

/* Release everything and the arena itself; sets *arena to NULL. */
void arena_free(struct arena **arena);

/* The same where other threads go on meanwhile: mem_drop_pages first. */
void arena_free_gently(struct arena **arena);

/* Release everything but keep the arena and its first block for reuse. */
void arena_reset(struct arena *arena);

/* Zeroed memory, aligned for any object, alive until the arena is reset. */
void *arena_alloc(struct arena *arena, size_t size);

/* Room for one more at the end of an array of count objects, which was made
 * by this function or is empty.  returns the array; its room is doubled when
 * count is a power of two */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t size);

/* Copy of n bytes with a NUL after them. */
char *arena_dup(struct arena *arena, const void *bytes, size_t n);

/* Formatted string in the arena. */
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A position in an arena; arena_back releases all that was handed out after it
 * (nothing from before it may have been grown meanwhile). */
struct arena_mark {
	void	*block;
	size_t	 block_used, used;
};
struct arena_mark arena_mark(const struct arena *arena);
void arena_back(struct arena *arena, struct arena_mark mark);

/* Bytes handed out since the last reset (for tests). */
size_t arena_used_bytes(const struct arena *arena);

#endif
