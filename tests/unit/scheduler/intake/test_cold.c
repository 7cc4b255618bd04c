/* test_cold.c - how far ahead files are opened
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "scheduler/intake/cold.h"

static void
pass(struct cold *cold, unsigned files)
{
	while (files-- > 0)
		cold_pass(cold);
}

Test(cold, nothing_is_opened_ahead_before_one_had_to_wait)
{
	struct cold cold = { 0, 0, 0 };

	pass(&cold, 5000);
	cr_expect_eq(cold.left, 0);
}

Test(cold, one_alone_brings_few)
{
	struct cold cold = { 0, 0, 0 };

	for (int i = 0; i < 5; i++) {
		cold_wait(&cold);
		cr_expect_eq(cold.left, COLD_FILES_LEAST);
		pass(&cold, COLD_FILES_LEAST);
		cr_expect_eq(cold.left, 0);
		pass(&cold, COLD_FILES_LEAST + 1);
	}
}

Test(cold, a_cold_disk_brings_more_each_time)
{
	struct cold cold = { 0, 0, 0 };

	for (unsigned want = COLD_FILES_LEAST; want < COLD_FILES_MOST;
	    want *= 2) {
		cold_wait(&cold);
		cr_expect_eq(cold.left, want);
		pass(&cold, want + COLD_FILES_LEAST);
	}
	for (int i = 0; i < 5; i++) {
		cold_wait(&cold);
		cr_expect_eq(cold.left, COLD_FILES_MOST);
		pass(&cold, COLD_FILES_MOST);
	}
}
