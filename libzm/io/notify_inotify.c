/* notify_inotify.c - hear of new files from the Linux kernel
 *
 * In     directories
 * Out    a call for each name; name NULL after an overflow
 * Holds  one inotify descriptor an instance (128 a user are usual)
 * Trusts nothing for completeness: see notify.h
 *
 * SPDX-License-Identifier: ISC
 */
#ifdef HAVE_SYS_INOTIFY_H

#include <sys/inotify.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/notify_scan.h"

#include "base/banned.h"

enum { INOTIFY_BUFFER_BYTES = 65536 };

struct notify_dir {
	int		wd;
	unsigned	dir;
};

struct notify {
	struct loop		*loop;
	notify_fn		*fn;
	void			*context;
	int			 fd;	/* -1: there is no inotify */
	struct watch		*watch;
	int			 gather_ms;
	struct timer		 gather_timer;
	struct notify_dir	*dirs;	/* wd rises: sorted */
	size_t			 count;
	struct notify_scan	*scan;	/* for what inotify refused */
};

static void
inotify_overflow(struct notify *notify)
{
	for (size_t i = 0; i < notify->count; i++)
		notify->fn(notify->context, notify->dirs[i].dir, NULL);
}

static const struct notify_dir *
notify_dir(const struct notify *notify, int wd)
{
	size_t low = 0, high = notify->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (notify->dirs[middle].wd == wd)
			return &notify->dirs[middle];
		if (notify->dirs[middle].wd < wd)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void
inotify_deliver(struct notify *notify, const struct inotify_event *event)
{
	const struct notify_dir *dir;

	if (event->mask & IN_Q_OVERFLOW) {
		inotify_overflow(notify);
		return;
	}
	dir = notify_dir(notify, event->wd);
	if (dir == NULL || event->len == 0 || (event->mask & IN_ISDIR))
		return;
	notify->fn(notify->context, dir->dir, event->name);
}

/* One read: the next one is for the rest.  False: there was nothing. */
static bool
inotify_read(struct notify *notify)
{
	static char buffer[INOTIFY_BUFFER_BYTES]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t got = read(notify->fd, buffer, sizeof(buffer));

	if (got < 0 && errno != EAGAIN && errno != EINTR)
		inotify_overflow(notify);
	for (ssize_t at = 0; at < got;) {
		const struct inotify_event *event = (const void *)(buffer + at);

		inotify_deliver(notify, event);
		at += (ssize_t)(sizeof(*event) + event->len);
	}
	return got > 0;
}

static void
inotify_gathered(void *context)
{
	struct notify *notify = context;

	if (inotify_read(notify))
		timer_set(notify->loop, &notify->gather_timer,
		    clock_steady_ms() + notify->gather_ms, inotify_gathered,
		    notify);
	else
		watch_set(notify->watch, LOOP_READ);
}

/* While names are gathered nobody waits for the descriptor: the timer reads
 * it. */
static void
inotify_ready(void *context, unsigned ready)
{
	struct notify *notify = context;

	if (!inotify_read(notify) || notify->gather_ms == 0)
		return;
	watch_set(notify->watch, 0);
	timer_set(notify->loop, &notify->gather_timer, clock_steady_ms() +
	    notify->gather_ms, inotify_gathered, notify);
}

struct notify *
notify_new(struct loop *loop, notify_fn *fn, void *context)
{
	struct notify *notify = mem_alloc(1, sizeof(*notify));

	notify->loop = loop;
	notify->fn = fn;
	notify->context = context;
	notify->scan = notify_scan_new(loop, fn, context);
	notify->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (notify->fd >= 0)
		notify->watch = loop_watch(loop, notify->fd, LOOP_READ,
		    inotify_ready, notify);
	return notify;
}

void
notify_gather(struct notify *notify, int span_ms)
{
	notify->gather_ms = span_ms;
}

void
notify_free(struct notify **pnotify)
{
	struct notify *notify = *pnotify;

	if (notify == NULL)
		return;
	timer_clear(&notify->gather_timer);
	if (notify->watch != NULL)
		watch_free(&notify->watch);
	if (notify->fd >= 0)
		close(notify->fd);
	notify_scan_free(&notify->scan);
	mem_free(&notify->dirs);
	mem_free(pnotify);
}

/* 0, or -1 with errno. */
static int
inotify_add(struct notify *notify, const char *path, unsigned dir,
    enum notify_flags flags)
{
	uint32_t mask = IN_ONLYDIR | IN_EXCL_UNLINK;
	int wd;

	if (notify->fd < 0)
		return -1;
	if (flags & NOTIFY_MOVED)
		mask |= IN_MOVED_TO;
	if (flags & NOTIFY_WRITTEN)
		mask |= IN_CLOSE_WRITE;
	wd = inotify_add_watch(notify->fd, path, mask);
	if (wd < 0)
		return -1;
	if (notify_dir(notify, wd) != NULL)
		return 0;	/* the same directory again */
	notify->dirs = mem_grow(notify->dirs, notify->count + 1,
	    sizeof(*notify->dirs));
	notify->dirs[notify->count++] = (struct notify_dir){ wd, dir };
	return 0;
}

int
notify_add_fd(struct notify *notify, int dir_fd, unsigned dir,
    enum notify_flags flags, struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir_fd);
	if (inotify_add(notify, path, dir, flags) == 0)
		return 0;
	return notify_scan_add(notify->scan, dir_fd, false, dir, flags, err);
}

int
notify_add_path(struct notify *notify, const char *path, unsigned dir,
    enum notify_flags flags, struct err *err)
{
	if (inotify_add(notify, path, dir, flags) == 0)
		return 0;
	return notify_scan_add_path(notify->scan, path, dir, flags, err);
}

#endif
