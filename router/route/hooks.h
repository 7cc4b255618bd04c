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

/* on_rcpt: a recipient as it came, before anything is looked up.  ROUTE_YES:
 * it is dealt with (refused, or sent elsewhere). */
enum route_answer hooks_rcpt(struct routing *routing,
    const struct path *path, struct err *err);

/* route: an address on its way; name is its domain.  As hooks_rcpt. */
enum route_answer hooks_route(struct routing *routing, struct slice name,
    const struct path *path, struct err *err);

/* on_header: the header as it will go on, which is changed.  rcpts: what the
 * script may know of the message.  *out_form: what all recipients get when
 * the message is refused, else NULL.  0; -1 trouble, as a routing function. */
int hooks_header(struct router *router, struct rcpts *rcpts,
    struct str *header, const char **out_form, struct err *err);

#endif
