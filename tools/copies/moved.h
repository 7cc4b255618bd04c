/* moved.h - messages that other nodes of the cluster give to this one, or
 * have lost
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_COPIES_MOVED_H
#define ZM_TOOLS_COPIES_MOVED_H

#include "conf/conf.h"

/* Take all that is offered to this node, all that is arriving, and, where the
 * configuration says so, what nodes have whose lease is over for long enough
 * (lost.h), as root; the process goes on as the router.  *out_count messages
 * came.  0, also when somebody else brings messages here now: then later; -1:
 * err, the next run does the rest. */
int moved_take(const struct conf *conf, uint64_t *out_count,
    struct err *err);

#endif
