/* keeper.h - the journal is kept in its bounds; internal to tools/run
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_KEEPER_H
#define ZM_TOOLS_RUN_KEEPER_H

#include "conf/conf.h"
#include "io/loop.h"

enum {
	KEEP_EVERY_MS = 60000,		/* the journal is looked at */
	KEEPER_NICE = 10
};

struct keeper {
	struct loop		*loop;
	struct conf *const	*conf;	/* where the one in force is */
	struct timer		 timer, midnight;
	pid_t			 pid;	/* of who is at it; 0: nobody */
};

/* Look at it now and then, by what *conf says then. */
void keeper_start(struct keeper *keeper, struct loop *loop,
    struct conf *const *conf);
/* There is one at work, of the program before us in this process; 0: none. */
void keeper_adopt(struct keeper *keeper, pid_t pid);
void keeper_stop(struct keeper *keeper);
/* pid was waited for: maybe it was the one at work. */
void keeper_ended(struct keeper *keeper, pid_t pid);

#endif
