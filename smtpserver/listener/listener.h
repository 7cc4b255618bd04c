/* listener.h - binds, accepts, counts, and hands connections to workers
 *
 * The functions are the rungs of struct daemon (daemon/skeleton.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_LISTENER_LISTENER_H
#define ZM_SMTPSERVER_LISTENER_LISTENER_H

#include "daemon/skeleton.h"

/* Take the sockets that were given (daemon/given.h), and bind and listen on
 * every `listen` of the configuration that has none.  0 or -1. */
int listener_bind(struct process *process, struct err *err);

/* Open the spool, fork the workers, begin to accept.  0 or -1. */
int listener_start(struct process *process, struct err *err);

/* Other listeners, another number of workers; workers read the file. */
void listener_reload(struct process *process, const struct conf *old);

/* A successor has the sockets: no new connections; sessions go on to their
 * end; then the loop ends. */
void listener_leave(struct process *process);

/* No new connections; workers finish; then the loop ends. */
void listener_stop(struct process *process);

/* For tests, as a listener ends with its process: close and free everything;
 * workers that are left get SIGTERM. */
void listener_release(struct process *process);

#endif
