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
#include "grammar/units.h"
#include "router/route/internal.h"

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
	if (slice_is(out->channel, "error") ||
	    (slice_is(out->channel, "hold") && !slice_is(out->host, "-")))
		out->host = route_error_host(arena, out->host);
	else if (out->host.n == 0)
		out->host = slice_starts(out->channel, "smtp") ? domain :
		    SLICE("-");
	else if (slice_ends(out->host, "@"))	/* mx login NAME */
		out->host = slice_of(arena_printf(arena, SLICE_FMT SLICE_FMT,
		    SLICE_ARG(out->host), SLICE_ARG(domain)));
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

static int
parse_one(struct arena *arena, struct slice value, struct slice domain,
    struct route_target *out, struct err *err)
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

/* Up to the next " else ", which *rest stands behind then; the words of an
 * error may be anything. */
static struct slice
cut_else(struct slice *rest)
{
	static const char word[] = " else ";
	struct slice value = slice_trim(*rest), part = value;
	const char *p = slice_starts(value, "error") || value.n == 0 ? NULL :
	    memmem(value.p, value.n, word, sizeof(word) - 1);

	if (p != NULL)
		part = slice_first(value, (size_t)(p - value.p));
	*rest = slice_from(value, p == NULL ? value.n : part.n +
	    sizeof(word) - 1);
	return part;
}

/* "after SPAN" in front of a target. */
static int
cut_after(struct slice *rest, int64_t *out_s, struct err *err)
{
	struct slice span, behind = slice_trim(*rest);
	int64_t span_ms;

	*out_s = 0;
	if (!slice_starts(behind, "after "))
		return 1;
	behind = slice_from(behind, 6);
	if (!slice_word(&behind, &span) ||
	    units_span_ms(span, &span_ms, NULL) != 1 || span_ms < 1000)
		return err_set(err, "write else after SPAN TARGET");
	*out_s = span_ms / 1000;
	*rest = behind;
	return 1;
}

/* One more way, behind else. */
static int
parse_way(struct arena *arena, struct slice *rest, struct slice domain,
    struct route_target *out, struct err *err)
{
	struct route_target other;
	int64_t after_s;

	if (out->way_count + 1 == WORK_WAYS_MAX)
		return err_set(err, "a route has at most %d targets",
		    WORK_WAYS_MAX);
	if (cut_after(rest, &after_s, err) != 1)
		return -1;
	if (parse_one(arena, cut_else(rest), domain, &other, err) != 1)
		return err_prefix(err, "behind else");
	if (out->ways == NULL)
		out->ways = arena_alloc(arena, WORK_WAYS_MAX *
		    sizeof(*out->ways));
	out->ways[out->way_count++] = (struct work_way){
	    .channel = other.channel, .host = other.host,
	    .user = other.user, .uid = PLACE_UID_NOBODY,
	    .after_s = after_s };
	return 1;
}

int
route_value_parse(struct arena *arena, struct slice value,
    struct slice domain, struct route_target *out, struct err *err)
{
	struct slice first = cut_else(&value);
	int found;

	out->ways = NULL;
	out->way_count = 0;
	found = parse_one(arena, first, domain, out, err);
	while (found == 1 && value.n > 0)
		found = parse_way(arena, &value, domain, out, err);
	return found;
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

/* A way to channel local is to an account of this machine. */
static int
fill_local(struct routing *routing, struct work_way *way,
    struct slice address, struct err *err)
{
	size_t domain = who_domain(address).n;
	int found;

	way->user = slice_first(address, address.n - domain - 1);
	found = users_find(routing->router->users, way->user, &way->uid, err);
	if (found < 0)
		return routing_trouble(routing, "passwd", "");
	if (found == 0)
		*way = (struct work_way){ .channel = SLICE("error"),
		    .host = SLICE("nouser"), .user = address,
		    .uid = PLACE_UID_NOBODY, .after_s = way->after_s };
	return 1;
}

int
route_target_add(struct routing *routing, const struct route_target *target,
    struct slice address, const struct place_rule *rule, struct err *err)
{
	struct place place = { .channel = target->channel,
	    .host = target->host, .user = target->user.n > 0 ? target->user :
	    address, .uid = PLACE_UID_NOBODY, .ways = target->ways,
	    .way_count = target->way_count, .rule = *rule };

