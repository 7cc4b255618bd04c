/* a_share.h - a process share of the test's own, and a scheduler that asks it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_UNIT_SCHEDULER_A_SHARE_H
#define ZM_TESTS_UNIT_SCHEDULER_A_SHARE_H

#include "io/ipc.h"
#include "scheduler/sharing/sharing.h"
#include "tests/unit/scheduler/yard.h"

struct a_share {
	int		 listener, peer;
	struct ipc_inbox inbox;
	struct str	 heard;		/* "done ID|kept ID|": but not lease */
	struct str	 taken;		/* "ID NODE\n" ... */
	unsigned	 epoch;		/* 0: there is no lease */
	unsigned	 lists;		/* so often it was asked for it */
	unsigned	 away;		/* so many ends get no confirmation */
	unsigned	 listless;	/* so often there is no list now */
	struct str	 body, control;	/* of the last kept */
	struct str	 gone;		/* "ID ID ...": another node has them */
	const char	*offered;	/* the answer to an offer; NULL: all
					 * of it was */
};

extern struct a_share share;
extern struct yard yard;

#define CLUSTER "cluster c { node a b; self a; postgres dbname=none; copies "

/* A scheduler with copies, of that word after "lease"; then a share with a
 * lease of that epoch, 0: none. */
void copies_begin(const char *lease);
void share_open(unsigned epoch);
void copies_end(void);

/* What has come is answered. */
void share_turn(void);
/* "VERB ID|", as it is heard; good until the next call. */
char *told(const char *verb, const char *id);

/* Conditions: share.heard has arg; so many (unsigned) were delivered; anything
 * may be; the inode is in trash/; so many (unsigned) lists were asked for. */
yard_condition share_heard, is_delivered, may_deliver, is_in_trash, is_listed;

#endif
