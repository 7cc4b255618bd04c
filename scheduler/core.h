/* core.h - the parts of the scheduler put together
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_CORE_H
#define ZM_SCHEDULER_CORE_H

#include "scheduler/state.h"

/* Set everything up on this loop and spool (both stay the caller's) and
 * begin to read transport/.  Call core_turn at the end of every turn.
 * 0 or -1 with err. */
int core_open(struct scheduler *scheduler, const struct conf *conf,
    struct spool *spool, struct loop *loop, agents_start_fn *start,
    agents_kill_fn *kill, struct err *err);

/* End of a turn (a loop_fn; context is the scheduler): due moments, then
 * reports, then food for the agents, then the timer for what comes next. */
void core_turn(void *context);

/* conf was replaced. */
void core_reload(struct scheduler *scheduler, const struct conf *conf);

/* Everything durable that is done, everything closed. */
/* Standing orders have changed: leave out what is over, tell all threads. */
void core_orders(struct scheduler *scheduler);

void core_close(struct scheduler *scheduler);

#endif
