/* policy_spare.c - rules that are meant against strangers, and whom they meet
 *
 * In     rules
 * Out    whom each spares; lines for people about those that meet others
 * Spec   zmailer.conf(5), accept, strangers; doc/POLICY.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/part/part.h"

#include "base/banned.h"

/* Is it one that people mean against strangers, whatever else stands in it?
 * It remembers or counts who comes, asks others about them, or looks at how
 * a host presents itself, which the program of a user need not do well.  A
 * limit for a sender is about that sender, wherever the mail is from. */
static bool
rule_is_against_strangers(const struct conf_rule *rule)
{
	if (conf_rule_is_of_origin(rule))
		return true;
	if (rule->action == ACTION_ACCEPT)
		return false;
	return rule->service != NULL || rule->greylist.after_s > 0 ||
	    (rule->count.kind != COUNT_NOTHING &&
	    rule->patterns[PATTERN_SENDER] == NULL) || rule->sender_unknown ||
	    rule->patterns[PATTERN_HELO] != NULL ||
	    rule->patterns[PATTERN_NAME] != NULL ||
	    rule->patterns[PATTERN_LISTED] != NULL;
}

/* Of a net that holds all addresses nobody is named. */
static bool
rule_names_clients(const struct conf_rule *rule)
{
	static const struct net all_4 = {
		.bytes = { [10] = 0xff, [11] = 0xff }, .bits = 96 };

	return rule->from_table != NULL ||
	    (rule->has_from_net && !net_contains(&rule->from_net, &all_4)) ||
	    rule->patterns[PATTERN_CERT] != NULL ||
	    rule->patterns[PATTERN_ISSUER] != NULL;
}

static bool
rule_names_users(const struct conf_rule *rule)
{
	return rule->patterns[PATTERN_USER] != NULL ||
	    rule->patterns[PATTERN_OWNERS] != NULL ||
	    (rule->count.kind != COUNT_NOTHING &&
	    rule->count.key == COUNT_BY_USER);
}

void
conf_rule_spare(struct conf_rule *rule)
{
	bool spares = rule->clients == CLIENTS_STRANGERS ||
	    (rule->clients == CLIENTS_PRESET &&
	    rule_is_against_strangers(rule));
	bool is_said = rule->clients == CLIENTS_STRANGERS;

	rule->spares_users = spares && (is_said || !rule_names_users(rule));
	rule->spares_trusted = spares && (is_said ||
	    conf_rule_is_of_origin(rule) || !rule_names_clients(rule));
}

bool
conf_rule_trusts(const struct conf_rule *rule)
{
	return rule->action == ACTION_ACCEPT && rule->for_any &&
	    !rule->is_shadow && rule->clients == CLIENTS_PRESET &&
	    (rule_names_clients(rule) ||
	    rule->patterns[PATTERN_NAME] != NULL) &&
	    rule->patterns[PATTERN_RCPT] == NULL;
}
