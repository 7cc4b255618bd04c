/* loop.c - one event loop a process: watches, timers, signals, turns
 *
 * In     descriptors, moments, signal numbers and whom to call
 * Out    calls, in a fixed order within a turn
 * Holds  the watches (changes reach the system once a turn), the timers
 *        (loop_timer.c), the signal pipe
 * Spec   loop.h
 *
 * A freed watch stays in memory until the turn is over: the list of what
 * is ready may still name it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "journal/event.h"
#include "journal/progress.h"
#include "base/mem.h"
#include "io/loop_poller.h"

#include "base/banned.h"

enum { SIGNAL_MAX = 64 };

struct turn_end {
	loop_fn		*fn;
	void		*context;
};

struct signal_row {
	loop_fn		*fn;
	void		*context;
};

struct loop {
	struct poller		*poller;
	struct watch		*watches;	/* all that are alive */
	struct watch		*dirty, *dead;
	struct timer_heap	timers;
	struct turn_end		*turn_ends;
	size_t			 turn_end_count;
	struct signal_row	 signals[SIGNAL_MAX];
	struct watch		*signal_watch;
	bool			 is_stopped;
	int64_t			 woke_us;	/* this turn's wait ended */
	int64_t			 limit_us;	/* of a turn; 0: none */
	struct loop_turns	 turns;
	struct poller_ready	 ready[POLLER_READY_MAX];
};

/* Handlers know no context: one loop of a process has the signals. */
static int signal_pipe[2] = { -1, -1 };
static volatile sig_atomic_t signal_is_pending[SIGNAL_MAX];

/* ---- watches -------------------------------------------------------- */

static void
watch_mark(struct watch *watch)
{
	if (watch->is_dirty)
		return;
	watch->is_dirty = true;
	watch->next_dirty = watch->loop->dirty;
	watch->loop->dirty = watch;
}

struct watch *
loop_watch(struct loop *loop, int fd, unsigned events, loop_io_fn *fn,
    void *context)
{
	struct watch *watch = mem_alloc(1, sizeof(*watch));

	watch->loop = loop;
	watch->fd = fd;
	watch->events = events;
	watch->fn = fn;
	watch->context = context;
	watch->next = loop->watches;
	if (watch->next != NULL)
		watch->next->previous = watch;
	loop->watches = watch;
	watch_mark(watch);
	return watch;
}

void
watch_set(struct watch *watch, unsigned events)
{
	if (watch->events == events)
		return;
	watch->events = events;
	watch_mark(watch);
}

void
watch_free(struct watch **watch)
{
	struct watch *dead = *watch;

	*watch = NULL;
	if (dead == NULL)
		return;
	/* At once, not with the other changes: the caller closes the fd. */
	poller_arm(dead->loop->poller, dead, 0);
	dead->is_dead = true;
	if (dead->next != NULL)
		dead->next->previous = dead->previous;
	if (dead->previous != NULL)
		dead->previous->next = dead->next;
	else
		dead->loop->watches = dead->next;
	dead->next_dead = dead->loop->dead;
	dead->loop->dead = dead;
}

/* Tell the poller what changed since the last turn. */
static void
dirty_flush(struct loop *loop)
{
	while (loop->dirty != NULL) {
		struct watch *watch = loop->dirty;

		loop->dirty = watch->next_dirty;
		watch->is_dirty = false;
		if (!watch->is_dead)
			poller_arm(loop->poller, watch, watch->events);
	}
}

static void
dead_bury(struct loop *loop)
{
	if (loop->dead == NULL)
		return;
	dirty_flush(loop);
	while (loop->dead != NULL) {
		struct watch *watch = loop->dead;

		loop->dead = watch->next_dead;
		mem_free(&watch);
	}
}

/* ---- turns: how long one takes ---------------------------------------- */

const int64_t loop_turn_bounds_us[LOOP_TURN_BOUNDS] =
    { 1000, 10000, 100000, 1000000, 10000000 };

static void
loop_turn_count(struct loop *loop)
{
	int64_t took_us = clock_real_us() - loop->woke_us;

	progress_turn_took(took_us);
	loop->turns.count++;
	loop->turns.sum_us += (uint64_t)took_us;
	for (int i = 0; i < LOOP_TURN_BOUNDS; i++)
		loop->turns.within[i] += took_us <= loop_turn_bounds_us[i];
	if (took_us > loop->turns.longest_us)
		loop->turns.longest_us = took_us;
}

