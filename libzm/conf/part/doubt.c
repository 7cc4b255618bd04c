/* doubt.c - statements that are right and still not what was meant
 *
 * In     a conf that is otherwise complete
 * Out    warnings: mail that would come back to us, relaying that is not
 *        allowed, waits that nobody lives to see, listeners that nobody can
 *        use, what is over already
 * Holds  nothing
 * Spec   zmailer(8), check
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "conf/part/part.h"
#include "grammar/units.h"

#include "base/banned.h"

static void
doubt_tell(struct conf_loader *loader, struct conf_at at, unsigned width,
    const char *hint, const char *text)
{
	conf_complain_at(loader->report, loader->report_arena, loader->book,
	    CONF_WARNING, at, width, hint, text);
}

/* "1h", in the arena. */
static const char *
doubt_span(struct conf_loader *loader, int64_t span_s)
{
	struct str text = STR_INIT;
	const char *copy;

	units_add_span(&text, span_s * 1000);
	copy = slice_dup(loader->conf->arena, str_slice(&text));
	str_release(&text);
	return copy;
}

/* ---- mail that comes back ------------------------------------------- */

/* "[h]:25" -> host and port. */
static bool
target_cut(const char *text, struct slice *out_host, uint64_t *out_port)
{
	struct slice host = conf_host_bare(slice_of(text));
	size_t end;

	if (slice_starts(host, "smtps:"))
		host = slice_from(host, 6);
	if (slice_starts(host, "inet:"))
		host = slice_from(host, 5);
	if (!slice_starts(host, "["))
		return false;
	end = slice_find(host, ']');
	if (!slice_number(slice_from(host, end + 2), 1, 65535, out_port))
		return false;
	*out_host = (struct slice){ host.p + 1, end - 1 };
	return true;
}

static bool
net_is_loopback(const struct net *net)
{
	static const unsigned char six[16] = { [15] = 1 };

	return memcmp(net->bytes, six, sizeof(six)) == 0 ||
	    (net->bytes[10] == 0xff && net->bytes[12] == 127);
}

static bool
is_any(const struct net *net)
{
	for (int i = 0; i < 16; i++)
		if (net->bytes[i] != 0 && (i < 10 || i > 11))
			return false;
	return true;
}

/* Does the listener take what is sent to this host and port of ours? */
static bool
listen_takes(const struct conf_listen *one, const struct net *host,
    uint64_t port)
{
	struct sockaddr_storage address;
	socklen_t length;
	struct slice text = slice_of(one->text);
	size_t colon = text.n;
	struct net own;
	uint64_t number;

	while (colon > 0 && text.p[colon - 1] != ':')
		colon--;
	if (one->address.ss_family == AF_UNIX || one->is_lmtp || colon == 0 ||
	    !slice_number(slice_from(text, colon), 1, 65535, &number) ||
	    number != port || net_endpoint_parse(text, 25, &address, &length,
	    NULL) != 0)
		return false;
	net_of_sockaddr((const struct sockaddr *)&address, &own);
	if (host == NULL)		/* a name of ours */
		return true;
	if (is_any(&own))
		return net_is_loopback(host);
	return memcmp(own.bytes, host->bytes, sizeof(own.bytes)) == 0;
}

/* The listener that a target leads to; NULL: none of ours. */
static const struct conf_listen *
target_listener(const struct conf *conf, const char *channel,
    const char *target)
{
	struct slice host;
	struct net net;
	bool is_address;
	uint64_t port;

	if (strcmp(channel, "smtp") != 0 || !target_cut(target, &host, &port))
		return NULL;
	is_address = net_parse(host, &net, NULL) == 0;
	if (!is_address && !slice_is_nocase(host, conf->host) &&
	    !slice_is_nocase(host, "localhost"))
		return NULL;
	for (size_t i = 0; i < conf->listen_count; i++)
		if (listen_takes(&conf->listens[i], is_address ? &net : NULL,
		    port))
			return &conf->listens[i];
	return NULL;
}

