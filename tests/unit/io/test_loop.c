/* test_loop.c - order within a turn, and what may be freed in it
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "io/ipc.h"
#include "io/loop.h"

/* A context that note() writes down. */
#define TAG(text) ((char[]){ text })

static struct str notes = STR_INIT;

static void
note(void *context)
{
	str_adds(&notes, context);
}

static void
expect_notes(const char *want)
{
	cr_expect_str_eq(notes.buf, want);
	str_reset(&notes);
}

static void
pair(int ends[2])
{
	cr_assert_eq(ipc_pair(ends, NULL), 0);
}

Test(loop, timers_fire_by_moment_then_by_order_of_setting)
{
	struct loop *loop = loop_new();
	struct timer timers[5];
	int64_t now = clock_steady_ms();

	memset(timers, 0, sizeof(timers));
	timer_set(loop, &timers[0], now - 1, note, TAG("d"));
	timer_set(loop, &timers[1], now - 3, note, TAG("a"));
	timer_set(loop, &timers[2], now - 2, note, TAG("b"));
	timer_set(loop, &timers[3], now - 2, note, TAG("c"));
	timer_set(loop, &timers[4], now + 3600000, note, TAG("never"));
	loop_turn(loop, -1);
	expect_notes("abcd");
	cr_expect_eq(timers[0].at_ms, 0);
	cr_expect_neq(timers[4].at_ms, 0);
	loop_free(&loop);
	cr_expect_null(loop);
	cr_expect_eq(timers[4].at_ms, 0);
}

enum { MANY = 2000 };
static int64_t last_at;
static unsigned fired;
static struct timer many[MANY];

static void
in_order(void *context)
{
	struct timer *timer = context;
	int64_t at = (int64_t)(timer - many) * 7919 % MANY;

	cr_assert_geq(at, last_at);
	last_at = at;
	fired++;
}

Test(loop, a_heap_of_timers_survives_removals)
{
	struct loop *loop = loop_new();

	for (size_t i = 0; i < MANY; i++)
		timer_set(loop, &many[i], 1 + (int64_t)i * 7919 % MANY,
		    in_order, &many[i]);
	for (size_t i = 0; i < MANY; i += 3)
		timer_clear(&many[i]);
	for (size_t i = 0; i < MANY; i += 6)	/* set again, twice */
		for (int again = 0; again < 2; again++)
			timer_set(loop, &many[i],
			    1 + (int64_t)i * 7919 % MANY, in_order, &many[i]);
	loop_turn(loop, -1);
	cr_expect_eq(fired, MANY - (MANY + 2) / 3 + (MANY + 5) / 6);
	loop_free(&loop);
}

static struct loop *again_loop;
static struct timer again_timer;
static unsigned again_count;

static void
again(void *context)
{
	again_count++;
	timer_set(again_loop, &again_timer, 1, again, NULL);
}

Test(loop, a_timer_armed_for_now_waits_for_the_next_turn)
{
	again_loop = loop_new();
	timer_set(again_loop, &again_timer, 1, again, NULL);
	loop_turn(again_loop, -1);
	cr_expect_eq(again_count, 1);
	loop_turn(again_loop, -1);
	cr_expect_eq(again_count, 2);
	loop_free(&again_loop);
}

static struct watch *victims[2];
static unsigned victim_calls;

static void
free_both(void *context, unsigned ready)
{
	victim_calls++;
	watch_free(&victims[0]);
	watch_free(&victims[1]);
}

Test(loop, a_watch_freed_by_another_ones_callback_is_not_called)
{
	struct loop *loop = loop_new();
	int a[2], b[2];

	pair(a);
	pair(b);
	victims[0] = loop_watch(loop, a[0], LOOP_READ, free_both, NULL);
	victims[1] = loop_watch(loop, b[0], LOOP_READ, free_both, NULL);
	cr_assert_eq(write(a[1], "x", 1), 1);
	cr_assert_eq(write(b[1], "x", 1), 1);
	loop_turn(loop, 1000);
	cr_expect_eq(victim_calls, 1);
	cr_expect_null(victims[0]);
	loop_turn(loop, 0);
	cr_expect_eq(victim_calls, 1);
	loop_free(&loop);
}

static struct watch *paused, *pauser;

static void
pause_other(void *context, unsigned ready)
{
	str_addc(&notes, 'p');
	watch_set(paused, 0);
	watch_set(pauser, 0);
}

Test(loop, a_paused_watch_is_silent_until_it_is_set_again)
{
	struct loop *loop = loop_new();
	int a[2], b[2];

	pair(a);
	pair(b);
	cr_assert_eq(write(a[1], "x", 1), 1);
	cr_assert_eq(write(b[1], "x", 1), 1);
	/* Whichever is called first pauses both. */
	paused = loop_watch(loop, a[0], LOOP_READ, pause_other, NULL);
	pauser = loop_watch(loop, b[0], LOOP_READ, pause_other, NULL);
	loop_turn(loop, 1000);
	expect_notes("p");
	close(a[1]);	/* a hangup does not wake a paused watch either */
	loop_turn(loop, 0);
	expect_notes("");
	watch_set(paused, LOOP_READ);
	loop_turn(loop, 1000);
	expect_notes("p");
	loop_free(&loop);
}

