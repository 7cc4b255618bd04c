/* milters.h - mail of sendmail(1) is shown to milters before it is routed
 *
 * A worker puts such mail into deferred/N.milter; a child of the router takes
 * it from there.  It listens at milter.sock in the run directory, open to
 * smtpserver's group.  smtpserver's process (milter/local.h has the lines)
 * connects, gets one message after the other as descriptors, and reports what
 * the milters said.  A message that waits (nobody connects, a milter says 4yz)
 * is shown again when any deferred message would be tried.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_MILTER_MILTERS_H
#define ZM_ROUTER_MILTER_MILTERS_H

#include "daemon/skeleton.h"

enum { MILTERS_AT_ONCE = 16 };	/* messages shown and not answered */

struct milters;

/* Bind the socket; fork the process if a milter wants such mail.  NULL with
 * err. */
struct milters *milters_new(struct process *process, struct err *err);
/* In another child of the router: close the listening socket. */
void milters_in_child(struct milters *milters);
/* Replace the process, or end it, as the configuration now says. */
void milters_renew(struct milters *milters);
/* End it and unlink the socket.  Sets *milters to NULL. */
void milters_free(struct milters **milters);

#endif
