/* explain.h - router --route: how an address is routed, and why
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_EXPLAIN_H
#define ZM_ROUTER_EXPLAIN_H

#include "router/route/route.h"

/* What is supposed about the message. */
struct explain_as {
	struct slice	from;	/* its sender; empty: null */
	struct slice	user;	/* who submitted it; empty: it came from
				 * outside */
	struct slice	ip;	/* of the client, for scripts; or empty */
	bool		is_json;
	bool		is_brief;	/* only where it goes, not why */
	bool		asks_mx;	/* the DNS, too (dns_use was called) */
};

/* Route one address as if it had come in such a message; append what was asked
 * and where it goes.  Changes nothing.  Returns an exit status: 0 served, 1
 * refused, 75 not known now. */
int explain_address(struct router *router, struct arena *arena,
    const struct explain_as *as, struct slice address, struct str *out);

/* Do the arguments say "router --route"? */
bool explain_is_meant(int argc, char **argv);

/* Words after --route: [--json] [--mx] [--from ADDRESS] [--as USER]
 * [--ip IP] [--addresses FILE] ADDRESS...
 * Returns the exit status: the worst of all addresses.  Or --diff OLD NEW
 * before the addresses: 0: both send all of them the same way, 1: they do
 * not. */
int explain_run(int argc, char **argv);

#endif
