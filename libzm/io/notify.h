/* notify.h - be told of new files in directories
 *
 * These are only hints: events may be lost, doubled, or late, so callers also
 * rescan at the start and once a minute.
 * Linux uses inotify (notify_inotify.c).  Elsewhere, and for directories that
 * inotify refuses (its limits are per user), notify_scan.c looks at the
 * directory's mtime once a second.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_NOTIFY_H
#define ZM_IO_NOTIFY_H

#include "base/err.h"
#include "io/loop.h"

enum notify_flags {
	NOTIFY_MOVED = 1,	/* a file was renamed into the directory */
	NOTIFY_WRITTEN = 2	/* a file in it, open for writing, was closed */
};

struct notify;

/* dir is the number given to notify_add, name a file name in that directory,
 * valid during the call.  name NULL: events were lost or are not available;
 * read the directory again.  The function must not free the struct notify. */
typedef void notify_fn(void *context, unsigned dir, const char *name);

/* Never fails: without inotify every directory is polled. */
struct notify *notify_new(struct loop *loop, notify_fn *fn, void *context);
void notify_free(struct notify **notify);

/* After a name was told, what comes within span_ms is told together, at their
 * end; 0: at once, as in the beginning.  So a caller that is busy is woken
 * once for many names, and not by the renames that its own work makes. */
void notify_gather(struct notify *notify, int span_ms);

/* Watch one directory, by an open descriptor (which must stay open) or by
 * path.  fn is called with dir.  One instance may watch thousands.
 * 0; -1 when it is not a directory or cannot be opened. */
int notify_add_fd(struct notify *notify, int dir_fd, unsigned dir,
    enum notify_flags flags, struct err *err);
int notify_add_path(struct notify *notify, const char *path, unsigned dir,
    enum notify_flags flags, struct err *err);

#endif
