/* listener.h - ZMailer's mailq protocol, beside the scheduler
 *
 * Who speaks it is not the scheduler: a process of the agents' account
 * listens, one more for each client talks.  Each gets a connection of the
 * control protocol from the scheduler, with no more rights than the protocol
 * has verbs (process.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_MAILQ_LISTENER_H
#define ZM_SCHEDULER_MAILQ_LISTENER_H

#include "daemon/given.h"
#include "daemon/skeleton.h"

enum {
	MAILQ_CLIENTS_MAX = 20,		/* at a time */
	MAILQ_SESSION_MS = 90000	/* of a session */
};

/* Listen where the mailq statement says, as root or who we are: on beside_fd,
 * where that fits.  *out_fd is the listener, as in struct daemon's
 * beside_open.  0, or -1 with err. */
int mailq_open(const struct process *process, int *out_fd, struct err *err);
/* Before the launcher is forked: the socket of given that fits the statement
 * becomes beside_fd. */
void mailq_take(struct given *given, struct process *process);

/* Be the process (struct daemon's beside_run): take clients from fd, ask for
 * a connection for each over scheduler, until that is closed. */
void mailq_run(struct process *process, int fd, int scheduler)
    __attribute__((noreturn));

#endif
