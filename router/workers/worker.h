/* worker.h - the process that routes messages
 *
 * From the parent, a line for each:
 * 	PRIORITY/NAME	route router[.PRIORITY]/NAME
 * 	public/NAME	take over a foreign submission (row S4)
 * 	recover		bring names to order (live, doc/INTERNALS section 3)
 * 	recover-routed	the half of the start that others do not wait for
 * To the parent, afterwards: "done " and the line, or "later " and the line: it
 * is still in router/, for a reason that is not the message's fault; "soon " if
 * that will be over in a moment.  End of file ends the worker.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_WORKER_H
#define ZM_ROUTER_WORKER_H

#include "conf/conf.h"
#include "mail/spool/spool.h"

#define WORKER_ROUTED "recover-routed"

/* Serve until end of file; returns then.  signer: a socket to the process that
 * has the keys (sign/signer.h), owned from now on; -1: none. */
void worker_run(const struct conf *conf, struct spool *spool, int socket,
    int signer);

#endif
