/* answers_case.h - answers of the DNS for the tests of a file
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_ORIGIN_ANSWERS_CASE_H
#define ZM_TESTS_ORIGIN_ANSWERS_CASE_H

#include <criterion/criterion.h>
#include <string.h>

#include "origin/answers.h"

static struct arena *arena;
static struct answers *answers;

static inline void
setup(void)
{
	arena = arena_new();
	answers = answers_new(arena);
}

static inline void
teardown(void)
{
	arena_free(&arena);
}

#endif
