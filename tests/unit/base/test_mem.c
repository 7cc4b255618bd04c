/* test_mem.c - arenas and allocations
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

Test(mem, alloc_is_zeroed_and_never_null)
{
	char *p = mem_alloc(100, 7);

	for (size_t i = 0; i < 700; i++)
		cr_assert_eq(p[i], 0);
	mem_free(&p);
	cr_expect_null(p);
	p = mem_alloc(0, 0);
	cr_expect_not_null(p);
	mem_free(&p);
}

Test(mem, grow_keeps_what_was_there)
{
	int *p = mem_grow(NULL, 2, sizeof(*p));

	p[0] = 1;
	p[1] = 2;
	p = mem_grow(p, 1000, sizeof(*p));
	cr_expect_eq(p[0] + p[1], 3);
	mem_free(&p);
}

Test(mem, a_product_that_overflows_is_fatal, .exit_code = EXIT_FATAL)
{
	mem_grow(NULL, SIZE_MAX / 2, 3);
}

Test(mem, strdup_copies)
{
	char text[] = "abc";
	char *copy = mem_strdup(text);

	text[0] = 'x';
	cr_expect_str_eq(copy, "abc");
	mem_free(&copy);
}

Test(arena, gives_zeroed_aligned_memory)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, 3999, 4000, 4001,
	    100000 };
	struct arena *arena = arena_new();

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			char *p = arena_alloc(arena, sizes[i]);

			cr_expect_eq((uintptr_t)p % 16, 0);
			for (size_t k = 0; k < sizes[i]; k++)
				cr_assert_eq(p[k], 0);
			memset(p, 0xee, sizes[i]);
		}
		cr_expect_geq(arena_used_bytes(arena), 112049);
		arena_reset(arena);
		cr_expect_eq(arena_used_bytes(arena), 0);
	}
	arena_free(&arena);
	cr_expect_null(arena);
	arena_free(&arena);
}

Test(arena, keeps_its_first_block)
{
	struct arena *arena = arena_new();
	char *first = arena_alloc(arena, 10);

	arena_alloc(arena, 10000);
	arena_reset(arena);
	cr_expect_eq(arena_alloc(arena, 10), first);
	arena_reset(arena);
	arena_reset(arena);
	arena_free(&arena);
}

Test(arena, copies_and_formats)
{
	struct arena *arena = arena_new();

	cr_expect_str_eq(arena_dup(arena, "abcdef", 3), "abc");
	cr_expect_str_eq(arena_dup(arena, NULL, 0), "");
	cr_expect_str_eq(arena_printf(arena, "%d-%s", 7, "x"), "7-x");
	arena_free(&arena);
}

Test(arena, a_size_nobody_bounded_is_a_panic, .signal = SIGABRT)
{
	arena_alloc(arena_new(), SIZE_MAX);
}

Test(arena, goes_back_to_a_mark)
{
	struct arena *arena = arena_new();
	struct arena_mark empty = arena_mark(arena), mark;
	char *kept = arena_dup(arena, "kept", 4);

	mark = arena_mark(arena);
	for (int i = 0; i < 100; i++)
		memset(arena_alloc(arena, 1000), 'x', 1000);
	arena_back(arena, mark);
	cr_expect_eq(arena_used_bytes(arena), mark.used);
	cr_expect_str_eq(kept, "kept");
	cr_expect_str_eq(arena_dup(arena, "new", 3), "new");
	cr_expect_str_eq(kept, "kept");
	arena_back(arena, empty);
	cr_expect_eq(arena_used_bytes(arena), 0);
	arena_free(&arena);
}