static unsigned last_ready;

static void
keep_ready(void *context, unsigned ready)
{
	last_ready = ready;
}

Test(loop, hangup_comes_with_what_was_waited_for)
{
	static const struct { unsigned asked, want; } rows[] = {
		{ LOOP_READ, LOOP_READ | LOOP_HANGUP },
		{ LOOP_WRITE, LOOP_WRITE | LOOP_HANGUP },
		{ LOOP_HANGUP, LOOP_HANGUP },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct loop *loop = loop_new();
		struct watch *watch;
		int ends[2];

		pair(ends);
		watch = loop_watch(loop, ends[0], rows[i].asked, keep_ready,
		    NULL);
		close(ends[1]);
		last_ready = 0;
		loop_turn(loop, 1000);
		cr_expect_eq(last_ready, rows[i].want, "row %zu: %u", i,
		    last_ready);
		watch_free(&watch);
		close(ends[0]);
		loop_free(&loop);
	}
}

Test(loop, a_descriptor_number_can_be_watched_again_after_free_and_close)
{
	struct loop *loop = loop_new();

	for (int i = 0; i < 3; i++) {
		struct watch *watch;
		int ends[2];

		pair(ends);
		watch = loop_watch(loop, ends[0], LOOP_WRITE, keep_ready,
		    NULL);
		last_ready = 0;
		loop_turn(loop, 1000);
		cr_expect_eq(last_ready, LOOP_WRITE);
		watch_free(&watch);
		close(ends[0]);
		close(ends[1]);
	}
	loop_free(&loop);
}

static void
kill_self(void *context)
{
	note(TAG("t"));
	raise(SIGUSR1);
	raise(SIGUSR1);
}

Test(loop, a_turn_is_ready_then_timers_then_ends_and_signals_come_next)
{
	struct loop *loop = loop_new();
	struct timer timer = { 0 };

	loop_signal(loop, SIGUSR1, note, TAG("S"));
	loop_at_turn_end(loop, note, TAG("1"));
	loop_at_turn_end(loop, note, TAG("2"));
	timer_set(loop, &timer, 1, kill_self, NULL);
	loop_turn(loop, 1000);
	expect_notes("t12");
	loop_turn(loop, 1000);	/* two that came together are one */
	expect_notes("S12");
	loop_free(&loop);
}

Test(loop, a_freed_loop_gives_signals_back, .signal = SIGUSR1)
{
	struct loop *loop = loop_new();

	loop_signal(loop, SIGUSR1, note, TAG("S"));
	loop_free(&loop);
	raise(SIGUSR1);
}

static void
stop(void *context)
{
	loop_stop(context);
}

Test(loop, run_ends_after_the_turn_that_stops_it)
{
	struct loop *loop = loop_new();
	struct timer timer = { 0 };

	loop_at_turn_end(loop, note, TAG("e"));
	timer_set(loop, &timer, 1, stop, loop);
	loop_run(loop);
	expect_notes("e");
	loop_free(&loop);
}

/* A turn that takes 2 ms, however busy the machine is. */
static void
dawdle(void *context)
{
	int64_t end_us = clock_real_us() + 2000;

	while (clock_real_us() < end_us)
		;
}

Test(loop, turns_are_measured_without_their_waits)
{
	struct loop *loop = loop_new();
	const struct loop_turns *turns = loop_turns(loop);
	struct timer timer = { 0 };
	int64_t begun_us;

	cr_expect_eq(turns->count, 0);
	begun_us = clock_real_us();
	loop_turn(loop, 30);		/* nothing but a wait */
	cr_expect_eq(turns->count, 1);
	cr_expect_lt(turns->longest_us, clock_real_us() - begun_us - 25000);
	timer_set(loop, &timer, 1, dawdle, NULL);
	begun_us = clock_real_us();
	loop_turn(loop, 1000);
	cr_expect_eq(turns->count, 2);
	cr_expect_geq(turns->longest_us, 2000);
	cr_expect_leq(turns->longest_us, clock_real_us() - begun_us);
	cr_expect_geq(turns->sum_us, (uint64_t)turns->longest_us);
	for (int i = 0; i < LOOP_TURN_BOUNDS; i++)
		cr_expect_eq(turns->within[i]<2,
		    turns->longest_us> loop_turn_bounds_us[i], "%d", i);
	loop_turn(loop, 0);
	cr_expect_geq(turns->longest_us, 2000, "the longest stays");
	loop_free(&loop);
}

/* Naps so that a moved clock is seen are no turns: what was not asked for
 * does not happen, whoever naps meanwhile. */
