/* loop_poll.c - waiting where there is no epoll
 *
 * In     watches to arm
 * Out    those that are ready, continuing where the last wait stopped
 * Holds  one pollfd a watch, packed; a watch knows its slot
 * Spec   poll(2), POSIX.1-2008
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/loop_poller.h"

#if !ZM_LOOP_EPOLL
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

#include "base/banned.h"

#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

struct poller {
	struct pollfd	 *fds;
	struct watch	**watches;
	size_t		  count, room;
	size_t		  first;	/* where the next answer begins: a
					 * full answer starves nobody */
};

struct poller *
poller_new(void)
{
	return mem_alloc(1, sizeof(struct poller));
}

void
poller_free(struct poller **poller)
{
	mem_free(&(*poller)->fds);
	mem_free(&(*poller)->watches);
	mem_free(poller);
}

static void
slot_add(struct poller *poller, struct watch *watch)
{
	if (poller->count == poller->room) {
		poller->room = poller->room ? poller->room * 2 : 16;
		poller->fds = mem_grow(poller->fds, poller->room,
		    sizeof(*poller->fds));
		poller->watches = mem_grow(poller->watches, poller->room,
		    sizeof(*poller->watches));
	}
	watch->slot = poller->count++;
	poller->watches[watch->slot] = watch;
	poller->fds[watch->slot].fd = watch->fd;
}

static void
slot_remove(struct poller *poller, struct watch *watch)
{
	size_t last = --poller->count;

	poller->fds[watch->slot] = poller->fds[last];
	poller->watches[watch->slot] = poller->watches[last];
	poller->watches[watch->slot]->slot = watch->slot;
}

void
poller_arm(struct poller *poller, struct watch *watch, unsigned events)
{
	if (watch->armed == events)
		return;
	if (events == 0)
		slot_remove(poller, watch);
	else if (watch->armed == 0)
		slot_add(poller, watch);
	watch->armed = events;
	if (events != 0)
		poller->fds[watch->slot].events = (short)(
		    ((events & LOOP_READ) ? POLLIN : 0) |
		    ((events & LOOP_WRITE) ? POLLOUT : 0) |
		    ((events & LOOP_HANGUP) ? POLLRDHUP : 0));
}

static unsigned
poll_ready(const struct watch *watch, int mask)
{
	unsigned ready = 0;

	if (mask & POLLNVAL)
		panic("poll: descriptor %d is not open", watch->fd);
	if (mask & (POLLHUP | POLLERR))
		ready |= LOOP_HANGUP | watch->armed;
	if (mask & POLLRDHUP)
		ready |= LOOP_HANGUP;
	if (mask & POLLIN)
		ready |= LOOP_READ;
	if (mask & POLLOUT)
		ready |= LOOP_WRITE;
	return ready;
}

size_t
poller_wait(struct poller *poller, int wait_ms, struct poller_ready *out)
{
	int left = poll(poller->fds, (nfds_t)poller->count, wait_ms);
	size_t at = poller->first, n = 0;

	if (left < 0 && errno != EINTR)
		panic("poll: %s", strerror(errno));
	for (size_t i = 0; i < poller->count && left > 0 &&
	    n < POLLER_READY_MAX; i++, at++) {
		at = at < poller->count ? at : 0;
		if (poller->fds[at].revents == 0)
			continue;
		left--;
		out[n].watch = poller->watches[at];
		out[n++].ready = poll_ready(poller->watches[at],
		    poller->fds[at].revents);
	}
	poller->first = at;
	return n;
}
#endif
