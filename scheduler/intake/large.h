/* large.h - one large control file becomes a job over many turns
 *
 * Read and parsed by a thread (reading.h), built and put into the plan a piece
 * a turn, sorted by the thread in between.  Until its job is in the table the
 * message is not known here: who asks for it is told that it is busy.  From
 * then on what is in the plan may be tried, and the job counts as in flight, so
 * that nobody rereads or drops it.  Nothing is written: after a crash the file
 * is read again.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_LARGE_H
#define ZM_SCHEDULER_LARGE_H

#include "scheduler/intake/reading.h"

enum { LARGE_PIECE = 512 };	/* recipients, or vertices, between two looks
				 * at the clock */

/* Take the item and its open files.  False: another one is in hand. */
bool large_begin(struct intake *intake, const struct intake_item *item,
    const struct item_files *files);
/* Whether it is in hand, and no job yet. */
bool large_has(const struct intake *intake, ino_t inode);
/* The scheduler ends: wait for the thread, forget what is in hand. */
void large_end(struct intake *intake);

#endif
