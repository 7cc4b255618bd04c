/* session.h - one client of the mailq protocol
 *
 * Straight-line code in a process of its own: every wait has an end.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_MAILQ_SESSION_H
#define ZM_SCHEDULER_MAILQ_SESSION_H

#include "conf/conf.h"

enum {
	MAILQ_LINE_BYTES_MAX = 1024,
	MAILQ_LOGINS_MAX = 3		/* that fail; then it is over */
};

/* Talk until the client or its time ends.  client and scheduler become the
 * session's. */
void mailq_session(const struct conf *conf, int client, int scheduler);

#endif
