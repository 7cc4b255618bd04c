/* test_queue.c - which name is next
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "router/workers/parent.h"
#include "router/workers/poison.h"
#include "router/workers/queue.h"
#include "router/rcpts/memo.h"

Test(queue, names_come_in_the_order_they_arrived_and_once)
{
	struct router_queue q;

	router_queue_init(&q);
	for (ino_t i = 100; i < 3100; i++)
		cr_assert(router_queue_add(&q, 0, i, true));
	for (ino_t i = 100; i < 3100; i++)
		cr_assert_not(router_queue_add(&q, 0, i, true));
	for (ino_t i = 100; i < 3100; i++) {
		struct queue_entry *e = router_queue_take(&q, NULL);

		cr_assert_eq(e->inode, i);
		router_queue_done(&q, e);
	}
	cr_assert_null(router_queue_take(&q, NULL));
	cr_assert_eq(q.count, 0);
	router_queue_release(&q);
}

Test(queue, the_first_directory_is_emptied_before_the_others)
{
	struct router_queue q;

	router_queue_init(&q);
	for (ino_t i = 1; i <= 100; i++) {
		router_queue_add(&q, 9, i, true);
		router_queue_add(&q, 0, i, true);
	}
	for (unsigned turn = 0; turn < 200; turn++) {
		struct queue_entry *e = router_queue_take(&q, NULL);

		cr_assert_eq(e->priority, turn < 100 ? 0 : 9, "%u", turn);
		router_queue_done(&q, e);
	}
	router_queue_release(&q);
}

Test(queue, a_share_gives_each_such_turn_to_the_lowest_priority)
{
	struct router_queue q;
	unsigned low = 0, first_low = 0;

	router_queue_init(&q);
	q.share = 10;
	for (ino_t i = 1; i <= 1000; i++) {
		router_queue_add(&q, 0, i, true);
		router_queue_add(&q, 5, i, true);
		router_queue_add(&q, 9, i, true);
	}
	for (unsigned turn = 1; turn <= 100; turn++) {
		struct queue_entry *e = router_queue_take(&q, NULL);

		cr_assert(e->priority == 0 || e->priority == 9);
		if (e->priority == 9 && low++ == 0)
			first_low = turn;
		router_queue_done(&q, e);
	}
	cr_expect_eq(low, 10);
	cr_expect_eq(first_low, 10);
	router_queue_release(&q);
}

Test(queue, what_comes_again_while_given_is_looked_at_again)
{
	struct router_queue q;
	struct queue_entry *e;

	router_queue_init(&q);
	router_queue_add(&q, 0, 7, true);
	e = router_queue_take(&q, &q);
	cr_expect_not(router_queue_add(&q, 0, 7, false));	/* a scan */
	router_queue_done(&q, e);
	cr_expect_null(router_queue_take(&q, NULL));
	cr_expect_not(router_queue_knows(&q, 0, 7));

	router_queue_add(&q, 0, 7, true);
	e = router_queue_take(&q, &q);
	cr_expect_not(router_queue_add(&q, 0, 7, true));	/* an event */
	router_queue_done(&q, e);
	cr_expect_eq(router_queue_take(&q, NULL), e);
	router_queue_done(&q, e);
	router_queue_release(&q);
}

Test(queue, what_rests_is_not_woken_by_its_own_return)
{
	struct router_queue q;

	router_queue_init(&q);
	router_queue_add(&q, 0, 7, true);
	router_queue_add(&q, 0, 8, true);
	router_queue_rest(&q, router_queue_take(&q, NULL));
	router_queue_nap(&q, router_queue_take(&q, NULL));
	router_queue_add(&q, 0, 7, true);
	router_queue_add(&q, 0, 8, true);
	cr_expect_null(router_queue_take(&q, NULL));
	router_queue_wake_napping(&q);
	cr_expect_eq(router_queue_take(&q, NULL)->inode, 8);
	cr_expect_null(router_queue_take(&q, NULL));
	router_queue_wake_resting(&q);
	cr_expect_eq(router_queue_take(&q, NULL)->inode, 7);
	router_queue_release(&q);
}

Test(queue, deferred_mail_waits_half_of_its_age)
{
	static const struct { int64_t age_s, want_s; } rows[] = {
		{ -5, 60 }, { 0, 60 }, { 119, 60 }, { 600, 300 },
		{ 7199, 3599 }, { 1000000, 3600 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(spool_deferred_wait_s(rows[i].age_s),
		    rows[i].want_s);
	/* what people are told is the moment at which it fits, but for a
	 * second by which halves are rounded */
	for (int64_t age_s = 0; age_s < 10000; age_s += 7) {
		int64_t next_s = spool_deferred_next_s(5000, 5000 + age_s);
		int64_t waited_s = next_s - 5000 - age_s;

		cr_expect_geq(waited_s, spool_deferred_wait_s(next_s - 5000));
		cr_expect_lt(waited_s - 2,
		    spool_deferred_wait_s(next_s - 2 - 5000));
	}
}

Test(queue, deaths_are_counted_by_inode_and_id)
{
	static struct poison poison;

	cr_expect_eq(poison_count(&poison, 7, "a"), 1);
	cr_expect_eq(poison_count(&poison, 7, "b"), 1);
	cr_expect_eq(poison_count(&poison, 7, "a"), 2);
	cr_expect_eq(poison_count(&poison, 8, "a"), 1);
	cr_expect_eq(poison_count(&poison, 7, "a"), POISON_DEATHS);
	for (ino_t i = 100; i < 100 + POISON_KNOWN_MAX; i++)
		cr_expect_eq(poison_count(&poison, i, "a"), 1);
	cr_expect_eq(poison_count(&poison, 7, "a"), 1, "long forgotten");
}

Test(memo, gives_numbers_and_takes_the_newest_back)
{
	struct arena *arena = arena_new();
	struct memo memo;
	size_t number;

	memo_init(&memo, arena, 0);
	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < 5000; i++) {
			char *key = arena_printf(arena, "key-number-%zu", i);

			cr_assert_eq(memo_add(&memo, slice_of(key), &number),
			    round == 0 || i >= 1000);
			cr_assert_eq(number, i);
		}
		memo_truncate(&memo, 1000);
	}
	arena_free(&arena);
}
