/* loop_poller.h - what loop.c needs of epoll or poll, and of its timers
 *
 * Internal to libzm/io: loop.c keeps watches, timers and turns; loop_epoll.c or
 * loop_poll.c waits.  The poller knows a watch only while its `armed` is not 0.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_LOOP_POLLER_H
#define ZM_IO_LOOP_POLLER_H

#include <stddef.h>

#include "io/loop.h"

#if defined(HAVE_SYS_EPOLL_H) && !defined(ZM_LOOP_POLL)
#define ZM_LOOP_EPOLL 1
#else
#define ZM_LOOP_EPOLL 0
#endif

enum { POLLER_READY_MAX = 256 };	/* taken of one wait */

struct watch {
	struct loop	*loop;
	int		 fd;
	unsigned	 events;	/* wanted by the owner */
	unsigned	 armed;		/* what the poller waits for */
	bool		 is_dead;	/* freed; the memory is at turn end */
	bool		 is_dirty;	/* on the loop's list of changes */
	bool		 is_owed;	/* the turn was over before its call */
	loop_io_fn	*fn;
	void		*context;
	struct watch	*next_dirty, *next_dead;
	struct watch	*next, *previous;	/* all of the loop */
	size_t		 slot;		/* loop_poll.c's own */
};

struct poller_ready {
	struct watch	*watch;
	unsigned	 ready;		/* enum loop_events */
};

struct poller;

/* Never NULL: exits 111 when the system gives no more descriptors. */
struct poller *poller_new(void);
/* Forget all watches.  In a child this does not change what the parent waits
 * for. */
void poller_free(struct poller **poller);

/* Wait for watch->events from now on; sets watch->armed.  events 0: the
 * poller forgets the descriptor. */
void poller_arm(struct poller *poller, struct watch *watch, unsigned events);

/* Wait at most wait_ms (-1: no bound); a signal ends the wait early.
 * Returns how many entries of out (POLLER_READY_MAX) were filled. */
size_t poller_wait(struct poller *poller, int wait_ms,
    struct poller_ready *out);

/* ---- loop_timer.c ------------------------------------------------------ */

struct timer_heap {
	struct timer	**heap;		/* from 1; [0] is not used */
	unsigned	 count, room, order;
};

/* Call those that are due, until the turn of the loop is over. */
void timers_call(const struct loop *loop, struct timer_heap *timers);
/* Clear all; free. */
void timers_release(struct timer_heap *timers);

/* ---- loop.c ------------------------------------------------------------ */

/* The heap of a loop. */
struct timer_heap *loop_timers(struct loop *loop);

#endif
