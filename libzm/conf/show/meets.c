/* meets.c - which rules users and trusted clients can meet
 *
 * In     a conf
 * Out    places of rules, for a note of `zmailer check`
 * Holds  nothing
 * Spec   zmailer.conf(5), accept, strangers
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/show/show.h"

#include "base/banned.h"

enum { MEETS_BYTES = 300 };	/* a note is no list of all rules */

static const struct net meets_loopback = {
	{ [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 }, 128 };
static const struct net meets_loopback_4 = {
	{ [10] = 0xff, [11] = 0xff, [12] = 127 }, 96 + 8 };
static const struct net meets_loopback_6 = { { [15] = 1 }, 128 };

/* Nothing in it but who logged in, or that it comes from here. */
static bool
meets_lets_all(const struct conf_rule *rule, const char *user)
{
	struct conf_rule bare = { .action = ACTION_ACCEPT, .for_any = true,
	    .has_from_net = user == NULL, .from_net = meets_loopback };

	bare.patterns[PATTERN_USER] = user;
	return rule->action == ACTION_ACCEPT && rule->for_any &&
	    conf_rule_covers(rule, &bare);
}

/* Who writes 127.0.0.1, or everybody, means it. */
static bool
meets_is_meant(const struct conf_rule *rule)
{
	return rule->clients == CLIENTS_EVERYBODY || (rule->has_from_net &&
	    (net_contains(&meets_loopback_4, &rule->from_net) ||
	    net_contains(&meets_loopback_6, &rule->from_net)));
}

/* A rule that speaks of users by name was meant for them. */
static bool
meets_users(const struct conf *conf, const struct conf_rule *rule)
{
	return conf->auth.kind != AUTH_NONE && !rule->spares_users &&
	    rule->patterns[PATTERN_USER] == NULL &&
	    rule->patterns[PATTERN_OWNERS] == NULL &&
	    (rule->count.kind == COUNT_NOTHING ||
	    rule->count.key != COUNT_BY_USER);
}

/* Of a table nobody knows who is in it. */
static bool
meets_trusted(const struct conf *conf, const struct conf_rule *rule)
{
	const char *user = rule->patterns[PATTERN_USER];

	if (rule->spares_trusted || (user != NULL &&
	    strcmp(user, "none") != 0) || rule->from_table != NULL)
		return false;
	if (!rule->has_from_net ||
	    net_contains(&rule->from_net, &meets_loopback) ||
	    net_contains(&meets_loopback, &rule->from_net))
		return true;
	for (size_t i = 0; i < conf->rule_count; i++)
		if (conf_rule_trusts(&conf->rules[i]) &&
		    conf->rules[i].has_from_net &&
		    (net_contains(&conf->rules[i].from_net, &rule->from_net) ||
		    net_contains(&rule->from_net, &conf->rules[i].from_net)))
			return true;
	return false;
}

static void
meets_add_place(struct str *out, const struct conf_rule *rule)
{
	const char *base = strrchr(rule->at.file, '/');

	if (out->len > MEETS_BYTES) {
		if (!slice_ends(str_slice(out), "..."))
			str_adds(out, " ...");
		return;
	}

	str_addf(out, "%s%s:%u", out->len > 0 ? ", " : "", base != NULL ?
	    base + 1 : rule->at.file, rule->at.line);
}

void
conf_rules_meet(const struct conf *conf, struct str *out_users,
    struct str *out_trusted)
{
	bool users_done = false, trusted_done = false;

	for (size_t i = 0; i < conf->rule_count; i++) {
		const struct conf_rule *rule = &conf->rules[i];

		if (rule->at.file == NULL)
			break;
		users_done |= meets_lets_all(rule, "any");
		trusted_done |= meets_lets_all(rule, NULL);
		if (rule->action == ACTION_ACCEPT || meets_is_meant(rule))
			continue;
		if (!users_done && meets_users(conf, rule))
			meets_add_place(out_users, rule);
		if (!trusted_done && meets_trusted(conf, rule))
			meets_add_place(out_trusted, rule);
	}
}
