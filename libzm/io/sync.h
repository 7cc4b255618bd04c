/* sync.h - what waits for a disk, in threads of its own
 *
 * fsync, syncfs, the last close of a file and a storm of unlinks wait for
 * the disk: 0.1 ms on an idle one, a second beside others who sync to it.  A
 * loop that waits serves nobody.  So it hands such work to a few threads and
 * learns of its end in a later turn; independent tasks run side by side, and
 * more is collected meanwhile.
 *
 * Order: tasks begin in the order in which they were added, SYNCER_THREADS
 * at a time.  What must come after another task is added by that one's
 * done; so "unlink, then sync the directory, then unlink the other file"
 * is three tasks, each added when the one before it has ended.
 *
 * Memory: a task lives in its owner's struct and nothing is allocated here,
 * so whoever bounds its tasks bounds all of it.  Who has no more room for
 * tasks waits for one to end.
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
	/* In a thread: system calls on what the context owns, and what they
	 * returned noted there.  Nothing else: no memory of base/mem, no
	 * event, no struct err, no buffer that is shared. */
	sync_fn		*work;
	/* In the loop, after it; the task is the owner's again and may be
	 * added or freed. */
	sync_fn		*done;
	void		*context;
	struct sync_task *next;		/* sync.c's own */
};

/* The threads of one process, and the loop that hears of their work.  A
 * thread is made when there is work for it and none is idle.  To be made
 * after the last fork. */
struct syncer;

/* Never NULL. */
struct syncer *syncer_new(struct loop *loop);

/* Waits for all tasks (syncer_settle), ends the threads.  Sets *syncer to
 * NULL; harmless when it is.  The loop must still be there. */
void syncer_free(struct syncer **syncer);

/* Hand the task over; from now until done is called nobody else touches it
 * or what its work touches.  Where no thread can be made its work is done
 * before this returns; done is called by the loop all the same. */
void syncer_add(struct syncer *syncer, struct sync_task *task);

/* For tests: tasks that were added and whose done was not called yet. */
size_t syncer_count(const struct syncer *syncer);

/* Wait, outside the loop, until every task has ended and its done was
 * called; those that a done adds as well.  For the end of a process. */
void syncer_settle(struct syncer *syncer);

#endif
