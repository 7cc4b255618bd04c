/* beside.h - what the supervisor has beside its daemons; internal to tools/run
 *
 * Who keeps the journal, who answers from it, who sends it on: mail goes on
 * without any of them.  Who answers about names, who asks databases, who
 * fetches policies, and who counts with other machines, is consulted by the
 * daemons, and ends after them.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_BESIDE_H
#define ZM_TOOLS_RUN_BESIDE_H

#include "tools/answers/answers.h"
#include "tools/forward/forward.h"
#include "tools/run/beside/consulted.h"
#include "tools/run/beside/keeper.h"

struct beside {
	struct keeper	keeper;		/* of the journal */
	struct answers	answers;	/* to who may not read it */
	struct log_forward	forward;	/* log-to */
	struct consulted	consulted[CONSULTED_KINDS];
	loop_fn		*ended_fn;	/* after beside_let_go */
	void		*context;
};

/* Before the first daemon, so that all they say is sent on; by what *conf
 * says then. */
void beside_start(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path);
/* What of it is handed over to the program that takes our place. */
void beside_note(const struct beside *beside, struct handover *out);
/* The same as beside_start, by such a program; rows are taken from handover,
 * and what is left of them is closed. */
void beside_take_over(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path,
    struct handover *handover);
/* Are the programs there that this configuration wants?  0; -1: err. */
int beside_try(const struct conf *conf, struct err *err);
/* The configuration is another. */
void beside_reload(struct beside *beside);
void beside_stop(struct beside *beside);
/* The last daemon has ended: so may those that they consulted.  true: there
 * are none; else ended_fn is called when there are none. */
bool beside_let_go(struct beside *beside, loop_fn *ended_fn, void *context);
/* pid was waited for: maybe it was one of theirs. */
void beside_ended(struct beside *beside, pid_t pid);

#endif
