/* beside.h - what the supervisor has beside its daemons; internal to tools/run
 *
 * Who keeps the journal, who answers from it, who sends it on: mail goes on
 * without any of them.  Who asks databases is asked by the daemons, and ends
 * after them.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_BESIDE_H
#define ZM_TOOLS_RUN_BESIDE_H

#include "tools/answers/answers.h"
#include "tools/forward/forward.h"
#include "tools/run/databases.h"
#include "tools/run/keeper.h"

struct beside {
	struct keeper	keeper;		/* of the journal */
	struct answers	answers;	/* to who may not read it */
	struct forward	forward;	/* log-to */
	struct databases databases;
};

/* Before the first daemon, so that all they say is sent on; by what *conf
 * says then. */
void beside_start(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path);
/* The configuration is another. */
void beside_reload(struct beside *beside);
void beside_stop(struct beside *beside);
/* pid was waited for: maybe it was one of theirs. */
void beside_ended(struct beside *beside, pid_t pid);

#endif
