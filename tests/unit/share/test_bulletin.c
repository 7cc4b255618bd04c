/* test_bulletin.c - news are handed on, and not faster than others can take
 *
 * This has a store of its own: a Redis in wrong hands, which always has more.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/clock.h"
#include "share/count/pace.h"
#include "share/ledger/bulletin.h"

#define SUM "0123456789abcdef0123456789abcdef"
enum { FLOOD_NEWS = 1000, FLOOD_FOR_MS = 300 };

Test(share_pace, a_burst_passes_and_then_so_many_a_second)
{
	struct news_pace pace = { 0 };

	cr_expect_eq(pace_wait_ms(&pace, 1000), 0);
	pace_take(&pace, PACE_BURST, 1000);
	cr_expect_eq(pace_wait_ms(&pace, 1000), 0);
	pace_take(&pace, PACE_A_SECOND, 1000);
	cr_expect_eq(pace_wait_ms(&pace, 1000), 1000);
	cr_expect_eq(pace_wait_ms(&pace, 1600), 400);
	cr_expect_eq(pace_wait_ms(&pace, 2000), 0);
	pace_take(&pace, UINT64_MAX, 2000);
	cr_expect_eq(pace_wait_ms(&pace, 2000), 60000, "more is forgiven");
	cr_expect_eq(pace_wait_ms(&pace, 1000000), 0);
}

Test(share_pace, a_wait_is_told_once_a_minute)
{
	struct news_pace pace = { 0 };

	cr_expect(pace_tells(&pace, 1000));
	cr_expect_not(pace_tells(&pace, 60999));
	cr_expect(pace_tells(&pace, 61000));
}

/* ---- a store that always has more ---------------------------------------- */

static struct loop *loop;
static struct bulletin *bulletin;
static size_t heard, answers;

void
store_ask(struct store *store, const struct store_question *question,
    store_answer_fn *fn, void *context)
{
	struct str text = STR_INIT;

	str_adds(&text, "7 1-1");
	for (int i = 0; i < FLOOD_NEWS; i++)
		str_adds(&text, " mx2 failed " SUM " 0");
	fn(context, false, str_slice(&text));
	str_release(&text);
}

bool
store_is_open(const struct store *store)
{
	return true;
}

struct store_state
store_state(const struct store *store)
{
	return (struct store_state){ .is_up = true, .place = "192.0.2.1" };
}

static void
flood_ask(void *context)
{
	struct news_question question;

	cr_assert(news_question_read(SLICE("7 news - 7"), &question));
	(void)bulletin_ask(bulletin, &question, context, NULL);
}

static struct timer again;

/* bulletin_answer_fn: who asks again at once. */
static void
flood_on_answer(void *context, struct slice lines)
{
	struct slice line;

	answers++;
	while (slice_cut(&lines, '\n', &line))
		heard += slice_starts(line, "failed ");
	timer_set(loop, &again, clock_steady_ms(), flood_ask,
	    (void *)flood_on_answer);
}

static void
flood_end(void *context)
{
	loop_stop(loop);
}

Test(share_bulletin, a_redis_that_always_has_more_keeps_nobody_busy)
{
	static struct conf conf = { .cluster = { .name = "mx",
	    .self = "mx1" } };
	struct process process = { .conf = &conf };
	int64_t start_ms = clock_steady_ms(), passed_ms;
	struct timer end = { 0 };

	loop = process.loop = loop_new();
	bulletin = bulletin_new(&process, NULL);
	flood_ask((void *)flood_on_answer);
	timer_set(loop, &end, start_ms + FLOOD_FOR_MS, flood_end, NULL);
	loop_run(loop);
	passed_ms = clock_steady_ms() - start_ms;
	cr_expect_geq(heard, PACE_BURST);
	cr_expect_leq(heard, (size_t)(PACE_BURST + FLOOD_NEWS +
	    passed_ms * PACE_A_SECOND / 1000), "%zu in %zu answers", heard,
	    answers);
	timer_clear(&again);
	bulletin_free(&bulletin);
	loop_free(&loop);
}
