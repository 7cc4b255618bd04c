/* carrier.h - a process that carries many agents
 *
 * Each works like an agent with a process of its own: a socket to the
 * scheduler, jobs, verdicts (doc/protocol/agent.md).  It has a thread, so that
 * the channel's functions stay straight-line code and the system shares the
 * time: a peer that sends a byte a second, or without end, delays no other
 * agent.  They share what the first one has opened.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_CARRIER_H
#define ZM_TRANSPORTS_CARRIER_H

#include "transports/frame/agent.h"

/* Start the agents that the launcher asks for on socket ("agent TOKEN", with
 * the scheduler's socket as descriptor) and say "ended TOKEN" when one has
 * ended, until the socket's end; then wait for the remaining ones.  first has
 * been started, and its agent has join; it serves nobody itself.  0 or -1
 * (err). */
int carrier_serve(const struct agent_run *first, int socket,
    struct err *err);

#endif
