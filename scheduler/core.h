/* core.h - the parts of the scheduler put together
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_CORE_H
#define ZM_SCHEDULER_CORE_H

#include "scheduler/agents/agents.h"
#include "scheduler/control/sampler.h"
#include "scheduler/verdicts/verdicts.h"
#include "scheduler/report/reporter.h"

struct control;			/* control.c's own */
struct mailq_process;		/* process.c's own */

/* A message goes intake -> queue -> agents -> outcome -> reporter -> group.  A
 * part points to those that it calls; none calls one named after it in
 * folder.mk. */
struct scheduler {
	struct queue	 queue;
	struct group	 group;
	struct intake	 intake;
	struct outcome	 outcome;
	struct reporter	 reporter;
	struct agents	 agents;
	struct verdicts	*verdicts;		/* NULL: a test without it */
	struct warming	*warming;
	struct control	*control;
	struct sampler	 sampler;	/* zeroed: a test without it */
	struct mailq_process *mailq;	/* NULL: a test without it */
	struct timer	 plan_timer, shape_timer, minute;
	struct timer	 taken_timer;	/* others have taken over what is at
					 * agents */
	int64_t		 looked_ms;	/* last time: is all fed? */
	bool		 is_closed;
};

/* A turn of the loop begins nothing new after this time, because who waits for
 * our answer waits for a turn, and on a busy machine our processor time lasts
 * several times as long. */
enum { CORE_TURN_US = 8000 };

/* Set everything up on this loop and spool (both stay the caller's).  Mail that
 * comes is delivered; what lies in transport/ is read after core_begin.  Call
 * core_turn at the end of every turn.  0 or -1 with err. */
int core_open(struct scheduler *scheduler, const struct conf *conf,
    struct spool *spool, struct loop *loop, agents_start_fn *start,
    agents_kill_fn *kill, struct err *err);

/* The router has looked at the names of routed messages (doc/INTERNALS
 * section 3): begin to read them. */
void core_begin(struct scheduler *scheduler);

/* End of a turn (a loop_fn; context is the scheduler): due moments, then
 * reports, then food for the agents, then the timer for what comes next. */
void core_turn(void *context);

/* conf was replaced. */
void core_reload(struct scheduler *scheduler, const struct conf *conf);

/* Make everything that was done durable, and close. */
void core_close(struct scheduler *scheduler);

#endif
