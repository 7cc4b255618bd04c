/* loop_epoll.c - waiting on Linux: cost by what is ready, not by what is open
 *
 * In     watches to arm
 * Out    those that are ready
 * Holds  the epoll descriptor
 * Spec   epoll(7), level-triggered
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/loop_poller.h"

#if ZM_LOOP_EPOLL
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#include "base/banned.h"

struct poller {
	int			 fd;
	struct epoll_event	 events[POLLER_READY_MAX];
};

struct poller *
poller_new(void)
{
	struct poller *poller = mem_alloc(1, sizeof(*poller));

	poller->fd = epoll_create1(EPOLL_CLOEXEC);
	if (poller->fd < 0)	/* as base/mem.c: the machine is exhausted */
		fatal("epoll_create1: %s", strerror(errno));
	return poller;
}

void
poller_free(struct poller **poller)
{
	close((*poller)->fd);
	mem_free(poller);
}

static uint32_t
epoll_mask(unsigned events)
{
	return ((events & LOOP_READ) ? (uint32_t)EPOLLIN : 0) |
	    ((events & LOOP_WRITE) ? (uint32_t)EPOLLOUT : 0) |
	    ((events & LOOP_HANGUP) ? (uint32_t)EPOLLRDHUP : 0);
}

void
poller_arm(struct poller *poller, struct watch *watch, unsigned events)
{
	struct epoll_event event;
	int how;

	if (watch->armed == events)
		return;
	memset(&event, 0, sizeof(event));
	event.events = epoll_mask(events);
	event.data.ptr = watch;
	how = events == 0 ? EPOLL_CTL_DEL :
	    watch->armed == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
	watch->armed = events;
	if (epoll_ctl(poller->fd, how, watch->fd, &event) == 0 ||
	    how == EPOLL_CTL_DEL)
		return;
	if (errno == ENOMEM || errno == ENOSPC)	/* as poller_new */
		fatal("epoll_ctl: %s; see fs.epoll.max_user_watches",
		    strerror(errno));
	panic("epoll_ctl: descriptor %d: %s", watch->fd, strerror(errno));
}

static unsigned
epoll_ready(const struct watch *watch, uint32_t mask)
{
	unsigned ready = 0;

	if (mask & (EPOLLHUP | EPOLLERR))
		ready |= LOOP_HANGUP | watch->armed;
	if (mask & EPOLLRDHUP)
		ready |= LOOP_HANGUP;
	if (mask & EPOLLIN)
		ready |= LOOP_READ;
	if (mask & EPOLLOUT)
		ready |= LOOP_WRITE;
	return ready;
}

size_t
poller_wait(struct poller *poller, int wait_ms, struct poller_ready *out)
{
	int n = epoll_wait(poller->fd, poller->events, POLLER_READY_MAX,
	    wait_ms);

	if (n < 0 && errno != EINTR)
		panic("epoll_wait: %s", strerror(errno));
	for (int i = 0; i < n; i++) {
		out[i].watch = poller->events[i].data.ptr;
		out[i].ready = epoll_ready(out[i].watch,
		    poller->events[i].events);
	}
	return n < 0 ? 0 : (size_t)n;
}
#endif
