/* carriers.h - the launcher's processes that carry many agents
 *
 * The first agents of a channel have a process each.  Once there are as many
 * processes as `limit processes` says, the one that carries the fewest gets
 * the next agent: its socket rides on a line "agent TOKEN", and "ended TOKEN"
 * says that it is over.  A carrier without agents ends; after a reload the
 * old ones get no more.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_CARRIERS_H
#define ZM_DAEMON_CARRIERS_H

#include <sys/types.h>

#include "base/err.h"
#include "io/loop.h"

enum { CARRIER_AGENTS_MAX = 1000 };

/* Called for each agent that a carrier says has ended; pid is the
 * carrier's: a token that is not of that process means nothing. */
typedef void carriers_ended_fn(unsigned token, pid_t pid);

/* Once, before anything else. */
void carriers_open(struct loop *loop, carriers_ended_fn *ended);

/* Give the agent to a process of the channel that is there, as processes
 * (a limit) has it.  Returns its pid; 0: a new one is to be forked. */
pid_t carriers_give(const char *channel, unsigned processes, unsigned token,
    int socket);

/* A process was forked for channel, and control, which is kept and closed
 * here, is our end of its standard input; its first agent goes with it. */
void carriers_add(const char *channel, pid_t pid, int control,
    unsigned token, int socket);

/* Those that are there get no more agents: the configuration is new. */
void carriers_retire(void);

/* The process is gone; nothing happens when it is none of them. */
void carriers_forget(pid_t pid);

#endif
