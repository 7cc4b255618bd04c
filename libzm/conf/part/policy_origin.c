/* policy_origin.c - rules that ask whose mail a message is
 *
 * In     rules, when all was read
 * Out    complaints about those that never fit, or whose answer comes too late
 * Holds  nothing
 * Spec   zmailer.conf(5), accept, spf; doc/AUTH.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"

#include "base/banned.h"

bool
conf_rule_is_of_origin(const struct conf_rule *rule)
{
	for (int i = PATTERN_SPF; i <= PATTERN_DKIM2; i++)
		if (rule->patterns[i] != NULL)
			return true;
	return false;
}

/* Only strangers' mail is judged. */
static bool
origin_rule_is_of_users(const struct conf_rule *rule)
{
	const char *user = rule->patterns[PATTERN_USER];

	return rule->clients == CLIENTS_EVERYBODY ||
	    (user != NULL && strcmp(user, "none") != 0) ||
	    rule->patterns[PATTERN_OWNERS] != NULL;
}

static void
origin_rule_check(struct conf_loader *loader, const struct conf_rule *rule,
    unsigned before)
{
	const char *hint = NULL, *text = NULL;

	if (!loader->conf->verifies_origin) {
		hint = "add a line: verify-origin yes";
		text = "whose mail it is, nobody judges here";
	} else if (rule->patterns[PATTERN_DKIM2] != NULL &&
	    loader->conf->verifies_origin != JUDGES_DKIM2) {
		hint = "write: verify-origin dkim2";
		text = "DKIM2 is not checked here: the rule never fits";
	} else if (rule->for_any) {
		hint = "say who may relay by from, cert or auth";
		text = "who may relay must be known before the message comes";
	} else if (origin_rule_is_of_users(rule)) {
		hint = "leave everybody, auth, user and not-owner out";
		text = "only strangers' mail is judged: the rule never fits";
	} else if (before == POLICY_LATE_MAX) {
		hint = "write fewer of them";
		text = arena_printf(loader->report_arena, "more than %u rules "
		    "with spf, dkim, dmarc, policy or dkim2",
		    (unsigned)POLICY_LATE_MAX);
	}
	if (text != NULL)
		conf_complain_at(loader->report, loader->report_arena,
		    loader->book, CONF_ERROR, rule->at,
		    (unsigned)strlen(rule->word), hint, text);
}

/* What counts on it that somebody judges. */
static void
origin_check_judged(struct conf_loader *loader, struct conf_at at,
    const char *word)
{
	if (at.file != NULL && !loader->conf->verifies_origin)
		conf_complain_at(loader->report, loader->report_arena,
		    loader->book, CONF_ERROR, at, (unsigned)strlen(word),
		    "add a line: verify-origin yes",
		    "whose mail it is, nobody judges here");
}

void
conf_check_origin_rules(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;
	const struct conf_setting *reports = conf_setting_find(
	    "dmarc-reports", SLICE(""));
	unsigned count = 0;

	if (conf->arc_domain_count > 0)
		origin_check_judged(loader, conf->arc_at, "trust");
	if (conf->dmarc_reports != NULL && *conf->dmarc_reports != '\0')
		origin_check_judged(loader, loader->book->setting_at[reports -
		    conf_settings], "dmarc-reports");
	for (size_t i = 0; i < conf->rule_count; i++)
		if (conf_rule_is_of_origin(&conf->rules[i]))
			origin_rule_check(loader, &conf->rules[i], count++);
}
