/* beside.h - the supervisor's processes beside its daemons; internal to
 * tools/run
 *
 * Three keep the journal, answer from it, and forward it: mail flows without
 * any of them.  Others answer about names, ask databases, fetch policies, and
 * count with other machines: daemons consult them, so they end after those.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_RUN_BESIDE_H
#define ZM_TOOLS_RUN_BESIDE_H

#include "tools/answers/answers.h"
#include "tools/forward/forward.h"
#include "tools/run/beside/consulted.h"
#include "tools/run/beside/keeper.h"
#include "tools/run/beside/mover.h"
#include "tools/run/beside/taker.h"

struct beside {
	struct keeper	keeper;		/* of the journal */
	struct mover	mover;		/* of what other nodes give us */
	struct answers	answers;	/* for users who may not read it */
	struct taker	taker;		/* of other nodes' configurations */
	struct log_forward	forward;	/* log-to */
	struct consulted	consulted[CONSULTED_KINDS];
	loop_fn		*ended_fn;	/* after beside_let_go */
	void		*context;
};

/* Start them; to be called before the first daemon starts, so that all its
 * events are forwarded.  *conf is used as it is at that time. */
void beside_start(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path);
/* Note what is handed over to the program that replaces us. */
void beside_note(const struct beside *beside, struct handover *out);
/* As beside_start, in such a program; takes rows from handover, and closes
 * those that are left. */
void beside_take_over(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path,
    struct handover *handover);
/* Check that the programs that this configuration needs exist.  0; -1: err. */
int beside_try(const struct conf *conf, struct err *err);
/* The configuration has changed. */
void beside_reload(struct beside *beside);
void beside_stop(struct beside *beside);
/* The last daemon has ended: end the processes that daemons consulted.  true:
 * there are none; otherwise ended_fn is called when all have ended. */
bool beside_let_go(struct beside *beside, loop_fn *ended_fn, void *context);
/* pid was waited for, and may be one of them. */
void beside_ended(struct beside *beside, pid_t pid);

#endif
