/* who.c - routes that depend on the sender, or on whose mail it is
 *
 * In     the pattern of a route
 * Out    whether the mail in hand fits
 * Holds  nothing
 * Trusts the configuration and its tables; no byte of a sender
 * Spec   zmailer.conf(5), route
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "grammar/units.h"
#include "router/route/routing.h"

#include "base/banned.h"

struct slice
who_sender(struct routing *routing)
{
	const struct rcpts *rcpts = routing->rcpts;
	const struct rcpt_sender *sender =
	    rcpts->senders[rcpts->is_from_null ? 0 : routing->sender];

	return slice_lower(rcpts->arena, sender->verp.n == 0 ?
	    sender->address : routing_join(routing, sender->address,
	    sender->verp));
}

/* "<name>" of a pattern; NULL: it is none. */
static const char *
who_pattern_table(struct routing *routing, const char *pattern)
{
	size_t n = strlen(pattern);

	return n < 3 || pattern[0] != '<' ? NULL : arena_dup(
	    routing->rcpts->arena, pattern + 1, n - 2);
}

static enum route_answer
who_lookup(struct routing *routing, struct table *table, struct slice key,
    struct err *err)
{
	struct slice value;
	unsigned line;

	return routing_lookup(routing, table, key, &value, &line, err);
}

struct slice
who_domain(struct slice address)
{
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	return at > 0 ? slice_from(address, at) : SLICE("");
}

/* user@domain or "<>", then @domain, domain, .parent ... */
static enum route_answer
who_is_in_table(struct routing *routing, struct table *table,
    struct slice address, struct err *err)
{
	struct slice domain = who_domain(address);
	enum route_answer found = who_lookup(routing, table, address.n > 0 ?
	    address :
	    SLICE("<>"), err);

	if (found != ROUTE_NO || domain.n == 0 || !table_takes_parts(table))
		return found;
	found = who_lookup(routing, table, routing_join(routing, SLICE(""),
	    domain),
	    err);
	while (found == ROUTE_NO && domain.n > 0) {
		found = who_lookup(routing, table, domain, err);
		domain = slice_from(domain, domain.p[0] == '.' ? 1 : 0);
		domain = slice_from(domain, slice_find(domain, '.'));
	}
	return found;
}

enum route_answer
who_is(struct routing *routing, const char *pattern, struct slice address,
    struct err *err)
{
	struct slice p = slice_of(pattern != NULL ? pattern : "");
	struct table *table;
	const char *name;

	if (pattern == NULL)
		return ROUTE_YES;
	name = who_pattern_table(routing, pattern);
	if (name != NULL) {
		table = routing_table(routing, name, err);
		return table == NULL ? ROUTE_TROUBLE : who_is_in_table(routing,
		    table,
		    address,
		    err);
	}
	if (slice_is(p, "<>") || address.n == 0)
		return route_is(address.n == 0 && slice_is(p, "<>"));
	if (p.p[0] != '@')
		return route_is(glob_match(p, address));
	return route_is(glob_match(slice_from(p, 1),
	    who_domain(address)));
}

enum route_answer
who_sends(struct routing *routing, const char *pattern, struct err *err)
{
	return pattern == NULL ? ROUTE_YES : who_is(routing, pattern,
	    who_sender(routing), err);
}

enum route_answer
who_submits(struct routing *routing, const char *pattern, struct err *err)
{
	struct slice user = routing->rcpts->user;
	struct table *table;
	const char *name;

	if (pattern == NULL)
		return ROUTE_YES;
	if (strcmp(pattern, "none") == 0 || user.n == 0)
		return route_is(user.n == 0 &&
		    strcmp(pattern, "none") == 0);
	if (strcmp(pattern, "any") == 0)
		return ROUTE_YES;
	name = who_pattern_table(routing, pattern);
	if (name == NULL)
		return route_is(glob_match(slice_of(pattern), user));
	table = routing_table(routing, name, err);
	return table == NULL ? ROUTE_TROUBLE : who_lookup(routing, table, user,
	    err);
}
