/* capacity.h - agents that rings have in common
 *
 * A ring has its own limit of agents and shares others: that of all agents,
 * of its channel, of its zone.  When a shared one is reached, a ring may be
 * left without an agent for somebody who waits; then one that becomes idle
 * elsewhere goes, so that there is capacity.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_CAPACITY_H
#define ZM_SCHEDULER_CAPACITY_H

#include "scheduler/agents/agents.h"

/* Descriptors of agents (a socket each) and of open jobs (two files each,
 * however many agents have a part of it). */
unsigned capacity_files(const struct agents *agents);
/* One more job would be too many. */
bool capacity_files_are_used_up(const struct agents *agents);

/* The ring may start an agent: all limits allow one more. */
bool capacity_is_free(const struct agents *agents,
    const struct ring *ring, int64_t now_ms);
/* Which limit keeps the ring from one agent more, with its number and what
 * of it is used; CAPACITY_FREE: none does. */
enum capacity_limit { CAPACITY_FREE, CAPACITY_ZONE, CAPACITY_RING,
    CAPACITY_CHANNEL, CAPACITY_TOTAL,
	CAPACITY_FILES,		/* sockets: the rest is for jobs */
	CAPACITY_START };	/* the last one did not come to work: not yet */
enum capacity_limit capacity_bound(const struct agents *agents,
    const struct ring *ring, int64_t now_ms, unsigned *out_limit,
    unsigned *out_used);
/* A destination of the ring that nobody serves waits, and only limits that
 * it shares keep it from an agent. */
bool capacity_is_needed(const struct agents *agents,
    const struct ring *ring, int64_t now_ms);
/* One that idles elsewhere under the same limits and may go for it; NULL:
 * there is none, or others wait for it. */
struct agent *capacity_pick(const struct agents *agents,
    const struct ring *needy);
/* A needy ring waits for one of this ring's agents to become idle. */
bool capacity_is_wanted(const struct agents *agents,
    const struct ring *ring);

#endif
