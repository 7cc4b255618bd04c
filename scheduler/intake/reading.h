/* reading.h - a large control file, read and parsed beside the loop
 *
 * A million recipients take a second to read, and as many records two: no turn
 * of the loop may.  A thread does it, in memory that is the reading's alone;
 * what comes of it is used in turns.  It reads some recipients at a time
 * (window.h), so that its memory does not grow with their number.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_READING_H
#define ZM_SCHEDULER_READING_H

#include "io/sync.h"
#include "mail/control_file/window.h"
#include "scheduler/intake/intake.h"

enum { READING_LARGE_BYTES = 512 * 1024 };	/* smaller: 10 ms at most */

enum reading_how {
	READING_WINDOWS,	/* its first window; reading_go_on for more */
	READING_WHOLE		/* all of it at once */
};

/* What the thread does after a file, or a window, that is INTAKE_READ, and what
 * the loop does in the end. */
struct reading_steps {
	sync_fn	*also;		/* it may allocate in the reading's arena;
				 * NULL: nothing */
	sync_fn	*done;
	void	*context;	/* of both */
};

struct intake_reading {
	struct intake	*intake;
	struct sync_task task;
	int		 fd;		/* its own */
	enum reading_how how;
	struct control_windows *windows;	/* NULL: READING_WHOLE */
	size_t		 next;		/* window to be read */
	bool		 is_done;
	struct reading_steps steps;
	struct arena	*arena;
	struct str	 text;
	struct control_file control;	/* when it is INTAKE_READ: all of it, or
					 * the window that was read last */
	enum intake_read got;
	struct err	 err;
};

/* Is the control file so large that it is to be read so? */
bool reading_is_large(int control_fd);

/* Begin to read the file; the descriptor stays the caller's.  *out is set
 * before the thread begins. */
void reading_begin(struct intake *intake, int control_fd, enum reading_how how,
    const struct reading_steps *steps, struct intake_reading **out);
/* Are there windows that were not read? */
bool reading_has_more(const struct intake_reading *reading);
/* In the thread: read the next window, and forget the one before it; arena and
 * text are used anew.  got and err say what came of it. */
void reading_next(struct intake_reading *reading);
/* Have more work done in the thread: as also, then done.  READING_WINDOWS: if
 * with_next the next window is read before. */
void reading_go_on(struct intake_reading *reading, bool with_next,
    sync_fn *also, sync_fn *done);
/* After done: free it; to give back so much memory takes long, too, and is done
 * in the thread.  Sets *reading to NULL. */
void reading_free(struct intake_reading **reading);

#endif
