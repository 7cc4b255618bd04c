/* hooks.h - the site's script in routing (doc/HOOKS.md)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_HOOKS_H
#define ZM_ROUTER_HOOKS_H

#include "daemon/hook/hook.h"
#include "router/route/routing.h"

/* The router's own: NULL when no script is configured. */
struct hooks *router_hooks_new(struct router *router);

/* Call on_rcpt for a recipient as it came, before anything is looked up.
 * ROUTE_YES: the script decided (refused, or sent elsewhere). */
enum route_answer hooks_rcpt(struct routing *routing,
    const struct path *path, struct err *err);

/* Call route for an address; name is its domain.  As hooks_rcpt. */
enum route_answer hooks_route(struct routing *routing, struct slice name,
    const struct path *path, struct err *err);

/* Call on_header for the header as it will be sent on, and change it.  rcpts:
 * what the script may know about the message.  *out_form: what all recipients
 * get if the message is refused, else NULL.  0; -1: trouble, as a routing
 * function. */
int hooks_header(struct router *router, struct rcpts *rcpts,
    struct str *header, const char **out_form, struct err *err);

#endif
