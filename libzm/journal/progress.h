/* progress.h - how far each process is, in memory that others look at
 *
 * RUN/progress-ROLE is a small file of slots, one for each process of a role
 * that runs a loop.  The process writes the time into its slot when a turn of
 * its loop begins, at least once a second, and how long the longest turn took.
 * Tools read the file: no process has to answer, so one that is stopped, or
 * loops within a turn, is recognised by the age of its last turn.
 *
 * Only the owner of the run directory (root, or the owner of a private
 * instance) creates the files and opens them for writing; the processes inherit
 * the mapping.  A process can write anything about itself and others of its
 * role, so readers do not believe impossible numbers.
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
	PROGRESS_NAP_MS = 1000,		/* a loop sleeps no longer */
	PROGRESS_DOUBT_MS = 2000,	/* after that a reader looks again */
	PROGRESS_STILL_MS = 4000,	/* after that a daemon stands still */
	PROGRESS_WORKER_MS = 120000,	/* the same for its other processes,
					 * which may wait for others */
	PROGRESS_WORK_MS = 120000	/* work waits, and none is done */
};

/* ---- of the process ------------------------------------------------ */

/* Map the file of a role, create it if it is missing, and take a slot.  Needs
 * the right to write to run_dir.  0; -1 with err: nobody will see our
 * progress. */
int progress_open(const char *run_dir, const char *role, struct err *err);
/* A loop begins: take a slot if the file is mapped and this process, which was
 * forked, has none.  Does nothing when all slots are taken. */
void progress_join(void);
/* A turn begins now, real_us (clock_real_us). */
void progress_turn(int64_t real_us);
/* A turn has ended, which took so long without its wait. */
void progress_turn_took(int64_t took_us);
/* Kinds of work that a process has.  The kind that has waited longest, without
 * any of it being done, counts. */
enum progress_kind {
	PROGRESS_INTAKE,	/* messages that wait to be taken up */
	PROGRESS_FEED,		/* mail in line that no limit holds */
	PROGRESS_STORE,		/* messages on their way to the disk */
	PROGRESS_KINDS
};
/* Say at the end of a turn whether work of a kind waits that could be done, and
 * how much was done so far. */
void progress_work(enum progress_kind kind, bool is_waiting, uint64_t done);
/* The longest sleep that is allowed: PROGRESS_NAP_MS; -1: no bound, because
 * nobody looks. */
int progress_nap_ms(void);

enum { PROGRESS_ROLES = 4 };
extern const char *const progress_roles[PROGRESS_ROLES];

/* ---- of a reader ---------------------------------------------------- */

struct progress {
	pid_t	pid;
	char	name[32];	/* "router-worker"; printable */
	int64_t	turn_ms;	/* age of the last turn */
	int64_t	work_ms;	/* for so long work has waited and none was
				 * done; -1: none waits */
	int64_t	longest_us;	/* its longest turn so far */
};

/* Fill out with the processes of a role.  Slots that are damaged, cut off or
 * have impossible numbers are left out.  Returns how many. */
size_t progress_read(const char *run_dir, const char *role,
    struct progress out[PROGRESS_SLOTS]);
/* The same for one process.  false: nothing is known about it. */
bool progress_find(const char *run_dir, const char *role, pid_t pid,
    struct progress *out);
/* The same.  If the process may just be late, look again until that is clear
 * (PROGRESS_STILL_MS). */
bool progress_watch(const char *run_dir, const char *role, pid_t pid,
    struct progress *out);
/* Does the daemon of a role stand still now?  False also when nothing is known
 * about it; then out is unchanged. */
bool progress_stands(const char *run_dir, const char *role,
    struct progress *out);

#endif