static void
check_target(struct conf_loader *loader, struct conf_at at,
    const char *channel, const char *target)
{
	const struct conf_listen *one = target_listener(loader->conf, channel,
	    target);
	struct arena *arena = loader->conf->arena;

	if (one == NULL)
		return;
	doubt_tell(loader, at, 5, "name the host that takes this mail, or "
	    "another port of it", arena_printf(arena, "this leads back to "
	    "ourselves: we listen on %s%s", one->text, one->at.line > 0 ?
	    arena_printf(arena, " (line %u)", one->at.line) : ""));
}

/* A domain of ours has its mail before a route is looked at. */
static void
check_route_of_ours(struct conf_loader *loader, const struct conf_route *route)
{
	const struct conf *conf = loader->conf;
	const struct conf_domain *domain;

	if (route->table != NULL || strpbrk(route->pattern, "*?") != NULL)
		return;
	domain = conf_domain_find(conf, slice_of(route->pattern));
	if (domain == NULL || domain->at.file == NULL)
		return;
	doubt_tell(loader, route->at, 5, arena_printf(conf->arena, "take %s "
	    "out of the domain statement, or write deliver into its { }",
	    route->pattern), arena_printf(conf->arena, "this route is never "
	    "asked: %s is a domain of ours (line %u)", route->pattern,
	    domain->at.line));
}

/* Words that mean "all the others" elsewhere; here they are domains. */
static void
check_route_of_all(struct conf_loader *loader, const struct conf_route *route)
{
	static const char *const words[] = { "default", "all", "any",
	    "others" };
	struct arena *arena = loader->conf->arena;

	for (size_t i = 0; route->table == NULL &&
	    i < sizeof(words) / sizeof(words[0]); i++)
		if (slice_is_nocase(slice_of(route->pattern), words[i]))
			doubt_tell(loader, route->at, 5, "write route * for "
			    "all other domains", arena_printf(arena, "this "
			    "route is for a domain called '%s', and no other",
			    route->pattern));
}

static void
check_routes(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; i < conf->route_count; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->at.file == NULL)
			continue;
		check_route_of_ours(loader, route);
		check_route_of_all(loader, route);
		check_target(loader, route->at, route->channel, route->host);
		for (size_t k = 0; k < route->way_count; k++)
			check_target(loader, route->at,
			    route->ways[k].channel, route->ways[k].host);
	}
	for (size_t i = 0; i < conf->domain_count; i++)
		check_target(loader, conf->domains[i].at,
		    conf->domains[i].deliver.channel,
		    conf->domains[i].deliver.host);
}

/* ---- relaying ------------------------------------------------------- */

/* The one domain of "@DOMAIN" or "*@DOMAIN"; "": it is none, or many. */
static struct slice
pattern_domain(const char *pattern)
{
	struct slice text = slice_of(pattern), domain;
	size_t at = slice_find(text, '@');

	domain = slice_from(text, at + 1);
	if (at == text.n || slice_starts(text, "<") ||
	    slice_find(domain, '*') < domain.n ||
	    slice_find(domain, '?') < domain.n)
		return SLICE("");
	return domain;
}

/* An accept without for any speaks of our own domains: of another one it lets
 * nobody in. */
static void
check_relayed(struct conf_loader *loader, const struct conf_rule *rule)
{
	struct arena *arena = loader->conf->arena;
	struct slice domain;

	if (rule->action != ACTION_ACCEPT || rule->for_any ||
	    rule->at.file == NULL || rule->patterns[PATTERN_RCPT] == NULL)
		return;
	domain = slice_lower(arena,
	    pattern_domain(rule->patterns[PATTERN_RCPT]));
	if (domain.n == 0 || conf_domain_find(loader->conf, domain) != NULL)
		return;
	doubt_tell(loader, rule->at, 6, "write for any at its end, or name "
	    "it in a domain statement", arena_printf(arena, "'" SLICE_FMT
	    "' is no domain of ours, and mail for others is not relayed by "
	    "this", SLICE_ARG(domain)));
}

