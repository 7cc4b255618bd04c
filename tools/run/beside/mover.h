/* mover.h - mail that other nodes of the cluster give to this one comes here;
 * internal to tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_MOVER_H
#define ZM_TOOLS_RUN_MOVER_H

#include "conf/conf.h"
#include "io/ipc_link.h"
#include "io/loop.h"

enum {
	MOVER_EVERY_MS = 10000		/* between two looks */
};

struct mover {
	struct loop		*loop;
	struct conf *const	*conf;	/* points to the one in force */
	struct timer		 timer;
	struct ipc_link		*link;	/* a question is out; or NULL */
	unsigned		 waits;	/* questions of it without an answer */
	pid_t			 pid;	/* of the process at work; 0: none */
};

/* Ask share every MOVER_EVERY_MS, where *conf keeps copies, whether something
 * is offered, and, where *conf says so, whether a node is lost; and have a
 * process take it. */
void mover_start(struct mover *mover, struct loop *loop,
    struct conf *const *conf);
/* The program before us in this process left one at work; 0: none. */
void mover_adopt(struct mover *mover, pid_t pid);
void mover_stop(struct mover *mover);
/* pid was waited for, and may be the one at work. */
void mover_ended(struct mover *mover, pid_t pid);

#endif
