/* notify_scan.c - has a directory changed?  Asked once a second
 *
 * In     open directories
 * Out    calls with name NULL: read it again
 * Holds  the descriptors it was told to own
 * Trusts mtime only when it is older than the last look: two changes in
 *        one tick of the file system's clock look like one
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/notify_scan.h"

#include "base/banned.h"

struct scan_dir {
	int			fd;
	bool			is_owned;
	unsigned		dir;
	enum notify_flags	flags;
	struct timespec		mtime;	/* at the last look */
	time_t			looked_at;
};

struct notify_scan {
	struct loop	*loop;
	notify_fn	*fn;
	void		*context;
	struct timer	 timer;
	struct scan_dir	*dirs;
	size_t		 count;
};

struct notify_scan *
notify_scan_new(struct loop *loop, notify_fn *fn, void *context)
{
	struct notify_scan *scan = mem_alloc(1, sizeof(*scan));

	scan->loop = loop;
	scan->fn = fn;
	scan->context = context;
	return scan;
}

void
notify_scan_free(struct notify_scan **pscan)
{
	struct notify_scan *scan = *pscan;

	if (scan == NULL)
		return;
	timer_clear(&scan->timer);
	for (size_t i = 0; i < scan->count; i++)
		if (scan->dirs[i].is_owned)
			close(scan->dirs[i].fd);
	mem_free(&scan->dirs);
	mem_free(pscan);
}

/* Files are written without a sign in the directory's mtime, so a directory
 * watched for that counts as changed always.  File times come from the
 * machine's clock, not from a test's. */
static bool
dir_changed(struct scan_dir *dir)
{
	struct stat st;
	bool is_changed;

	if (dir->flags & NOTIFY_WRITTEN)
		return true;
	if (fstat(dir->fd, &st) != 0)
		return false;
	is_changed = st.st_mtim.tv_sec != dir->mtime.tv_sec ||
	    st.st_mtim.tv_nsec != dir->mtime.tv_nsec ||
	    st.st_mtim.tv_sec >= dir->looked_at - 1;
	dir->mtime = st.st_mtim;
	/* as the file system stamps, which no test clock moves */
	dir->looked_at = time(NULL);
	return is_changed;
}

static void
scan_look(void *context)
{
	struct notify_scan *scan = context;

	timer_set(scan->loop, &scan->timer, clock_steady_ms() + NOTIFY_SCAN_MS,
	    scan_look, scan);
	for (size_t i = 0; i < scan->count; i++)
		if (dir_changed(&scan->dirs[i]))
			scan->fn(scan->context, scan->dirs[i].dir, NULL);
}

int
notify_scan_add(struct notify_scan *scan, int dir_fd, bool is_owned,
    unsigned dir, enum notify_flags flags, struct err *err)
{
	struct stat st;

	if (fstat(dir_fd, &st) != 0)
		return err_sys(err, "fstat of a directory to watch");
	if (!S_ISDIR(st.st_mode))
		return err_set(err, "cannot watch what is no directory");
	scan->dirs = mem_grow(scan->dirs, scan->count + 1,
	    sizeof(*scan->dirs));
	scan->dirs[scan->count++] = (struct scan_dir){ .fd = dir_fd,
	    .is_owned = is_owned, .dir = dir, .flags = flags,
	    .mtime = st.st_mtim,
	    .looked_at = time(NULL) };	/* as directory times are */
	if (scan->timer.at_ms == 0)
		timer_set(scan->loop, &scan->timer,
		    clock_steady_ms() + NOTIFY_SCAN_MS, scan_look, scan);
	return 0;
}

int
notify_scan_add_path(struct notify_scan *scan, const char *path, unsigned dir,
    enum notify_flags flags, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "open %s", path);
	if (notify_scan_add(scan, fd, true, dir, flags, err) == 0)
		return 0;
	close(fd);
	return -1;
}

#ifndef HAVE_SYS_INOTIFY_H

/* Without inotify this is all there is. */

struct notify {
	struct notify_scan	*scan;
};

struct notify *
notify_new(struct loop *loop, notify_fn *fn, void *context)
{
	struct notify *notify = mem_alloc(1, sizeof(*notify));

	notify->scan = notify_scan_new(loop, fn, context);
	return notify;
}

void
notify_gather(struct notify *notify, int span_ms)
{
	(void)notify;		/* it looks once a second */
	(void)span_ms;
}

void
notify_free(struct notify **notify)
{
	if (*notify == NULL)
		return;
	notify_scan_free(&(*notify)->scan);
	mem_free(notify);
}

int
notify_add_fd(struct notify *notify, int dir_fd, unsigned dir,
    enum notify_flags flags, struct err *err)
{
	return notify_scan_add(notify->scan, dir_fd, false, dir, flags, err);
}

int
notify_add_path(struct notify *notify, const char *path, unsigned dir,
    enum notify_flags flags, struct err *err)
{
	return notify_scan_add_path(notify->scan, path, dir, flags, err);
}

#endif
