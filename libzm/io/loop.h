/* loop.h - the event loop of a process: descriptors, timers, signals, turns
 *
 * Single-threaded.  A turn: wait, call what is ready, call due timers, then
 * the end-of-turn functions in the order they were added (group commit
 * first, replies after it), then event_flush.  Callbacks may add and remove
 * anything, themselves included.
 * Linux uses epoll (loop_epoll.c), other systems poll (loop_poll.c).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_LOOP_H
#define ZM_IO_LOOP_H

#include <stdbool.h>
#include <stdint.h>

enum loop_events { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HANGUP = 4 };

struct loop;
struct watch;			/* a watched descriptor */

typedef void loop_io_fn(void *context, unsigned ready);
typedef void loop_fn(void *context);

/* A loop; never NULL. */
struct loop *loop_new(void);
/* Forget all watches and timers (pointers to watches become invalid), and
 * restore the default action of signals.  In a child this does not affect the
 * parent's loop.  Sets *loop to NULL. */
void loop_free(struct loop **loop);

/* Call fn when fd is ready for one of events (level-triggered).  LOOP_HANGUP is
 * always reported when the connection is gone, together with the events waited
 * for, so that a reader sees the end in read(2); if it is one of events, a peer
 * that closed its sending half is reported, too.  The loop does not own fd,
 * which has one watch at a time. */
struct watch *loop_watch(struct loop *loop, int fd, unsigned events,
    loop_io_fn *fn, void *context);
/* Wait for other events from now on; 0 pauses. */
void watch_set(struct watch *watch, unsigned events);
/* Stop watching; call before close(fd).  Sets *watch to NULL. */
void watch_free(struct watch **watch);

/* A timer lives in its owner's struct; zero it before first use. */
struct timer {
	int64_t		 at_ms;		/* clock_steady_ms moment; 0: not set */
	loop_fn		*fn;
	void		*context;
	struct loop	*loop;
	unsigned	 heap_index;	/* loop_timer.c's own, like order */
	unsigned	 order;		/* of equal moments: as they were set */
};
/* Set it, or set it anew.  A timer fires once; if it is due already, it fires
 * in the next turn.  O(log n).  The struct must not move while it is set. */
void timer_set(struct loop *loop, struct timer *timer, int64_t at_ms,
    loop_fn *fn, void *context);
/* Unset it; harmless when it was not set. */
void timer_clear(struct timer *timer);

/* Call fn(context) at the end of every turn. */
void loop_at_turn_end(struct loop *loop, loop_fn *fn, void *context);

/* Call fn(context) in the loop (not in the handler) after signal number.
 * Signals that came together are reported once.  Only one loop of a process may
 * use this. */
void loop_signal(struct loop *loop, int number, loop_fn *fn, void *context);
/* To be called before an exec, with all signals blocked: send signals that came
 * and whose function was not called yet once more, to the next program. */
void loop_signals_resend(struct loop *loop);

/* Run until loop_stop; the turn that stops is finished. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* One turn that waits at most wait_ms (-1: as long as it takes); for tests
 * and tools. */
void loop_turn(struct loop *loop, int wait_ms);

/* Begin no call later than limit_us after the start of a turn: the remaining
 * ready watches and due timers are called in the next turn, those watches
 * first.  Every turn calls at least one of each, and all end-of-turn functions.
 * There is no limit until this is called. */
void loop_limit_turns(struct loop *loop, int64_t limit_us);
/* Has the turn reached its limit, so that code that works in pieces should
 * leave the rest to the next turn? */
bool loop_turn_is_over(const struct loop *loop);
/* When work that begins now should end (clock_real_us): most_us from now, or
 * when the turn is over, but not before a quarter of most_us, so that the last
 * in a turn makes progress, too. */
int64_t loop_share_end_us(const struct loop *loop, int64_t most_us);

/* How long turns take without their waits: meanwhile nobody else is served.
 * This is real time, also where a test moves the clock. */
enum { LOOP_TURN_BOUNDS = 5 };
extern const int64_t loop_turn_bounds_us[LOOP_TURN_BOUNDS];
struct loop_turns {
	uint64_t	count, sum_us;
	uint64_t	within[LOOP_TURN_BOUNDS];	/* turns that took at
							 * most that long */
	int64_t		longest_us;
};
/* Since the loop was made. */
const struct loop_turns *loop_turns(const struct loop *loop);

#endif