const struct loop_turns *
loop_turns(const struct loop *loop)
{
	return &loop->turns;
}

/* ---- turns: how long one may take -------------------------------------- */

void
loop_limit_turns(struct loop *loop, int64_t limit_us)
{
	loop->limit_us = limit_us;
}

bool
loop_turn_is_over(const struct loop *loop)
{
	return loop->limit_us > 0 &&
	    clock_real_us() - loop->woke_us >= loop->limit_us;
}

int64_t
loop_share_end_us(const struct loop *loop, int64_t most_us)
{
	int64_t now_us = clock_real_us(), least_us = now_us + most_us / 4;
	int64_t over_us = loop->woke_us + loop->limit_us;

	if (loop->limit_us == 0 || over_us > now_us + most_us)
		return now_us + most_us;
	return over_us > least_us ? over_us : least_us;
}

/* ---- turns: how long one may wait ------------------------------------- */

/* Until the first timer is due; -1: there is none. */
static int64_t
timer_left_ms(const struct loop *loop)
{
	int64_t left_ms;

	if (loop->timers.count == 0)
		return -1;
	left_ms = loop->timers.heap[1]->at_ms - clock_steady_ms();
	return left_ms > 0 ? left_ms : 0;
}

/* The shorter of two spans, of which -1 has no end; fits poll(). */
static int
wait_least(int64_t one_ms, int64_t other_ms)
{
	if (one_ms < 0 || (other_ms >= 0 && other_ms < one_ms))
		one_ms = other_ms;
	return one_ms > INT_MAX ? INT_MAX : (int)one_ms;
}

/* Sleep until something comes, a timer is due or wait_ms are over; returns
 * how many watches are ready.  Between two naps we look at a clock that a
 * test moves, and note that we are alive: that wakes nobody, for a turn that
 * nothing asked for would do what somebody forgot to ask for. */
static size_t
watches_await(struct loop *loop, int wait_ms)
{
	int64_t end_us = clock_real_us() + (int64_t)wait_ms * 1000, left_ms;
	int nap_ms = clock_nap_ms() >= 0 ? clock_nap_ms() : progress_nap_ms();
	size_t n;

	do {
		left_ms = wait_ms < 0 ? -1 :
		    (end_us - clock_real_us() + 999) / 1000;
		if (wait_ms >= 0 && left_ms < 0)
			left_ms = 0;
		n = poller_wait(loop->poller, wait_least(nap_ms,
		    wait_least(left_ms, timer_left_ms(loop))), loop->ready);
		loop->woke_us = clock_real_us();
		progress_turn(loop->woke_us);
	} while (n == 0 && timer_left_ms(loop) != 0 &&
	    (wait_ms < 0 || loop->woke_us < end_us));
	return n;
}

/* Those whose call an earlier turn put off come first; how many. */
static size_t
ready_sort(struct poller_ready *ready, size_t n)
{
	struct poller_ready others[POLLER_READY_MAX];
	size_t owed_count = 0, other_count = 0;

	for (size_t i = 0; i < n; i++)
		if (ready[i].watch->is_owed)
			ready[owed_count++] = ready[i];
		else
			others[other_count++] = ready[i];
	memcpy(ready + owed_count, others, other_count * sizeof(*others));
	return owed_count;
}

static void
watch_call(struct watch *watch, unsigned ready)
{
	watch->is_owed = false;
	if (watch->is_dead || watch->events == 0)
		return;
	ready &= watch->events | LOOP_HANGUP;
	if (ready != 0)
		watch->fn(watch->context, ready);
}

/* In rounds: who was put off is called before anybody has a second call, and
 * others are put off only when nobody of the last round is left. */
static void
watches_call(struct loop *loop, int wait_ms)
{
	size_t n = watches_await(loop, wait_ms), owed_count = 0, i = 0;

	if (loop->limit_us > 0)
		owed_count = ready_sort(loop->ready, n);
	while (i < n) {
		watch_call(loop->ready[i].watch, loop->ready[i].ready);
		i++;
		if (loop_turn_is_over(loop))
			break;
	}
	for (; i >= owed_count && i < n; i++)
		loop->ready[i].watch->is_owed = true;
}

/* ---- signals: a handler notes the number and wakes the loop ---------- */