static void
check_relaying(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	if (conf_domain_table(conf, 0, NULL) != NULL)
		return;			/* a database knows */
	for (size_t i = 0; i < conf->rule_count; i++)
		check_relayed(loader, &conf->rules[i]);
}

/* ---- channels ------------------------------------------------------- */

static bool
has_command(const struct conf *conf, const char *channel)
{
	for (size_t i = 0; i < conf->schedule_count; i++)
		if (conf->schedules[i].command != NULL &&
		    glob_match(slice_of(conf->schedules[i].channel),
		    slice_of(channel)))
			return true;
	return conf_channel_agent(channel) != NULL;
}

static void
check_clause_channel(struct conf_loader *loader,
    const struct conf_schedule *clause)
{
	struct guess guess = { .word = slice_of(clause->channel) };
	struct str names = STR_INIT;
	const char *hint;

	/* scheduler.conf of ZMailer names many that are not used here */
	if (strpbrk(clause->channel, "*?") != NULL ||
	    has_command(loader->conf, clause->channel) ||
	    !slice_starts(slice_from(conf_line_of(loader->book, clause->at),
	    clause->at.column - 1), "schedule"))
		return;
	for (size_t i = 0; conf_channel_name(i) != NULL; i++) {
		guess_offer(&guess, conf_channel_name(i));
		str_addf(&names, " %s", conf_channel_name(i));
	}
	hint = guess_hint(&guess, loader->conf->arena);
	if (hint == NULL)
		hint = arena_printf(loader->conf->arena, "write command "
		    "\"PROGRAM\" into its { }, or one of%s", names.buf);
	str_release(&names);
	doubt_tell(loader, clause->at, 8, hint,
	    arena_printf(loader->conf->arena,
		"no agent serves the channel '%s'", clause->channel));
}

static void
check_route_channels(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; i < conf->route_count; i++) {
		const struct conf_route *route = &conf->routes[i];

		if (route->table != NULL || has_command(conf, route->channel))
			continue;
		doubt_tell(loader, route->at, 5, arena_printf(conf->arena,
		    "add: schedule %s/* { command \"PROGRAM\" }",
		    route->channel), arena_printf(conf->arena,
		    "no agent serves the channel '%s'", route->channel));
	}
}

/* ---- waits ---------------------------------------------------------- */

/* The age at which the last wait that is listed would be over. */
static int64_t
retries_sum(const struct conf_schedule *clause, size_t count)
{
	int64_t sum_s = 0;

	for (size_t i = 0; i < count; i++)
		sum_s += clause->retry_s[i];
	return sum_s;
}

static void
check_expire(struct conf_loader *loader, size_t index)
{
	const struct conf_schedule *clause = &loader->conf->schedules[index];
	struct arena *arena = loader->conf->arena;
	size_t count = 0;

	if (!conf_clause_said(loader, index, "expire") ||
	    !conf_clause_said(loader, index, "retry") ||
	    clause->retry_count == 0)
		return;
	while (count < clause->retry_count &&
	    retries_sum(clause, count + 1) < clause->expire_s)
		count++;
	if (count == clause->retry_count)
		return;
	doubt_tell(loader, clause->at, 8, arena_printf(arena,
	    "write an expire of more than %s, or shorter waits",
	    doubt_span(loader, retries_sum(clause, clause->retry_count))),
	    arena_printf(arena, "mail is given up after %s, before its wait "
	    "of %s is over: %s", doubt_span(loader, clause->expire_s),
	    doubt_span(loader, clause->retry_s[count]), count == 0 ?
	    "it is tried once" : "it is never used in full"));
}

