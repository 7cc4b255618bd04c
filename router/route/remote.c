/* remote.c - addresses of other systems: routes, else their own MX
 *
 * In     an address whose domain is not ours
 * Out    one recipient
 * Holds  nothing
 * Trusts the configuration and its tables
 * Spec   routes of ZMailer: channel!host, searched host, .parent, ., in turn
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "router/route/routing.h"

#include "base/banned.h"

/* A route to channel local: an account of this machine, whatever the domain
 * is called. */
static int
remote_add_local(struct routing *routing, struct slice address,
    const struct rcpt_rule *rule, struct err *err)
{
	size_t at = address.n;
	int64_t uid;
	struct path path;
	int found;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	path = (struct path){ .local = slice_first(address, at - 1),
	    .domain = slice_from(address, at) };
	found = users_find(routing->router->users, path.local, &uid, err);
	if (found < 0)
		return routing_trouble(routing, "passwd", "");
	if (found == 1)
		return routing_add(routing, "local", SLICE("-"), path.local,
		    uid, rule, err);
	return routing_refuse(routing, "nouser", &path, rule);
}

/* A way to channel local is to an account of this machine. */
static int
remote_fill_local(struct routing *routing, struct control_way *way,
    struct slice address, struct err *err)
{
	size_t domain = who_domain(address).n;
	int found;

	way->user = slice_first(address, address.n - domain - 1);
	found = users_find(routing->router->users, way->user, &way->uid, err);
	if (found < 0)
		return routing_trouble(routing, "passwd", "");
	if (found == 0)
		*way = (struct control_way){ .channel = SLICE("error"),
		    .host = SLICE("nouser"), .user = address,
		    .uid = RCPT_UID_NOBODY, .after_s = way->after_s };
	return 0;
}

int
route_target_add(struct routing *routing, const struct route_target *target,
    struct slice address, const struct rcpt_rule *rule, struct err *err)
{
	struct draft_rcpt rcpt = { .channel = target->channel,
	    .host = target->host, .user = target->user.n > 0 ? target->user :
	    address, .uid = RCPT_UID_NOBODY, .ways = target->ways,
	    .way_count = target->way_count, .rule = *rule };

	if (slice_is(target->channel, "local") && target->user.n == 0) {
		struct control_way first = { .channel = target->channel,
		    .host = SLICE("-") };

		if (target->way_count == 0)
			return remote_add_local(routing, address, rule, err);
		if (remote_fill_local(routing, &first, address, err) < 0)
			return -1;
		rcpt.channel = first.channel;
		rcpt.host = first.host;
		rcpt.user = first.user;
		rcpt.uid = first.uid;
	}
	for (size_t i = 0; i < target->way_count; i++) {
		struct control_way *way = &target->ways[i];

		if (way->user.n == 0)
			way->user = address;
		if (slice_is(way->channel, "local") &&
		    remote_fill_local(routing, way, address, err) < 0)
			return -1;
	}
	return routing_add_rcpt(routing, &rcpt, err);
}

/* One key. */
static enum route_answer
remote_try_key(struct routing *routing, struct table *table, struct slice key,
    struct slice domain, struct slice address, struct err *err)
{
	struct rcpt_rule rule = { .kind = "route" };
	struct route_target target;
	struct slice value;
	enum route_answer found = routing_lookup(routing, table, key, &value,
	    &rule.line, err);
	int parsed;

	if (found != ROUTE_YES)
		return found;
	parsed = route_value_parse(routing->rcpts->arena, value, domain,
	    &target, err);
	if (parsed < 0) {
		err_prefix(err, "table %s, line %u", table_name(table),
		    rule.line);
		return routing_trouble(routing, "table-", table_name(table));
	}
	rule.where = table_name(table);
	return parsed == 0 ? ROUTE_NO : route_done(route_target_add(routing,
	    &target, address, &rule, err));
}

/* What is looked for in a table: the recipient, or whose mail it is. */
struct wanted {
	struct slice	address;	/* whole, or a user's name */
	struct slice	domain;		/* empty: there is only the address */
};

static struct wanted
remote_is_wanted(struct routing *routing, enum conf_route_by by,
    struct slice domain, struct slice address)
{
	struct slice sender;

	if (by == ROUTE_BY_RCPT)
		return (struct wanted){ address, domain };
	if (by == ROUTE_BY_USER)
		return (struct wanted){ routing->rcpts->user, SLICE("") };
	sender = who_sender(routing);
	return (struct wanted){ sender.n > 0 ? sender : SLICE("<>"),
	    who_domain(sender) };
}

