/* listener.h - ZMailer's mailq protocol, beside the scheduler
 *
 * Who speaks it is not the scheduler: a process of the agents' account
 * listens, one more for each client talks.  Each gets a connection of the
 * control protocol from the scheduler, with no more rights than the protocol
 * has verbs (control_adopt).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_MAILQ_LISTENER_H
#define ZM_SCHEDULER_MAILQ_LISTENER_H

#include "daemon/skeleton.h"

enum {
	MAILQ_CLIENTS_MAX = 20,		/* at a time */
	MAILQ_SESSION_MS = 90000	/* of a session */
};

/* Listen and start the process, as root or who we are; nothing when the
 * configuration names no mailq.  Before the launcher and the control socket,
 * so that it has neither.  out_socket: where it asks for connections, -1 for
 * none.  0, or -1 with err. */
int mailq_start(struct process *process, int *out_socket, struct err *err);

#endif
