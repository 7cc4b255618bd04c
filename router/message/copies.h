/* copies.h - the statements copy and archive
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_COPIES_H
#define ZM_ROUTER_COPIES_H

#include "router/route/routing.h"

/* All recipients are routed: add those that get copies.  envelope: NULL for a
 * question.  0 or -1. */
int copies_add(struct router *router, struct rcpts *rcpts,
    const struct envelope *envelope, struct err *err);

#endif