/* user@a.b.c, a.b.c, .b.c, .c, "." */
static enum route_answer
remote_try_table(struct routing *routing, const struct conf_route *route,
    struct slice domain, struct slice address, struct err *err)
{
	struct table *table = routing_table(routing, route->table, err);
	struct wanted want = remote_is_wanted(routing, route->by, domain,
	    address);
	struct slice key = want.domain;
	enum route_answer found = ROUTE_NO;

	if (table == NULL)
		return ROUTE_TROUBLE;
	if (want.address.n > 0)
		found = remote_try_key(routing, table, want.address, domain,
		    address,
		    err);
	if (found == ROUTE_NO && route->by == ROUTE_BY_SENDER && key.n > 0 &&
	    table_takes_parts(table))
		found = remote_try_key(routing, table, routing_join(routing,
		    SLICE(""), key), domain, address, err);
	if (found == ROUTE_NO && !table_takes_parts(table))
		return key.n == 0 ? ROUTE_NO : remote_try_key(routing, table,
		    key,
		    domain,
		    address, err);
	while (found == ROUTE_NO && key.n > 0) {
		found = remote_try_key(routing, table, key, domain, address,
		    err);
		key = slice_from(key, key.p[0] == '.' ? 1 : 0);
		key = slice_from(key, slice_find(key, '.'));
	}
	if (found == ROUTE_NO)
		found = remote_try_key(routing, table, SLICE("."), domain,
		    address,
		    err);
	return found;
}

/* Does it speak of this mail? */
static enum route_answer
remote_route_matches(struct routing *routing, const struct conf_route *route,
    struct slice domain, struct slice address, struct err *err)
{
	enum route_answer fits;

	if (strchr(route->pattern, '@') != NULL ?
	    !slice_is_nocase(address, route->pattern) :
	    !conf_route_covers(route->pattern, domain))
		return ROUTE_NO;
	if (route->sender == NULL && route->user == NULL)
		return ROUTE_YES;
	fits = who_sends(routing, route->sender, err);
	if (fits == ROUTE_YES)
		fits = who_submits(routing, route->user, err);
	if (fits == ROUTE_NO)
		routing_note(routing, "route %s (%s:%u) is for other senders "
		    "or users", route->pattern, route->at.file,
		    route->at.line);
	return fits;
}

static int
remote_add_route(struct routing *routing, const struct conf_route *route,
    struct slice domain, struct slice address, struct err *err)
{
	struct rcpt_rule rule = { "route", route->at.file, route->at.line };
	struct arena *arena = routing->rcpts->arena;
	struct route_target target, other;
	int result;

	route_target_complete(arena, route->channel, route->host, domain,
	    &target);
	if (route->way_count > 0)
		target.ways = arena_alloc(arena, route->way_count *
		    sizeof(*target.ways));
	for (; target.way_count < route->way_count; target.way_count++) {
		const struct conf_way *way = &route->ways[target.way_count];

		route_target_complete(arena, way->channel, way->host, domain,
		    &other);
		target.ways[target.way_count] = (struct control_way){
			.channel = other.channel,
			.host = other.host,
			.uid = RCPT_UID_NOBODY,
			.after_s = way->after_s
		};
	}
	routing->zone = route->zone;
	result = route_target_add(routing, &target, address, &rule, err);
	routing->zone = NULL;
	return result;
}

int
route_remote(struct routing *routing, struct slice domain,
    const struct path *path, struct err *err)
{
	static const struct rcpt_rule built_in = { .kind = "default" };
	const struct conf *conf = routing->router->conf;
	struct slice address = routing_join(routing, path->local, domain);
	enum route_answer found = ROUTE_NO;

	for (size_t i = 0; i < conf->route_count && found == ROUTE_NO; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->table != NULL) {
			found = remote_try_table(routing, route, domain,
			    address,
			    err);
			continue;
		}
		found = remote_route_matches(routing, route, domain, address,
		    err);
		if (found == ROUTE_YES)
			found = route_done(remote_add_route(routing,
			    route, domain, address, err));
	}
	if (found == ROUTE_NO)
		found = route_done(routing_add(routing, "smtp", domain,
		    address, RCPT_UID_NOBODY, &built_in, err));
	return found == ROUTE_TROUBLE ? -1 : 0;
}