Test(loop, a_moved_clock_wakes_only_whose_timer_is_due)
{
	char path[] = "/tmp/zm-loop-XXXXXX";
	int fd = mkstemp(path);
	struct loop *loop;
	struct timer timer = { 0 };
	int64_t by_s = 0;
	pid_t mover;

	cr_assert_eq(write(fd, &by_s, sizeof(by_s)), sizeof(by_s));
	setenv("ZMAILER_TEST_CLOCK", path, 1);
	loop = loop_new();
	loop_at_turn_end(loop, note, TAG("e"));
	timer_set(loop, &timer, clock_steady_ms() + 3600000, note, TAG("t"));
	mover = fork();
	if (mover == 0) {
		for (int i = 0; i < 3; i++) {
			usleep(5 * 1000 * (useconds_t)clock_nap_ms());
			by_s += 1800;
			(void)!pwrite(fd, &by_s, sizeof(by_s), 0);
		}
		_exit(0);
	}
	loop_turn(loop, -1);
	expect_notes("te");
	cr_expect_eq(loop_turns(loop)->count, 1);
	cr_expect_eq(waitpid(mover, NULL, 0), mover);
	loop_free(&loop);
	close(fd);
	unlink(path);
}

static unsigned calls[600];

static void
count_call(void *context, unsigned ready)
{
	(*(unsigned *)context)++;
}

Test(loop, more_ready_descriptors_than_one_wait_takes_starve_nobody)
{
	struct loop *loop = loop_new();
	int ends[2];

	pair(ends);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	for (size_t i = 0; i < 600; i++)
		loop_watch(loop, dup(ends[0]), LOOP_READ, count_call,
		    &calls[i]);
	for (int turn = 0; turn < 6; turn++)
		loop_turn(loop, 1000);
	for (size_t i = 0; i < 600; i++)
		cr_expect_gt(calls[i], 0, "%zu", i);
	loop_free(&loop);
}

/* ---- turns that are limited --------------------------------------------- */

enum { LIMIT_US = 100 };

/* Longer than a turn may take. */
static void
note_long(void *context)
{
	note(context);
	(void)usleep(2 * LIMIT_US);
}

static void
ready_long(void *context, unsigned ready)
{
	note_long(context);
}

Test(loop, what_a_turn_has_no_time_for_comes_first_in_the_next)
{
	struct loop *loop = loop_new();
	struct timer timers[3];
	int ends[2];

	memset(timers, 0, sizeof(timers));
	loop_limit_turns(loop, LIMIT_US);
	pair(ends);
	cr_assert_eq(write(ends[1], "x", 1), 1);
	loop_watch(loop, ends[0], LOOP_READ, ready_long, TAG("a"));
	loop_watch(loop, dup(ends[0]), LOOP_READ, ready_long, TAG("b"));
	loop_watch(loop, dup(ends[0]), LOOP_READ, ready_long, TAG("c"));
	timer_set(loop, &timers[0], clock_steady_ms() - 3, note_long, TAG("1"));
	timer_set(loop, &timers[1], clock_steady_ms() - 2, note_long, TAG("2"));
	timer_set(loop, &timers[2], clock_steady_ms() - 1, note_long, TAG("3"));
	loop_at_turn_end(loop, note, TAG("."));
	for (int turn = 0; turn < 8; turn++)
		loop_turn(loop, 1000);
	cr_expect_eq(strlen(notes.buf), 19, "%s", notes.buf);
	/* who is put off waits for the others' calls, twice at most; timers
	 * come in their order */
	for (const char *tag = "abc"; *tag != '\0'; tag++) {
		const char *first = strchr(notes.buf, *tag);

		cr_assert_not_null(first, "%c in %s", *tag, notes.buf);
		cr_expect_leq(first - notes.buf, 6, "%s", notes.buf);
		cr_expect_not_null(strchr(first + 1, *tag), "%s", notes.buf);
	}
	cr_expect_lt(strchr(notes.buf, '1'), strchr(notes.buf, '2'));
	cr_expect_lt(strchr(notes.buf, '2'), strchr(notes.buf, '3'));
	loop_free(&loop);
}

Test(loop, who_comes_late_in_a_turn_has_a_share_of_it)
{
	struct loop *loop = loop_new();
	int64_t before_us = clock_real_us(), end_us;

	end_us = loop_share_end_us(loop, 4000);
	cr_expect_geq(end_us, before_us + 4000);
	cr_expect_not(loop_turn_is_over(loop));
	loop_limit_turns(loop, 1);
	loop_turn(loop, 0);
	(void)usleep(2);
	cr_expect(loop_turn_is_over(loop));
	before_us = clock_real_us();
	end_us = loop_share_end_us(loop, 4000);
	cr_expect_geq(end_us, before_us + 1000);
	cr_expect_leq(end_us, clock_real_us() + 1000);
	loop_free(&loop);
}
