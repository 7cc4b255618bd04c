/* agents.h - the pool of transport agents, a pool a ring
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_AGENTS_H
#define ZM_SCHEDULER_AGENTS_H

#include "scheduler/state.h"

enum {
	AGENT_PATIENCE_MS = 3600000,	/* silence with work in hand: a big
					 * message on a slow line takes long */
	AGENT_TICK_MS = 1000,		/* how often idle ones are looked at */
	AGENT_STARTS_A_TURN = 16,
	AGENT_BACKOFF_MAX_MS = 60000	/* between starts that fail */
};

void agents_open(struct scheduler *scheduler, agents_start_fn *start,
    agents_kill_fn *kill);

/* Give every thread that may have it its work; starts agents. */
void agents_feed(struct scheduler *scheduler);

/* The launcher's notice that an agent has its process (a launcher_begin_fn;
 * context is the scheduler). */
void agents_begin(void *context, unsigned token, pid_t pid);

/* The launcher's notice (a launcher_exit_fn; context is the scheduler). */
void agents_exit(void *context, unsigned token, pid_t pid, int status);

/* Feed no more; tell all agents to finish. */
void agents_stop(struct scheduler *scheduler);

/* A new configuration: rings that are left behind let their agents go. */
void agents_rematch(struct scheduler *scheduler);

/* Close everything; jobs in hand are left to the agents and their locks. */
void agents_release(struct scheduler *scheduler);

/* Agents that have work. */
unsigned agents_busy(const struct scheduler *scheduler);

/* ---- between agents.c, feed.c and hear.c ------------------------------ */

/* A new agent of the ring, busy with nothing yet; NULL: not now. */
struct agent *agent_start(struct scheduler *scheduler, struct ring *ring);

/* It is no use any more: its jobs go back, the socket is closed.  reason
 * goes into the record of the job it was at (NULL: no job is blamed). */
void agent_lose(struct scheduler *scheduler, struct agent *agent,
    const char *reason);

/* The same for one that must not go on: killed first. */
void agent_kill(struct scheduler *scheduler, struct agent *agent,
    const char *reason);

/* Its socket is ready (a loop_io_fn; context is the agent): read its lines,
 * send what waits.  It may be lost afterwards. */
void agent_ready(void *context, unsigned ready);

/* Idle again: to the head of its ring's idle agents; leaves its thread. */
void agent_rest(struct scheduler *scheduler, struct agent *agent);

/* Send what is unsent as far as the socket takes it. */
void agent_send(struct scheduler *scheduler, struct agent *agent);

#endif
