/* reach.c - statements that cannot mean what was meant
 *
 * In     a conf that is otherwise complete
 * Out    errors: tables that are not there; warnings: rules, routes and
 *        clauses that can never match, an open relay, trust in strangers
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"
#include "grammar/units.h"
#include "mail/table/table.h"

#include "base/banned.h"

static void
reference_check(struct conf_loader *loader,
    const struct conf_reference *reference, const struct conf_table *row)
{
	if (reference->must_be != NULL && table_spec_is_asked(row->spec))
		conf_complain(loader, CONF_ERROR, reference->token,
		    "write its rows into a file: file:/PATH, cdb:/PATH",
		    "table <%s> is in a database: here %s", row->name,
		    reference->must_be);
}

void
conf_check_references(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; i < loader->reference_count; i++) {
		const struct conf_token *token = loader->references[i].token;
		struct guess guess = { .word = token->text };
		const char *name = slice_dup(conf->arena, token->text);
		const struct conf_table *row;
		const char *hint;

		row = conf_table_find(conf, name);
		if (row != NULL) {
			reference_check(loader, &loader->references[i], row);
			continue;
		}
		for (size_t k = 0; k < conf->table_count; k++)
			guess_offer(&guess, conf->tables[k].name);
		hint = guess_hint(&guess, conf->arena);
		conf_complain(loader, CONF_ERROR, token, hint ? hint :
		    arena_printf(conf->arena, "table %s file:/PATH makes one",
		    name), "no table is called <%s>", name);
	}
}

/* "line 31 can never match: line 24 matches everything". */
static void
warn_shadowed(struct conf_loader *loader, struct conf_at at,
    struct conf_at by, bool is_everything)
{
	struct arena *arena = loader->conf->arena;
	bool is_same = strcmp(at.file, by.file) == 0;

	conf_complain_at(loader->report, loader->report_arena, loader->book,
	    CONF_WARNING, at, 1, arena_printf(arena, "the first match in the "
	    "file wins: write it above line %u%s%s, or delete it", by.line,
	    is_same ? "" : " of ", is_same ? "" : by.file),
	    arena_printf(arena, "line %u can never match: line %u%s%s matches "
	    "%s", at.line, by.line, is_same ? "" : " of ", is_same ? "" :
	    by.file, is_everything ? "everything" : "all that it does"));
}

static bool
has_no_condition(const struct conf_rule *rule)
{
	static const struct conf_rule none = { .for_any = true };

	return rule->action != ACTION_ACCEPT || rule->for_any ?
	    conf_rule_covers(rule, &none) : false;
}

bool
conf_net_is_wide(const struct net *net)
{
	static const struct net
	    all_4 = { { [10] = 0xff, [11] = 0xff }, 96 },
	    local = { { 0xfc }, 7 };

	if (net_contains(&all_4, net))
		return net->bits < 96 + 8;
	return net->bits < 16 && !net_contains(&local, net);
}

bool
conf_rule_serves_clients(const struct conf_rule *rule)
{
	const char *rcpt = rule->patterns[PATTERN_RCPT];

	if (rule->action != ACTION_ACCEPT || rule->is_shadow ||
	    rule->patterns[PATTERN_NAME] || rule->patterns[PATTERN_USER] ||
	    rule->patterns[PATTERN_LISTED] ||
	    rule->patterns[PATTERN_LISTENER] || rule->patterns[PATTERN_CERT] ||
	    rule->patterns[PATTERN_ISSUER])
		return false;
	if (rcpt == NULL)
		return rule->for_any;
	return strspn(rcpt, "*@") == strlen(rcpt);
}

/* Would anybody on the net be served by this rule, whatever the address? */
static bool
is_open_relay(const struct conf_rule *rule)
{
	return conf_rule_serves_clients(rule) && rule->from_table == NULL &&
	    (!rule->has_from_net || conf_net_is_wide(&rule->from_net));
}

