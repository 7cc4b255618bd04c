/* sync.h - work that waits for a disk, in threads of its own
 *
 * fsync, syncfs, the last close of a file and many unlinks wait for the disk:
 * 0.1 ms if it is idle, a second if others sync to it.  A loop that waits
 * serves nobody.  So it hands such work to a few threads and is told of its end
 * in a later turn; independent tasks run side by side, and more are collected
 * meanwhile.
 *
 * Order: tasks begin in the order in which they were added, SYNCER_THREADS
 * at a time.  A task that must follow another is added by the other's done; so
 * "unlink, then sync the directory, then unlink the other file" is three tasks,
 * each added when the one before it has ended.
 *
 * Memory: a task lives in its owner's struct and nothing is allocated here,
 * so an owner that bounds its tasks bounds all memory.  One that has no room
 * for another task waits until one has ended.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_SYNC_H
#define ZM_IO_SYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "io/loop.h"

enum { SYNCER_THREADS = 4 };

typedef void sync_fn(void *context);

struct sync_task {
	/* Called in a thread: makes system calls on what the context owns, and
	 * stores their results there.  What it allocates (base/mem, an arena)
	 * and a struct err are the context's alone; no event, no shared
	 * buffer. */
	sync_fn		*work;
	/* Called after it in the loop; the owner may add or free the task
	 * again. */
	sync_fn		*done;
	void		*context;
	struct sync_task *next;		/* sync.c's own */
};

/* The threads of one process, and the loop that is told of their work.  A
 * thread is made when there is work and none is idle.  A syncer must be made
 * after the last fork. */
struct syncer;

/* Never NULL. */
struct syncer *syncer_new(struct loop *loop);

/* Wait for all tasks (syncer_settle) and end the threads.  The loop must still
 * exist.  NULL is harmless; sets *syncer to NULL. */
void syncer_free(struct syncer **syncer);

/* Hand the task over; until done is called, nobody else may touch it or what
 * its work touches.  If no thread can be made, its work is done before this
 * returns; done is still called by the loop. */
void syncer_add(struct syncer *syncer, struct sync_task *task);

/* For tests: how many tasks were added whose done was not called yet. */
size_t syncer_count(const struct syncer *syncer);

/* Wait, outside the loop, until every task, also one added by a done, has ended
 * and its done was called.  For the end of a process. */
void syncer_settle(struct syncer *syncer);

#endif
