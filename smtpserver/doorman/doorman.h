/* doorman.h - binds, accepts, counts, and hands connections to workers
 *
 * The functions are the rungs of struct daemon (daemon/skeleton.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_DOORMAN_DOORMAN_H
#define ZM_SMTPSERVER_DOORMAN_DOORMAN_H

#include "daemon/skeleton.h"

/* Bind and listen on every `listen` of the configuration.  0 or -1. */
int doorman_bind(struct process *process, struct err *err);

/* Open the spool, fork the workers, begin to accept.  0 or -1. */
int doorman_start(struct process *process, struct err *err);

/* Other listeners, another number of workers; workers read the file. */
void doorman_reload(struct process *process, const struct conf *old);

/* No new connections; workers finish; then the loop ends. */
void doorman_stop(struct process *process);

/* Close and free everything; workers that are left get SIGTERM.  The end of
 * the process does as well; tests live on. */
void doorman_release(struct process *process);

#endif
