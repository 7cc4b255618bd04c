/* test_zone.c - the warm-up of a sending zone; what is kept over a restart
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/str.h"
#include "scheduler/plan/plan.h"
#include "scheduler/plan/shaping/shape.h"
#include "scheduler/plan/thread.h"
#include "scheduler/plan/shaping/zone.h"

enum { DAY = 86400, START = 20000 * DAY };

static struct thread *
a_thread(struct thread *thread, struct ring *ring, const char *host)
{
	memset(thread, 0, sizeof(*thread));
	ring->clause.parallel = 20;
	ring->clause.has_feedback = true;
	ring->clause.provider = 5;
	thread->ring = ring;
	thread->channel = "smtp";
	thread->host = host;
	thread->zone = "news";
	lanes_init(&thread->lanes);
	pace_init(thread);
	return thread;
}

Test(zone, so_many_a_day_and_provider)
{
	unsigned caps[] = { 50, 100 };
	struct conf_zone zone = { .name = "news", .warm_start_s = START,
	    .warm_caps = caps, .warm_count = 2 };
	struct warm_table table = { .size = 0 };
	struct provider_table providers = { .size = 0 };
	struct ring ring = { .zone = "news" };
	struct thread a, b, c;

	a_thread(&a, &ring, "a.example");
	a_thread(&b, &ring, "b.example");
	a_thread(&c, &ring, "c.example");
	provider_join(&providers, &a, SLICE("mx.example"));
	provider_join(&providers, &b, SLICE("mx.example"));
	cr_expect_eq(warm_left(&table, &zone, &a, START - 5), 50, "early");
	cr_expect_eq(warm_left(&table, &zone, &a, START + 5), 50);
	warm_add(&table, &a, 30, START + 6);
	warm_add(&table, &b, 15, START + 7);
	cr_expect_eq(warm_left(&table, &zone, &b, START + 8), 5, "shared");
	cr_expect_eq(warm_left(&table, &zone, &c, START + 8), 50);
	warm_add(&table, &b, 15, START + 9);
	cr_expect_eq(warm_left(&table, &zone, &a, START + 10), 0);
	cr_expect_eq(warm_left(&table, &zone, &a, START + DAY), 100);
	warm_add(&table, &a, 1, START + DAY);
	cr_expect_eq(warm_left(&table, &zone, &b, START + DAY + 9), 99);
	cr_expect_eq(warm_left(&table, &zone, &a, START + 2 * DAY),
	    UINT64_MAX);
	cr_expect_eq(warm_until_s(START + 5), DAY - 5);
	warm_release(&table);
	provider_part(&a);
	provider_part(&b);
	provider_table_release(&providers);
}

Test(zone, the_counts_of_the_day_survive_a_restart)
{
	struct warm_table table = { .size = 0 }, again = { .size = 0 };
	unsigned caps[] = { 50 };
	struct conf_zone zone = { .name = "news", .warm_start_s = START,
	    .warm_caps = caps, .warm_count = 1 };
	struct ring ring = { .zone = "news" };
	struct thread thread;
	struct str text = STR_INIT;

	a_thread(&thread, &ring, "a.example");
	warm_add(&table, &thread, 30, START + 6);
	warm_add_lines(&table, &text);
	warm_read(&again, str_slice(&text), START + 100);
	cr_expect_eq(warm_left(&again, &zone, &thread, START + 100), 20);
	warm_release(&again);
	warm_read(&again, str_slice(&text), START + DAY);
	cr_expect_eq(again.count, 0, "yesterday's");
	warm_read(&again, SLICE("%warm\tx\n%warm\ta\tb\t20000\tmany\n\n%"),
	    START);
	cr_expect_eq(again.count, 0, "nonsense");
	warm_release(&again);
	warm_release(&table);
	str_release(&text);
}

Test(shape, what_was_learned_comes_back_to_the_thread)
{
	struct provider_table providers = { .size = 0 };
	struct shape_table table = { .providers = &providers };
	struct ring ring = { .zone = "news" };
	struct thread thread, again;
	struct str text = STR_INIT;

	table.size = 4;
	table.buckets = mem_alloc(table.size, sizeof(*table.buckets));
	a_thread(&thread, &ring, "a.example");
	shape_add_thread(&text, &thread, 1000);
	cr_expect_str_eq(text.buf, "", "a new one is not worth it");
	thread.limit = 3;
	thread.pace.threshold = 4;
	thread.pace.slow_us = 250000;
	provider_join(&providers, &thread, SLICE("mx.example"));
	shape_add_thread(&text, &thread, 1000);
	cr_expect_str_eq(text.buf,
	    "smtp%news\ta.example\t3\t4\t250000\t1000\tmx.example\n");
	shape_read(&table, str_slice(&text), 1500);
	shape_recall(&table, a_thread(&again, &ring, "b.example"));
	cr_expect_eq(again.limit, THREAD_LIMIT_START, "not its own");
	shape_recall(&table, a_thread(&again, &ring, "a.example"));
	cr_expect_eq(again.limit, 3);
	cr_expect_eq(again.pace.threshold, 4);
	cr_expect_eq(again.pace.slow_us, 250000);
	cr_expect_eq(again.provider, thread.provider);
	cr_expect_eq(table.count, 0);
	shape_read(&table, str_slice(&text), 1001 + SHAPE_KEPT_S);
	cr_expect_eq(table.count, 0, "too old");
	shape_read(&table, SLICE("a\n\na\tb\tc\td\te\tf\tg\n"
	    "smtp\ta\t0\t4\t0\t1000\t-\nsmtp\ta\t3\t4\t-1\t1000\t-\n"
	    "smtp\ta\t3\t4\t0\t1000\t\n\t\t\t\t\t\t\t"), 1000);
	cr_expect_eq(table.count, 0, "nonsense");
	provider_part(&thread);
	provider_part(&again);
	provider_table_release(&providers);
	shape_release(&table);
	str_release(&text);
}

Test(zone, a_provider_is_remembered)
{
	struct provider_table providers = { .size = 0 };
	struct provider_table again = { .size = 0 };
	struct ring ring = { .zone = "" };
	struct thread thread, other;
	struct str text = STR_INIT;

	provider_join(&providers, a_thread(&thread, &ring, "a.example"),
	    SLICE("mx.example"));
	provider_add_lines(&providers, 7200, &text);
	cr_expect_str_eq(text.buf, "", "nothing was learned");
	thread.provider->serving = 8;
	provider_less(&thread, 10, 20);
	cr_expect_eq(thread.provider->learned, 4);
	provider_add_lines(&providers, 7300, &text);
	cr_expect_str_eq(text.buf, "%provider\tmx.example\t4\t7200\n");
	provider_read(&again, str_slice(&text), 8000);
	provider_join(&again, a_thread(&other, &ring, "b.example"),
	    SLICE("mx.example"));
	cr_expect_eq(other.provider->learned, 4);
	cr_expect(!provider_is_full(&other));
	other.provider->serving = 4;
	cr_expect(provider_is_full(&other), "as before the restart");
	other.provider->serving = 0;
	/* its last thread goes: a day later it is forgotten */
	provider_part(&other);
	provider_sweep(&again, 8000);
	cr_expect_eq(again.count, 1);
	provider_sweep(&again, 7200 + PROVIDER_KEPT_S);
	cr_expect_eq(again.count, 0);
	provider_read(&again, SLICE("%provider\tmx\t0\t1\n%provider\t\t3\t1"
	    "\n%provider\tmx\t9999\t1\n%provider\tmx\t3\n%provider"), 1);
	cr_expect_eq(again.count, 0, "nonsense");
	provider_read(&again, str_slice(&text), 7201 + PROVIDER_KEPT_S);
	cr_expect_eq(again.count, 0, "too old");
	thread.provider->serving = 0;
	provider_part(&thread);
	provider_table_release(&providers);
	provider_table_release(&again);
	str_release(&text);
}
