/* intake.h - control files become jobs
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_INTAKE_H
#define ZM_SCHEDULER_INTAKE_H

#include "scheduler/state.h"

enum {
	INTAKE_RESCAN_MS = 60000,
	INTAKE_BUSY_MS = 1000,		/* between looks at a locked file */
	INTAKE_TURN_FILES = 512,	/* read in one turn of the loop, */
	INTAKE_TURN_MS = 5		/* as far as they come in that time */
};

/* Watch transport/ and its hash directories, then list what is there; the
 * files are read in the turns that follow.  0 or -1 with err. */
int intake_open(struct scheduler *scheduler, struct err *err);
void intake_close(struct scheduler *scheduler);

/* Look at transport/<inode> soon. is_old: somebody may be at work on it. */
void intake_add(struct scheduler *scheduler, ino_t inode, bool is_old);

/* Read the directories again (also once a minute by itself): nothing that
 * lies there is ever missed for longer. */
void intake_rescan(struct scheduler *scheduler);

/* In the turns to come read what was added. */
void intake_soon(struct scheduler *scheduler);

/* Files that wait to be read; while the start's walk is not over one more
 * than are known. */
size_t intake_unread(const struct scheduler *scheduler);

/* The end of a turn, after agents were fed: close what was opened for
 * nothing. */
void intake_turn_end(struct scheduler *scheduler);

/* The control file has no body: wait a rescan, then row F1 or nothing.
 * Takes the job out and frees it. */
void intake_orphan(struct scheduler *scheduler, struct job *job);

/* Forget the job (nothing of it is in flight), free it. */
void intake_drop(struct scheduler *scheduler, struct job *job);

/* Read a file at once that is not a job yet. */
void intake_now(struct scheduler *scheduler, ino_t inode);

/* The same, at once: what orders changed in the file counts from now on. */
void intake_again(struct scheduler *scheduler, struct job *job);

/* Forget the job and read its file anew. */
void intake_reload(struct scheduler *scheduler, struct job *job);

/* The file is not what the router wrote: shelve both (row D4), forget. */
void intake_bad(struct scheduler *scheduler, struct job *job,
    const char *reason);

#endif
