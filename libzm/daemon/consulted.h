/* consulted.h - a process that daemons consult: from its start to its loop
 *
 * zmailer run starts it as a sidecar (sidecar.h): SIDECAR_SOCKET_FD is the
 * socket where it answers, SIDECAR_LIFELINE_FD ends with its starter.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_CONSULTED_H
#define ZM_DAEMON_CONSULTED_H

#include "daemon/skeleton.h"

/* Reads argv and the configuration, opens the journal and makes a loop; what
 * that cannot be is fatal.  The caller drops its rights.
 * returns -1 to go on, else the exit status */
int consulted_begin(struct process *out, const struct daemon *daemon, int argc,
    char **argv);

/* After the loop.  returns the exit status */
int consulted_end(struct process *process);

#endif