	if (slice_is(target->channel, "local") && target->user.n == 0) {
		struct work_way first = { .channel = target->channel,
		    .host = SLICE("-") };

		if (target->way_count == 0)
			return add_local(routing, address, rule, err);
		if (fill_local(routing, &first, address, err) != 1)
			return -1;
		place.channel = first.channel;
		place.host = first.host;
		place.user = first.user;
		place.uid = first.uid;
	}
	for (size_t i = 0; i < target->way_count; i++) {
		struct work_way *way = &target->ways[i];

		if (way->user.n == 0)
			way->user = address;
		if (slice_is(way->channel, "local") &&
		    fill_local(routing, way, address, err) != 1)
			return -1;
	}
	return routing_add_place(routing, &place, err);
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

/* What is looked for in a table: the recipient, or whose mail it is. */
struct wanted {
	struct slice	address;	/* whole, or a user's name */
	struct slice	domain;		/* empty: there is only the address */
};

static struct wanted
wanted_by(struct routing *routing, enum conf_route_by by,
    struct slice domain, struct slice address)
{
	struct slice sender;

	if (by == ROUTE_BY_RCPT)
		return (struct wanted){ address, domain };
	if (by == ROUTE_BY_USER)
		return (struct wanted){ routing->places->user, SLICE("") };
	sender = who_sender(routing);
	return (struct wanted){ sender.n > 0 ? sender : SLICE("<>"),
	    who_domain(sender) };
}

/* user@a.b.c, a.b.c, .b.c, .c, "." */
static int
try_table(struct routing *routing, const struct conf_route *route,
    struct slice domain, struct slice address, struct err *err)
{
	struct table *table = routing_table(routing, route->table, err);
	struct wanted want = wanted_by(routing, route->by, domain, address);
	struct slice key = want.domain;
	int found = 0;

	if (table == NULL)
		return -1;
	if (want.address.n > 0)
		found = try_key(routing, table, want.address, domain, address,
		    err);
	if (found == 0 && route->by == ROUTE_BY_SENDER && key.n > 0 &&
	    table_takes_parts(table))
		found = try_key(routing, table, routing_join(routing,
		    SLICE(""), key), domain, address, err);
	if (found == 0 && !table_takes_parts(table))
		return key.n == 0 ? 0 : try_key(routing, table, key, domain,
		    address, err);
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

/* 1 it speaks of this mail, 0, -1 trouble. */
static int
route_matches(struct routing *routing, const struct conf_route *route,
    struct slice domain, struct slice address, struct err *err)
{
	int fits;

	if (strchr(route->pattern, '@') != NULL ?
	    !slice_is_nocase(address, route->pattern) :
	    !conf_route_covers(route->pattern, domain))
		return 0;
	if (route->sender == NULL && route->user == NULL)
		return 1;
	fits = who_sends(routing, route->sender, err);
	if (fits == 1)
		fits = who_submits(routing, route->user, err);
	if (fits == 0)
		routing_note(routing, "route %s (%s:%u) is for other senders "
		    "or users", route->pattern, route->at.file,
		    route->at.line);
	return fits;
}

static int
add_route(struct routing *routing, const struct conf_route *route,
    struct slice domain, struct slice address, struct err *err)
{
	struct place_rule rule = { "route", route->at.file, route->at.line };
	struct arena *arena = routing->places->arena;
	struct route_target target, other;
	int result;

	target_complete(arena, route->channel, route->host, domain, &target);
	if (route->way_count > 0)
		target.ways = arena_alloc(arena, route->way_count *
		    sizeof(*target.ways));
	for (; target.way_count < route->way_count; target.way_count++) {
		const struct conf_way *way = &route->ways[target.way_count];

		target_complete(arena, way->channel, way->host, domain,
		    &other);
		target.ways[target.way_count] = (struct work_way){
		    .channel = other.channel, .host = other.host,
		    .uid = PLACE_UID_NOBODY, .after_s = way->after_s };
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
	static const struct place_rule built_in = { .kind = "default" };
	const struct conf *conf = routing->router->conf;
	struct slice address = routing_join(routing, path->local, domain);
	int found = 0;

	for (size_t i = 0; i < conf->route_count && found == 0; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->table != NULL) {
			found = try_table(routing, route, domain, address,
			    err);
			continue;
		}
		found = route_matches(routing, route, domain, address, err);
		if (found == 1)
			found = add_route(routing, route, domain, address,
			    err);
	}
	if (found == 0)
		found = routing_add(routing, "smtp", domain, address,
		    PLACE_UID_NOBODY, &built_in, err);
	return found < 0 ? -1 : 1;
}
