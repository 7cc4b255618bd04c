/* keeper.h - keep the journal in its bounds, and the cluster's copies to what
 * is here; internal to tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_KEEPER_H
#define ZM_TOOLS_RUN_KEEPER_H

#include "conf/conf.h"
#include "io/loop.h"

enum {
	KEEP_EVERY_MS = 60000,		/* between two looks at the journal */
	KEEPER_NICE = 10,
	KEEPER_SWEEP_ROUNDS = 60,	/* between two comparisons with the
					 * cluster's copies */
	KEEPER_SWEEP_FIRST = 15		/* rounds after a start */
};

struct keeper {
	struct loop		*loop;
	struct conf *const	*conf;	/* points to the one in force */
	struct timer		 timer, midnight;
	unsigned		 rounds;	/* since the start, or since
						 * the last comparison */
	pid_t			 pid;	/* of the process at work; 0: none */
};

/* Look at it every KEEP_EVERY_MS, with *conf as it is then. */
void keeper_start(struct keeper *keeper, struct loop *loop,
    struct conf *const *conf);
/* The program before us in this process left one at work; 0: none. */
void keeper_adopt(struct keeper *keeper, pid_t pid);
void keeper_stop(struct keeper *keeper);
/* pid was waited for, and may be the one at work. */
void keeper_ended(struct keeper *keeper, pid_t pid);

#endif
