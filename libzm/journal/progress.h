/* progress.h - how far each process is, in memory that others look at
 *
 * RUN/progress-ROLE is a small file of slots, one for each process of a role
 * that runs a loop.  The process writes into its slot when a turn of its loop
 * begins, and at least each second, and how long its longest one was.  Tools
 * read the file: no process has to answer, so one that is stopped, or loops
 * within a turn, is recognised by the age of its last turn.
 *
 * Only the owner of the run directory (root, or that of a private instance)
 * makes and opens the files for writing; the processes inherit the mapping.
 * A process can write anything about itself and others of its role, so
 * readers believe no impossible number.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_JOURNAL_PROGRESS_H
#define ZM_JOURNAL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum {
	PROGRESS_SLOTS = 64,
	PROGRESS_NAP_MS = 1000,		/* a loop wakes at least so often */
	PROGRESS_DOUBT_MS = 2000,	/* a reader looks again */
	PROGRESS_STILL_MS = 4000,	/* a daemon that stands still */
	PROGRESS_WORKER_MS = 120000,	/* of its other processes: they may
					 * wait for others */
	PROGRESS_WORK_MS = 120000	/* work waits, and none is done */
};

/* ---- of the process ------------------------------------------------ */

/* Map the file of a role, made if it must be, and take a slot.  Called with
 * the rights to write to run_dir.  0, or -1: nobody will see how far we are. */
int progress_open(const char *run_dir, const char *role, struct err *err);
/* A loop begins: take a slot when the file is mapped and this process, which
 * was forked, has none.  Nothing when there is no room. */
void progress_join(void);
/* A turn begins. */
void progress_turn(int64_t real_us);
/* One has ended; it was busy for so long, its wait left out. */
void progress_turn_took(int64_t took_us);
/* What a process has to do, a kind beside the other: the oldest that none was
 * done of counts. */
enum progress_kind {
	PROGRESS_INTAKE,	/* messages that wait to be taken up */
	PROGRESS_FEED,		/* mail in line that no limit holds */
	PROGRESS_STORE,		/* messages on their way to the disk */
	PROGRESS_KINDS
};
/* At the end of a turn: does work of a kind wait that could be done, and how
 * much was done so far? */
void progress_work(enum progress_kind kind, bool is_waiting, uint64_t done);
/* The longest sleep: PROGRESS_NAP_MS, or -1: nobody looks. */
int progress_nap_ms(void);

enum { PROGRESS_ROLES = 4 };
extern const char *const progress_roles[PROGRESS_ROLES];

/* ---- of who looks -------------------------------------------------- */

struct progress {
	pid_t	pid;
	char	name[32];	/* "router-worker"; printable */
	int64_t	turn_ms;	/* age of the last turn */
	int64_t	work_ms;	/* work waits, and none was done for so long;
				 * -1: none waits */
	int64_t	longest_us;	/* its longest turn so far */
};

/* Fill out with the processes of a role.  A file that is none, is cut off or
 * says what cannot be has fewer.  Returns how many. */
size_t progress_read(const char *run_dir, const char *role,
    struct progress out[PROGRESS_SLOTS]);
/* Of one process: false when nothing is known of it. */
bool progress_find(const char *run_dir, const char *role, pid_t pid,
    struct progress *out);
/* The same.  When it may just be
 * late, look again until that is plain (PROGRESS_STILL_MS). */
bool progress_watch(const char *run_dir, const char *role, pid_t pid,
    struct progress *out);
/* Does the daemon of a role stand still, now?  False also when nothing is
 * known of it, and out is as it was. */
bool progress_stands(const char *run_dir, const char *role,
    struct progress *out);

#endif
