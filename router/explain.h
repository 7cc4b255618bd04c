/* explain.h - router --route: how an address is routed, and why
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_EXPLAIN_H
#define ZM_ROUTER_EXPLAIN_H

#include "router/route.h"

/* Route one address as if it had come in a message from `from` (empty: the
 * null sender); append what was asked and where it goes.  Nothing is changed
 * anywhere.  returns 0 served, 1 refused, 75 it cannot be known now. */
int explain_address(struct router *router, struct arena *arena,
    struct slice from, struct slice address, bool is_json, struct str *out);

/* "router --route"? */
bool explain_is_meant(int argc, char **argv);

/* Words behind --route: [--json] [--from ADDRESS] ADDRESS...  Returns the
 * exit status: the worst of all addresses. */
int explain_run(int argc, char **argv);

#endif
