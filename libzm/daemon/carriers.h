/* carriers.h - the launcher's processes that carry many agents
 *
 * The first agents of a channel have a process each.  Once there are as many
 * processes as `limit processes` says, the one that carries the fewest gets
 * the next agent: a line "agent TOKEN" with its socket attached.  The process
 * answers "ended TOKEN" when the agent has ended.  A carrier without agents
 * ends; after a reload the old carriers get no more.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_CARRIERS_H
#define ZM_DAEMON_CARRIERS_H

#include <sys/types.h>

#include "base/err.h"
#include "io/loop.h"

enum { CARRIER_AGENTS_MAX = 1000 };

/* Called for each agent that has ended, as its carrier says; pid is the
 * carrier's.  A token that does not belong to that process must be ignored. */
typedef void carriers_ended_fn(unsigned token, pid_t pid);

/* To be called once, before anything else. */
void carriers_open(struct loop *loop, carriers_ended_fn *ended);

/* Give the agent to an existing process of the channel, if there are as many
 * as the limit processes.  Returns its pid; 0: the caller forks a new one. */
pid_t carriers_give(const char *channel, unsigned processes, unsigned token,
    int socket);

/* A process was forked for channel.  control is our end of its standard input,
 * which is owned here from now on; the first agent is sent to it. */
void carriers_add(const char *channel, pid_t pid, int control,
    unsigned token, int socket);

/* The configuration is new: give the existing processes no more agents. */
void carriers_retire(void);

/* The process is gone; does nothing if it is not a carrier. */
void carriers_forget(pid_t pid);

#endif
