/* mem.c - the only file that calls malloc
 *
 * In     sizes that the callers have bounded
 * Out    zeroed memory
 * Holds  nothing; an arena holds its blocks in a list, newest first
 * Spec   STYLE: one arena per unit of work
 *
 * SPDX-License-Identifier: ISC
 */
#ifdef HAVE_MALLOPT
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/err.h"
#include "base/mem.h"

#include "base/banned.h"

enum {
	BLOCK_BYTES = 4000, ALIGN = 16,
	PAGE_BYTES = 65536,	/* at least as large as any system's */
	DROP_BYTES = 1 << 20
};

struct block {
	struct block	*older;
	size_t		 used, size;
	_Alignas(16) char bytes[];
};

struct arena {
	struct block	*newest;
	size_t		 used;
};

static void
check_product(size_t count, size_t size)
{
	if (size > 0 && count > SIZE_MAX / 2 / size)
		fatal("out of memory: %zu x %zu bytes", count, size);
}

void *
mem_alloc(size_t count, size_t size)
{
	void *p;

	check_product(count, size);
	p = calloc(count ? count : 1, size ? size : 1);
	if (p == NULL)
		fatal("out of memory: %zu x %zu bytes", count, size);
	return p;
}

void *
mem_grow(void *old, size_t count, size_t size)
{
	void *p;

	check_product(count, size);
	p = reallocarray(old, count ? count : 1, size ? size : 1);
	if (p == NULL)
		fatal("out of memory: %zu x %zu bytes", count, size);
	return p;
}

char *
mem_strdup(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(mem_alloc(1, n), text, n);
}

void
mem_release(void *memory)
{
	free(memory);
}

void
mem_drop_pages(void *memory, size_t n)
{
	uintptr_t start = (uintptr_t)memory, end = start + n, at;

	at = (start + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	end = end / PAGE_BYTES * PAGE_BYTES;
	while (at < end) {
		size_t piece = end - at < DROP_BYTES ? end - at : DROP_BYTES;

		(void)madvise((char *)memory + (at - start), piece,
		    MADV_DONTNEED);
		at += piece;
	}
}

#ifdef HAVE_MALLOPT
void
mem_keep_heap(size_t bytes)
{
	(void)mallopt(M_TRIM_THRESHOLD, (int)bytes);
	(void)mallopt(M_MMAP_THRESHOLD, (int)bytes);
}

void
mem_share_heaps(unsigned count)
{
	(void)mallopt(M_ARENA_MAX, (int)count);
}
#else
void
mem_keep_heap(size_t bytes)
{
	(void)bytes;
}

void
mem_share_heaps(unsigned count)
{
	(void)count;
}
#endif

struct arena *
arena_new(void)
{
	return mem_alloc(1, sizeof(struct arena));
}

static void
block_free_list(struct block *block)
{
	while (block != NULL) {
		struct block *older = block->older;

		mem_release(block);
		block = older;
	}
}

void
arena_free(struct arena **arena)
{
	if (*arena == NULL)
		return;
	block_free_list((*arena)->newest);
	mem_free(arena);
}

void
arena_free_gently(struct arena **arena)
{
	for (struct block *block = (*arena)->newest; block != NULL;
	    block = block->older)
		mem_drop_pages(block->bytes, block->size);
	arena_free(arena);
}

void
arena_reset(struct arena *arena)
{
	struct block *oldest = arena->newest;

	arena->used = 0;
	if (oldest == NULL)
		return;
	while (oldest->older != NULL) {
		struct block *older = oldest->older;

		mem_release(oldest);
		oldest = older;
	}
	if (oldest->size > BLOCK_BYTES) {
		mem_release(oldest);
		oldest = NULL;
	} else {
		oldest->used = 0;
	}
	arena->newest = oldest;
}

struct arena_mark
arena_mark(const struct arena *arena)
{
	return (struct arena_mark){ arena->newest,
	    arena->newest ? arena->newest->used : 0, arena->used };
}

void
arena_back(struct arena *arena, struct arena_mark mark)
{
	while (arena->newest != mark.block) {
		struct block *older = arena->newest->older;

		mem_release(arena->newest);
		arena->newest = older;
	}
	if (arena->newest != NULL)
		arena->newest->used = mark.block_used;
	arena->used = mark.used;
}

void *
arena_alloc(struct arena *arena, size_t size)
{
	struct block *block = arena->newest;
	size_t need;
	void *p;

	if (size > SIZE_MAX / 2)
		panic("arena_alloc: %zu bytes", size);
	need = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	if (block == NULL || block->size - block->used < need) {
		size_t room = need > BLOCK_BYTES ? need : BLOCK_BYTES;

		block = mem_grow(NULL, 1, sizeof(*block) + room);
		block->size = room;
		block->used = 0;
		block->older = arena->newest;
		arena->newest = block;
	}
	p = block->bytes + block->used;
	block->used += need;
	arena->used += need;
	return memset(p, 0, need);
}

char *
arena_dup(struct arena *arena, const void *bytes, size_t n)
{
	char *p = arena_alloc(arena, n + 1);

	if (n > 0)
		memcpy(p, bytes, n);
	return p;
}

void *
arena_grow(struct arena *arena, void *array, size_t count, size_t size)
{
	void *wider;

	if (count > 0 && (count < 4 || (count & (count - 1)) != 0))
		return array;
	wider = arena_alloc(arena, (count == 0 ? 4 : count * 2) * size);
	if (count > 0)
		memcpy(wider, array, count * size);
	return wider;
}

char *
arena_printf(struct arena *arena, const char *format, ...)
{
	va_list ap;
	int n;
	char *p;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0)
		panic("arena_printf: bad format");
	p = arena_alloc(arena, (size_t)n + 1);
	va_start(ap, format);
	vsnprintf(p, (size_t)n + 1, format, ap);
	va_end(ap);
	return p;
}

size_t
arena_used_bytes(const struct arena *arena)
{
	return arena->used;
}
