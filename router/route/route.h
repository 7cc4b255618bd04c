/* route.h - an address becomes recipients: channel, host, user, privilege
 *
 * Knows no spool and no message file: the router's workers and
 * `zmailer route` call the same functions.
 *
 * The order for an address in one of our domains (a `domain` statement) is:
 * alias user@domain, alias user, account, the same for the part before a "+",
 * postmaster, alias @domain, else form nouser.  For all others: the `route`
 * statements in order, then smtp to the domain itself.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_ROUTE_H
#define ZM_ROUTER_ROUTE_H

#include "conf/conf.h"
#include "grammar/smtp/path.h"
#include "mail/envelope.h"
#include "router/rcpts/rcpts.h"

struct router;

/* A router; freed by router_free.  Tables are opened at their first use.  conf
 * must outlive it. */
struct router *router_new(const struct conf *conf);
void router_free(struct router **router);
const struct conf *router_conf(const struct router *router);

/* One recipient as it came. */
struct given_rcpt {
	struct path	path;
	unsigned	notify;
	struct slice	orcpt;	/* xtext with its type, or empty */
	enum route_lists {
		ROUTE_LISTS_NOW,	/* they are opened */
		ROUTE_LISTS_WAIT,	/* other recipients come first */
		ROUTE_LISTS_WAITED	/* now, too; a script was asked */
	}		lists;
};

/* Route one address; the recipients it leads to are added to *rcpts.  What
 * cannot be served becomes a recipient of channel error (doc/INTERNALS section
 * 7), so there always is one.
 * ROUTE_WAITS: it leads to a list (with another sender), which has to wait, and
 * nothing was added: a recipient that the sender named gets the sender's
 * message, also if a list has it, too.  ROUTE_FAILED: a table, an include file
 * or the account database cannot be asked; err says which, rcpts->trouble names
 * it, and the whole message has to wait. */
enum route_end { ROUTE_FAILED = -1, ROUTE_ROUTED, ROUTE_WAITS };
enum route_end router_address(struct router *router, struct rcpts *rcpts,
    const struct given_rcpt *given, struct err *err);

/* The same to a target that was chosen (the terms of an envelope, steered),
 * whatever aliases and routes say.  0; -1 as ROUTE_FAILED, also if it is not a
 * target, or no longer. */
int router_to_target(struct router *router, struct rcpts *rcpts,
    const struct given_rcpt *given, struct slice via, struct err *err);

/* The same without routing: a recipient is added only if a script refuses.  0;
 * -1 as ROUTE_FAILED. */
int router_only_hook(struct router *router, struct rcpts *rcpts,
    const struct given_rcpt *given, struct err *err);

/* Add an error recipient for a recipient that cannot even be routed.
 * form: a row of doc/INTERNALS section 7. */
void router_refuse(struct rcpts *rcpts, const struct given_rcpt *given,
    const char *form);

/* Are there tables in databases? */
bool router_asks(const struct router *router);

/* An address of ours will be routed soon: databases are asked about it, and
 * nothing waits for their answers. */
void router_foresee(struct router *router, struct arena *arena,
    const struct path *path);

/* The same of ROUTE_FORESEEN recipients of an envelope from that one on. */
enum { ROUTE_FORESEEN = 32 };
void router_foresee_rcpts(struct router *router, struct arena *arena,
    const struct envelope *envelope, size_t from);

/* Normalize a domain for look-ups, in the arena: lower case, A-labels (RFC
 * 5890), no final dot.  0 or -1. */
int router_domain(struct arena *arena, struct slice domain,
    struct slice *out, struct err *err);

#endif
