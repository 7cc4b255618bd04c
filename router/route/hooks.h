/* hooks.h - the site's script has a say in routing (doc/HOOKS.md)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_HOOKS_H
#define ZM_ROUTER_HOOKS_H

#include "daemon/hook/hook.h"
#include "router/route/routing.h"

/* The router's own: NULL when no script is configured. */
struct hooks *router_hooks_new(struct router *router);

/* on_rcpt: a recipient as it came, before anything is looked up.
 * returns 1 it is dealt with (refused); 0 go on; -1 trouble. */
int hooks_rcpt(struct routing *routing, const struct path *path,
    struct err *err);

/* route: an address on its way; name is its domain.  As hooks_rcpt. */
int hooks_route(struct routing *routing, struct slice name,
    const struct path *path, struct err *err);

/* on_header: the header as it will go on, which is changed.  rcpts: what
 * the script may know of the message.  returns 1 go on; 0 refused: *out_form
 * is what all recipients get; -1 trouble, as a routing function. */
int hooks_header(struct router *router, struct rcpts *rcpts,
    struct str *header, const char **out_form, struct err *err);

#endif
