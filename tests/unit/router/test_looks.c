/* test_looks.c - when a user's file in public/ is looked at again
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "router/workers/looks.h"

/* One scan that finds the files of these letters, each of the size given. */
static void
scan(struct looks *looks, const char *letters, off_t bytes, int64_t now_ms)
{
	struct stat st = { .st_ino = 7, .st_size = bytes };
	char name[2] = "";

	for (; *letters != '\0'; letters++) {
		name[0] = *letters;
		looks_find(looks, name, &st);
	}
	looks_end(looks, now_ms);
}

/* All that are due now, at most as many as there is room for. */
static const char *
due(struct looks *looks, int64_t now_ms, size_t room)
{
	static char out[100];
	size_t n = 0;
	const char *name;

	while (n < room && (name = looks_next(looks, now_ms)) != NULL)
		out[n++] = name[0];
	out[n] = '\0';
	return out;
}

Test(looks, what_does_not_change_is_looked_at_ever_more_seldom)
{
	struct looks looks = { .at = 0 };
	unsigned count = 0;

	/* a scan each 100 ms, for an hour */
	for (int64_t now_ms = 0; now_ms < 3600 * 1000; now_ms += 100) {
		scan(&looks, "x", 1, now_ms);
		count += strlen(due(&looks, now_ms, 9));
	}
	cr_expect(count > 60 && count < 75, "%u looks", count);
	looks_release(&looks);
}

Test(looks, what_is_new_or_has_changed_is_looked_at_at_once)
{
	struct looks looks = { .at = 0 };

	scan(&looks, "ca", 1, 0);
	cr_expect_str_eq(due(&looks, 0, 9), "ac");
	scan(&looks, "ca", 1, 10);
	cr_expect_str_eq(due(&looks, 10, 9), "");
	scan(&looks, "cab", 1, 20);
	cr_expect_str_eq(due(&looks, 20, 9), "b");
	scan(&looks, "cab", 2, 30);
	cr_expect_eq(strlen(due(&looks, 30, 9)), 3);
	scan(&looks, "b", 2, 40);		/* the others are gone */
	scan(&looks, "cab", 2, 45);
	cr_expect_eq(strlen(due(&looks, 45, 9)), 2);
	scan(&looks, "", 0, 50);
	cr_expect_str_eq(due(&looks, 50, 9), "");
	looks_release(&looks);
}

Test(looks, each_has_its_turn)
{
	struct looks looks = { .at = 0 };
	char seen[100] = "";

	/* all are touched before each scan, and there is room for two */
	for (int i = 0; i < 4; i++) {
		scan(&looks, "hgfedcba", i, i);
		strcat(seen, due(&looks, i, 2));
	}
	cr_expect_str_eq(seen, "abcdefgh");
	looks_release(&looks);
}