static void
check_rules(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;
	const struct conf_rule *rules = conf->rules;

	for (size_t i = 0; i < conf->rule_count; i++) {
		if (rules[i].at.file == NULL)
			break;
		for (size_t k = 0; k < i; k++)
			if (conf_rule_covers(&rules[k], &rules[i])) {
				warn_shadowed(loader, rules[i].at,
				    rules[k].at, has_no_condition(&rules[k]));
				break;
			}
		if (is_open_relay(&rules[i]))
			conf_complain_at(loader->report,
			    loader->report_arena, loader->book, CONF_WARNING,
			    rules[i].at, 6, "say who: accept from NET for any",
			    rules[i].patterns[PATTERN_SENDER] ? "anybody "
			    "who writes this sender may relay through this "
			    "host" : "this is an open "
			    "relay: anybody may send mail to anywhere through "
			    "this host");
	}
}

/* What strangers make of a word of trust. */
static const struct {
	unsigned	 words;		/* 1 << enum conf_trust_word */
	const char	*hint, *text;
} trust_dangers[] = {
	/* who may say that he is another is one that the rules let relay */
	{ 1u << TRUST_PROXY | 1u << TRUST_XCLIENT | 1u << TRUST_AUTH,
	    "name the address of the proxy or gateway alone",
	    "anybody in this network may say that he is another client or "
	    "user, and relay through this host" },
	{ 1u << TRUST_SIGN,
	    "name the networks of your own machines alone",
	    "whatever anybody in this network sends in your name is signed" },
};

static void
reach_check_trust(struct conf_loader *loader, const struct conf_peers *peers)
{
	if (peers->at.file == NULL || peers->table != NULL ||
	    !conf_net_is_wide(&peers->net))
		return;
	for (size_t i = 0; i < sizeof(trust_dangers) /
	    sizeof(trust_dangers[0]); i++)
		if (peers->words & trust_dangers[i].words)
			conf_complain_at(loader->report, loader->report_arena,
			    loader->book, CONF_WARNING, peers->at, 5,
			    trust_dangers[i].hint, trust_dangers[i].text);
}

static void
reach_check_trusts(struct conf_loader *loader)
{
	for (size_t i = 0; i < loader->conf->trust_count; i++)
		reach_check_trust(loader, &loader->conf->trusts[i]);
}

/* A wide one without conditions, or both with the same. */
static bool
is_as_wide(const char *wide, const char *narrow)
{
	return wide == NULL || (narrow != NULL && strcmp(wide, narrow) == 0);
}

static bool
route_covers(const struct conf_route *wide, const struct conf_route *narrow)
{
	if (!is_as_wide(wide->sender, narrow->sender) ||
	    !is_as_wide(wide->user, narrow->user) ||
	    (wide->table != NULL && wide->by != narrow->by))
		return false;
	if (wide->table != NULL || narrow->table != NULL)
		return (wide->table == NULL &&
		    strcmp(wide->pattern, "*") == 0) ||
		    (wide->table != NULL && narrow->table != NULL &&
		    strcmp(wide->table, narrow->table) == 0);
	return strcmp(wide->pattern, narrow->pattern) == 0 ||
	    conf_route_covers(wide->pattern, slice_of(narrow->pattern));
}

static void
reach_check_routes(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 1; i < conf->route_count; i++)
		for (size_t k = 0; k < i; k++)
			if (route_covers(&conf->routes[k],
			    &conf->routes[i])) {
				warn_shadowed(loader, conf->routes[i].at,
				    conf->routes[k].at, strcmp(
				    conf->routes[k].pattern, "*") == 0);
				break;
			}
}

static void
check_schedules(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 1; i < conf->schedule_count; i++) {
		if (conf->schedules[i].at.file == NULL)
			break;
		for (size_t k = 0; k < i; k++)
			if (conf->schedules[k].until_s == 0 &&
			    conf_schedule_covers(&conf->schedules[k],
			    &conf->schedules[i])) {
				warn_shadowed(loader, conf->schedules[i].at,
				    conf->schedules[k].at, false);
				break;
			}
	}
}

enum { REACH_MAX = 5000 };	/* the comparison is quadratic */

void
conf_check_reach(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	conf_check_expansion(loader);
	conf_check_ways(loader);
	reach_check_trusts(loader);
	if (conf->rule_count <= REACH_MAX)
		check_rules(loader);
	if (conf->route_count <= REACH_MAX)
		reach_check_routes(loader);
	if (conf->schedule_count <= REACH_MAX)
		check_schedules(loader);
}