static void
check_warn(struct conf_loader *loader, size_t index)
{
	const struct conf_schedule *clause = &loader->conf->schedules[index];
	struct arena *arena = loader->conf->arena;
	int64_t last_s;

	if (!conf_clause_said(loader, index, "warn") ||
	    clause->warn_count == 0)
		return;
	last_s = clause->warn_s[clause->warn_count - 1];
	if (last_s < clause->expire_s)
		return;
	doubt_tell(loader, clause->at, 8, arena_printf(arena, "write a warn "
	    "of less than %s", doubt_span(loader, clause->expire_s)),
	    arena_printf(arena, "nobody is told after %s: mail is given up "
	    "after %s", doubt_span(loader, last_s),
	    doubt_span(loader, clause->expire_s)));
}

static void
check_clauses(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;
	char when[CLOCK_TEXT_BYTES];

	for (size_t i = 0; i < conf->schedule_count; i++) {
		const struct conf_schedule *clause = &conf->schedules[i];

		if (clause->at.file == NULL)
			break;
		check_clause_channel(loader, clause);
		if (clause->until_s != 0 &&
		    clause->until_s <= clock_wall_s()) {
			clock_local(clause->until_s, when);
			doubt_tell(loader, clause->at, 8, "delete it, or "
			    "write a moment to come after until",
			    arena_printf(conf->arena, "this was over at %s: "
			    "it is as if it did not stand here", when));
			continue;
		}
		check_expire(loader, i);
		check_warn(loader, i);
	}
}

/* ---- listeners ------------------------------------------------------ */

static void
check_submission(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	if (conf->auth.kind != AUTH_NONE)
		return;
	for (size_t i = 0; i < conf->listen_count; i++) {
		const struct conf_listen *one = &conf->listens[i];

		if (!one->is_submission || one->is_optional ||
		    one->at.file == NULL)
			continue;
		doubt_tell(loader, one->at, 6, "add: auth users <table>, auth "
		    "dovecot unix:/PATH, auth pam or auth saslauthd unix:/PATH",
		    "nobody can log in here: there is no auth statement");
	}
}

/* Clients of port 465 say nothing before they have been encrypted. */
static void
check_smtps(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; i < conf->listen_count; i++) {
		const struct conf_listen *one = &conf->listens[i];

		if (one->at.file == NULL || one->is_tls || one->is_lmtp ||
		    one->address.ss_family == AF_UNIX ||
		    !slice_ends(slice_of(one->text), ":465"))
			continue;
		doubt_tell(loader, one->at, 6, "write listen 465 submission "
		    "tls", "clients of port 465 encrypt from the first byte, "
		    "and this listener does not");
		break;			/* IPv4 and IPv6 of one statement */
	}
}

/* Do others reach us, not this machine alone? */
static bool
is_public(const struct conf *conf)
{
	struct net net;

	for (size_t i = 0; i < conf->listen_count; i++) {
		const struct conf_listen *one = &conf->listens[i];

		if (one->address.ss_family == AF_UNIX)
			continue;
		net_of_sockaddr((const struct sockaddr *)&one->address, &net);
		if (!net_is_loopback(&net))
			return true;
	}
	return false;
}

static void
check_own_name(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;
	const struct conf_setting *setting = conf_setting_find("host",
	    SLICE(""));
	struct conf_at at = loader->book->setting_at[setting - conf_settings];
	struct net net;

	if (at.file != NULL &&
	    net_parse(slice_of(conf->host), &net, NULL) == 0) {
		doubt_tell(loader, at, 4, "write host NAME.DOMAIN, as "
		    "mx.example.org", arena_printf(conf->arena, "'%s' is an "
		    "address: many refuse who greets them with one",
		    conf->host));
		return;
	}
	if (at.file == NULL || conf_name_is_full(conf->host) ||
	    !is_public(conf))
		return;
	doubt_tell(loader, at, 4, "write host NAME.DOMAIN, as mx.example.org",
	    arena_printf(conf->arena, "'%s' has no domain: others cannot look "
	    "it up in the DNS, and many refuse mail from it", conf->host));
}

void
conf_check_doubts(struct conf_loader *loader)
{
	check_own_name(loader);
	check_submission(loader);
	check_smtps(loader);
	check_routes(loader);
	check_relaying(loader);
	check_route_channels(loader);
	check_clauses(loader);
}
