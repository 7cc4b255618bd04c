/* warming.h - what is asked about warm-ups that all nodes share
 *
 * Between allowance.h and the process share: questions go out at the end of a
 * turn, over a connection of their own, and nobody waits for the answers.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SHARING_WARMING_H
#define ZM_SCHEDULER_SHARING_WARMING_H

#include "scheduler/plan/queue.h"

enum { WARMING_TICK_MS = 1000 };	/* connect again, give back */

struct warming;

/* queue is borrowed. */
struct warming *warming_new(struct queue *queue);
/* What is not used is given back, if share takes that at once.  NULL is
 * harmless. */
void warming_free(struct warming **warming);
/* The end of a turn: ask what is to be asked. */
void warming_turn(struct warming *warming);

#endif
