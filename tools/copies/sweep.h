/* sweep.h - copies whose messages are no longer in this spool
 *
 * The scheduler tells the cluster's database of each end.  What it could not
 * tell (it was killed, the database was away for long), and what a person
 * removed from postman/ or freezer/, or trash/ lost after its day, is found by
 * comparing.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_COPIES_SWEEP_H
#define ZM_TOOLS_COPIES_SWEEP_H

#include "conf/conf.h"

enum { SWEEP_BETWEEN_S = 10 };	/* two looks: mail that moves may be missed by
				 * one */

struct copies_swept {
	uint64_t	rows;		/* of this node, 10 minutes old */
	uint64_t	gone;		/* of them, whose message is not here */
	uint64_t	older;		/* of these, accepted before this spool
					 * was made: they stay */
};

/* Remove the copies of this node whose message two looks did not find.  What is
 * older than this spool is the mail of a machine that had this name, and
 * perhaps the only copy: it stays for another node's takeover.
 * is_dry: only count.  0; -1: err. */
int copies_sweep(const struct conf *conf, bool is_dry,
    struct copies_swept *out, struct err *err);

#endif
