/* scan.h - what lies in transport/, learned beside other work
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_INTAKE_SCAN_H
#define ZM_SCHEDULER_INTAKE_SCAN_H

#include "scheduler/intake/intake.h"

/* The message that a name of transport/ or queue/, hashed or not, is of; 0: a
 * claim, something set aside, or no name of ours. */
ino_t scan_inode(const char *name);

/* Watch transport/ and its hash directories.  0 or -1 with err. */
int scan_watch(struct intake *intake, struct err *err);

/* Begin to read the directories, unless that is under way.  The first names
 * are taken at once, the others by scan_step. */
void scan_begin(struct intake *intake);

/* Some names more of the walk, if there is one; intake.c calls it in each
 * turn while intake->walk is not NULL. */
void scan_step(struct intake *intake);

/* The job is about to go, because its file is read again (intake_is_again). */
void scan_again(struct intake *intake, const struct job *job);

#endif
