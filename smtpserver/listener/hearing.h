/* hearing.h - what other machines of the cluster tell: failed logins, blocks
 *
 * The listener asks share for news, which waits until there are some, and puts
 * them into the memory that its workers read.  While share is away, or Redis,
 * what was heard stays as it is.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_LISTENER_HEARING_H
#define ZM_SMTPSERVER_LISTENER_HEARING_H

#include "daemon/skeleton.h"
#include "smtpserver/auth/failures.h"

struct hearing;

/* process has the configuration; failures is borrowed. */
struct hearing *hearing_new(struct process *process,
    struct failures *failures);
void hearing_free(struct hearing **hearing);

/* There is another configuration: begin or end, and go on with what was
 * heard. */
void hearing_reload(struct hearing *hearing);

#endif
