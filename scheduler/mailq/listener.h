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

/* Listen where the mailq statement says, as root or who we are.  *out_fd is
 * the listener, as in struct daemon's beside_open.  0, or -1 with err. */
int mailq_open(const struct conf *conf, int *out_fd, struct err *err);
/* Before that: the socket of given that it would listen on, if there is one,
 * is kept, and each mailq_open has it while the statement says so. */
void mailq_take(struct given *given, const struct conf *conf);

/* Be the process (struct daemon's beside_run): take clients from fd, ask for
 * a connection for each over scheduler, until that is closed. */
void mailq_run(struct process *process, int fd, int scheduler)
    __attribute__((noreturn));

#endif