static void
on_signal(int number)
{
	int saved = errno;

	signal_is_pending[number] = 1;
	/* A full pipe wakes the loop just as well. */
	if (write(signal_pipe[1], "", 1) < 0)
		errno = saved;
	errno = saved;
}

static void
signals_call(void *context, unsigned ready)
{
	struct loop *loop = context;
	char bytes[64];

	while (read(signal_pipe[0], bytes, sizeof(bytes)) ==
	    (ssize_t)sizeof(bytes))
		;
	for (int i = 1; i < SIGNAL_MAX; i++)
		if (signal_is_pending[i] && loop->signals[i].fn != NULL) {
			signal_is_pending[i] = 0;
			loop->signals[i].fn(loop->signals[i].context);
		}
}

static void
signals_open(struct loop *loop)
{
	if (loop->signal_watch != NULL)
		return;
	if (signal_pipe[0] >= 0)
		panic("loop_signal: another loop has the signals");
	if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		fatal("pipe2: %s", strerror(errno));	/* as poller_new */
	loop->signal_watch = loop_watch(loop, signal_pipe[0], LOOP_READ,
	    signals_call, loop);
}

void
loop_signal(struct loop *loop, int number, loop_fn *fn, void *context)
{
	struct sigaction action;

	if (number <= 0 || number >= SIGNAL_MAX)
		panic("loop_signal: number %d", number);
	signals_open(loop);
	loop->signals[number].fn = fn;
	loop->signals[number].context = context;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
	sigfillset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

void
loop_signals_resend(struct loop *loop)
{
	for (int i = 1; i < SIGNAL_MAX; i++)
		if (signal_is_pending[i] && loop->signals[i].fn != NULL) {
			signal_is_pending[i] = 0;
			(void)kill(getpid(), i);
		}
}

static void
signals_close(struct loop *loop)
{
	if (loop->signal_watch == NULL)
		return;
	for (int i = 1; i < SIGNAL_MAX; i++)
		if (loop->signals[i].fn != NULL) {
			signal(i, SIG_DFL);
			signal_is_pending[i] = 0;
		}
	close(signal_pipe[0]);
	close(signal_pipe[1]);
	signal_pipe[0] = signal_pipe[1] = -1;
}

/* ---- a loop's life ------------------------------------------------------ */

struct timer_heap *
loop_timers(struct loop *loop)
{
	return &loop->timers;
}

struct loop *
loop_new(void)
{
	struct loop *loop = mem_alloc(1, sizeof(*loop));

	loop->poller = poller_new();
	return loop;
}

void
loop_free(struct loop **loop)
{
	struct loop *dead = *loop;

	if (dead == NULL)
		return;
	signals_close(dead);
	/* The poller goes first: what a parent waits for is not touched. */
	poller_free(&dead->poller);
	timers_release(&dead->timers);
	while (dead->watches != NULL) {
		struct watch *watch = dead->watches;

		dead->watches = watch->next;
		mem_free(&watch);
	}
	while (dead->dead != NULL) {
		struct watch *watch = dead->dead;

		dead->dead = watch->next_dead;
		mem_free(&watch);
	}
	mem_free(&dead->turn_ends);
	mem_free(loop);
}

void
loop_at_turn_end(struct loop *loop, loop_fn *fn, void *context)
{
	loop->turn_ends = mem_grow(loop->turn_ends, loop->turn_end_count + 1,
	    sizeof(*loop->turn_ends));
	loop->turn_ends[loop->turn_end_count].fn = fn;
	loop->turn_ends[loop->turn_end_count++].context = context;
}

void
loop_turn(struct loop *loop, int wait_ms)
{
	dirty_flush(loop);
	watches_call(loop, wait_ms);
	timers_call(loop, &loop->timers);
	for (size_t i = 0; i < loop->turn_end_count; i++)
		loop->turn_ends[i].fn(loop->turn_ends[i].context);
	event_flush();
	dead_bury(loop);
	loop_turn_count(loop);
}

void
loop_run(struct loop *loop)
{
	progress_join();
	/* what was prepared before the loop began is not left waiting for
	 * an event: the first turn does not wait */
	if (!loop->is_stopped)
		loop_turn(loop, 0);
	while (!loop->is_stopped)
		loop_turn(loop, -1);
	loop->is_stopped = false;
}

void
loop_stop(struct loop *loop)
{
	loop->is_stopped = true;
}
