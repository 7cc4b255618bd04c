/* remote.c - addresses of other systems: routes, else their own MX
 *
 * In     an address whose domain is not ours
 * Out    one place
 * Holds  nothing
 * Trusts the configuration and its tables
 * Spec   routes of ZMailer: channel!host, searched host, .parent, ., in turn
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "grammar/xtext.h"
#include "router/route_internal.h"

#include "base/banned.h"

enum { CHANNEL_BYTES_MAX = 32, ERROR_WORDS_BYTES_MAX = 400 };

static bool
is_channel(struct slice word)
{
	if (word.n == 0 || word.n > CHANNEL_BYTES_MAX)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') &&
		    c != '-' && c != '_')
			return false;
	}
	return true;
}

/* No blanks and controls: it becomes a word of the control file. */
static bool
is_word(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] <= ' ' || text.p[i] == 127)
			return false;
	return text.n > 0;
}

struct slice
route_error_host(struct arena *arena, struct slice words)
{
	char *word;

	if (words.n == 0)
		return SLICE("unresolvable");
	words = slice_first(words, ERROR_WORDS_BYTES_MAX);
	word = slice_dup(arena, words);
	for (size_t i = 0; i < words.n; i++)
		if (word[i] <= ' ' || word[i] > '~')
			word[i] = '_';
	return (struct slice){ word, words.n };
}

/* Fill in what channel and host of a route leave open. */
static void
target_complete(struct arena *arena, const char *channel, const char *host,
    struct slice domain, struct route_target *out)
{
	*out = (struct route_target){ .channel = slice_of(channel),
	    .host = slice_of(host) };
	if (slice_is(out->channel, "error"))
		out->host = route_error_host(arena, out->host);
	else if (out->host.n == 0)
		out->host = slice_starts(out->channel, "smtp") ? domain :
		    SLICE("-");
}

/* What stands behind "channel!": "", "host" or "host!user". */
static int
parse_behind(struct arena *arena, struct slice behind, struct slice domain,
    struct route_target *out, struct err *err)
{
	size_t bang = slice_find(behind, '!');

	out->host = slice_first(behind, bang);
	if (bang < behind.n)
		out->user = slice_from(behind, bang + 1);
	if (slice_is(out->channel, "error")) {
		out->host = route_error_host(arena, behind);
		out->user = (struct slice){ NULL, 0 };
	} else if (behind.n == 0)
		out->host = slice_starts(out->channel, "smtp") ? domain :
		    SLICE("-");
	if (!is_word(out->host) || (out->user.n > 0 && !is_word(out->user)))
		return err_set(err, "a host and a user have no blanks");
	return 1;
}

/* What the configuration says: words, not bangs. */
static int
parse_words(struct arena *arena, struct slice value, struct slice domain,
    struct route_target *out, struct err *err)
{
	const char *channel, *host;

	if (conf_target_parse(arena, value, &channel, &host, err) != 1)
		return -1;
	target_complete(arena, channel, host, domain, out);
	if (is_word(out->host))
		return 1;
	return err_set(err, "a host has no blanks");
}

int
route_value_parse(struct arena *arena, struct slice value,
    struct slice domain, struct route_target *out, struct err *err)
{
	size_t bang;

	value = slice_trim(value);
	bang = slice_find(value, '!');
	out->channel = slice_lower(arena, slice_first(value, bang));
	out->user = (struct slice){ NULL, 0 };
	if (bang == value.n || !is_channel(out->channel))
		return parse_words(arena, value, domain, out, err);
	if (slice_is(out->channel, "ignore"))
		return 0;
	return parse_behind(arena, slice_from(value, bang + 1), domain, out,
	    err);
}

/* A route to channel local: an account of this machine, whatever the domain
 * is called. */
static int
add_local(struct routing *routing, struct slice address,
    const struct place_rule *rule, struct err *err)
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

int
route_target_add(struct routing *routing, const struct route_target *target,
    struct slice address, const struct place_rule *rule, struct err *err)
{
	if (slice_is(target->channel, "local") && target->user.n == 0)
		return add_local(routing, address, rule, err);
	return routing_add(routing, slice_dup(routing->places->arena,
	    target->channel), target->host, target->user.n > 0 ?
	    target->user : address, PLACE_UID_NOBODY, rule, err);
}

/* One key.  returns 1 routed, 0 go on, -1 trouble. */
static int
try_key(struct routing *routing, struct table *table, struct slice key,
    struct slice domain, struct slice address, struct err *err)
{
	struct place_rule rule = { .kind = "route" };
	struct route_target target;
	struct slice value;
	int found = routing_lookup(routing, table, key, &value, &rule.line,
	    err);

	if (found != 1)
		return found;
	found = route_value_parse(routing->places->arena, value, domain,
	    &target, err);
	if (found < 0) {
		err_prefix(err, "table %s, line %u", table_name(table),
		    rule.line);
		return routing_trouble(routing, "table-", table_name(table));
	}
	rule.where = table_name(table);
	return found == 0 ? 0 : route_target_add(routing, &target, address,
	    &rule, err);
}

/* user@a.b.c, a.b.c, .b.c, .c, "." */
static int
try_table(struct routing *routing, const char *name, struct slice domain,
    struct slice address, struct err *err)
{
	struct table *table = routing_table(routing, name, err);
	struct slice key = domain;
	int found;

	if (table == NULL)
		return -1;
	found = try_key(routing, table, address, domain, address, err);
	if (found == 0 && !table_takes_parts(table))
		return try_key(routing, table, domain, domain, address, err);
	while (found == 0 && key.n > 0) {
		found = try_key(routing, table, key, domain, address, err);
		key = slice_from(key, key.p[0] == '.' ? 1 : 0);
		key = slice_from(key, slice_find(key, '.'));
	}
	if (found == 0)
		found = try_key(routing, table, SLICE("."), domain, address,
		    err);
	return found;
}

static bool
route_matches(const struct conf_route *route, struct slice domain,
    struct slice address)
{
	if (strchr(route->pattern, '@') != NULL)
		return slice_is_nocase(address, route->pattern);
	return conf_route_covers(route->pattern, domain);
}

static int
add_route(struct routing *routing, const struct conf_route *route,
    struct slice domain, struct slice address, struct err *err)
{
	struct place_rule rule = { "route", route->at.file, route->at.line };
	struct route_target target;

	target_complete(routing->places->arena, route->channel, route->host,
	    domain, &target);
	return route_target_add(routing, &target, address, &rule, err);
}

int
route_remote(struct routing *routing, struct slice domain,
    const struct path *path, struct err *err)
{
	static const struct place_rule built_in = { .kind = "default" };
	const struct conf *conf = routing->router->conf;
	struct slice address = routing_join(routing, path->local, domain);
	int found = 0;

	for (size_t i = 0; i < conf->route_count && found == 0; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->table != NULL)
			found = try_table(routing, route->table, domain,
			    address, err);
		else if (route_matches(route, domain, address))
			found = add_route(routing, route, domain, address,
			    err);
	}
	if (found == 0)
		found = routing_add(routing, "smtp", domain, address,
		    PLACE_UID_NOBODY, &built_in, err);
	return found < 0 ? -1 : 1;
}
