/* room.h - agents that rings have in common
 *
 * A ring has its own limit of agents and shares others: that of all agents,
 * of its channel, of its zone.  When a shared one is reached, a ring may be
 * left without an agent for somebody who waits; then one that becomes idle
 * elsewhere goes, so that there is room.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ROOM_H
#define ZM_SCHEDULER_ROOM_H

#include "scheduler/state.h"

/* The ring may start an agent: all limits allow one more. */
bool room_is_there(const struct scheduler *scheduler,
    const struct ring *ring, int64_t now_ms);
/* Which limit keeps the ring from one agent more, with its number and what
 * of it is used; ROOM_FREE: none does. */
enum room_limit { ROOM_FREE, ROOM_ZONE, ROOM_RING, ROOM_CHANNEL, ROOM_TOTAL,
	ROOM_START };	/* the last one did not come to work: not yet */
enum room_limit room_bound(const struct scheduler *scheduler,
    const struct ring *ring, int64_t now_ms, unsigned *out_limit,
    unsigned *out_used);
/* A destination of the ring that nobody serves waits, and only limits that
 * it shares keep it from an agent. */
bool room_is_needed(const struct scheduler *scheduler,
    const struct ring *ring, int64_t now_ms);
/* One that idles elsewhere under the same limits goes.  False: there is
 * none, or others wait for it. */
bool room_make(struct scheduler *scheduler, const struct ring *needy);
/* A needy ring waits for one of this ring's agents to become idle. */
bool room_is_wanted(const struct scheduler *scheduler,
    const struct ring *ring);

#endif
