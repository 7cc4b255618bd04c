/* consulted.h - a process that daemons consult: from its start to its loop
 *
 * zmailer run starts it as a sidecar (sidecar.h): it answers at the socket
 * SIDECAR_SOCKET_FD; SIDECAR_LIFELINE_FD is closed when its starter ends.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_CONSULTED_H
#define ZM_DAEMON_CONSULTED_H

#include "daemon/skeleton.h"

/* Read argv and the configuration, open the journal and make a loop; trouble is
 * fatal.  The caller drops its rights.
 * returns -1 to continue, else the exit status */
int consulted_begin(struct process *out, const struct daemon *daemon, int argc,
    char **argv);

/* To be called after the loop.  returns the exit status */
int consulted_end(struct process *process);

#endif
