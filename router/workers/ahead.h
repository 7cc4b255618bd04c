/* ahead.h - what databases will be asked about messages that wait
 *
 * A worker that waits for the answer about each message routes few of them: so
 * the questions about all that it was given go out before it begins the first.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_AHEAD_H
#define ZM_ROUTER_AHEAD_H

#include "mail/spool/spool.h"
#include "router/route/route.h"

/* Ask ahead about the recipients of a message in router/, which may be gone by
 * now.  A message of which the envelope is long is looked at when it is
 * routed. */
void ahead_foresee(struct spool *spool, struct router *router,
    unsigned priority, const char *name);

#endif
