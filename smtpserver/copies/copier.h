/* copier.h - the helper that has a message copied to other machines
 *
 * A session asks when its message is complete, while it becomes durable
 * (`cluster ... postgres`):
 *
 * 	question	copy ID AREA FILE	FILE: the draft, below public/
 * 	answer		ok  |  away WORDS
 * 	question	drop ID			nobody waits for the answer
 *
 * It opens the draft (row S0 of doc/INTERNALS: complete, perhaps not durable)
 * and hands the descriptor to the process share, which has the database
 * (doc/protocol/share.md, section 4).  What was copied and is not accepted in
 * the end is dropped.  A question whose share went away is asked once more, of
 * the one that follows.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_COPIES_COPIER_H
#define ZM_SMTPSERVER_COPIES_COPIER_H

#include "daemon/skeleton.h"

enum { COPIER_FOR_MS = 12000 };	/* a session waits at most: share gives up
				 * after 5 seconds, and is asked twice */

/* The kind of its questions: its row of helper_kinds. */
extern const char copier_kind[];

/* That row's. */
void copier_serve(struct process *process, int socket);

#endif
