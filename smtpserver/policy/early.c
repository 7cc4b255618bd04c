/* early.c - rules that can be decided before there is a recipient
 *
 * In     what is known when a client connects, says HELO, or MAIL
 * Out    a refusal, a question, or nothing yet
 * Holds  nothing
 * Trusts nothing: what is not known yet is taken to fit
 * Spec   policy.h; doc/POLICY.md; zmailer.conf(5), listen
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/policy/blocked.h"
#include "smtpserver/auth/blocks.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

/* The key of an open session's place, which is not known before a stage. */
static bool
is_key_known(enum conf_key key, enum policy_stage stage)
{
	switch (key) {
	case COUNT_BY_CLIENT:
	case COUNT_BY_NET:
	case COUNT_BY_ALL:
		return true;
	case COUNT_BY_USER:
	case COUNT_BY_SENDER:
	case COUNT_BY_SENDER_DOMAIN:
		return stage == POLICY_AT_MAIL;
	case COUNT_BY_RCPT:
	case COUNT_BY_DOMAIN:
		break;
	}
	return false;
}

/* Counters of messages and recipients have none to count yet; a greylist and
 * a service want a recipient. */
static bool
early_strip_memory(struct conf_rule *rule, enum policy_stage stage)
{
	bool is_whole = rule->service == NULL && rule->greylist.after_s == 0;

	rule->service = NULL;
	rule->greylist.after_s = 0;
	if (rule->count.kind != COUNT_NOTHING && (!rule->count.of_sessions ||
	    !is_key_known(rule->count.key, stage))) {
		rule->count.kind = COUNT_NOTHING;
		is_whole = false;
	}
	return is_whole;
}

static bool
early_strip_pattern(struct conf_rule *rule, int pattern)
{
	bool is_whole = rule->patterns[pattern] == NULL;

	rule->patterns[pattern] = NULL;
	return is_whole;
}

/* Might what the client says later bring it among those that the rule
 * spares? */
static bool
clients_may_change(struct trial *trial, const struct conf_rule *rule)
{
	const struct policy_question *question = trial->question;
	const struct conf *conf = trial->policy->conf;

	if (question->user.n > 0)
		return false;
	if (question->is_submission && spares_users(question, rule))
		return true;
	if (!rule->spares_trusted || question->is_encrypted)
		return false;
	for (size_t i = 0; i < conf->rule_count; i++)
		if (conf_rule_trusts(&conf->rules[i]) &&
		    (conf->rules[i].patterns[PATTERN_CERT] != NULL ||
		    conf->rules[i].patterns[PATTERN_ISSUER] != NULL))
			return true;
	return false;
}

/* Take off what a later command might bring; true: there was nothing. */
static bool
early_strip(struct trial *trial, struct conf_rule *rule,
    enum policy_stage stage)
{
	const struct policy_question *question = trial->question;
	bool is_whole = early_strip_memory(rule, stage);

	is_whole &= early_strip_pattern(rule, PATTERN_RCPT);
	for (int i = PATTERN_SPF; i <= PATTERN_DKIM2; i++)
		is_whole &= early_strip_pattern(rule, i);
	if (stage == POLICY_AT_MAIL)
		return is_whole;
	is_whole &= !clients_may_change(trial, rule);
	is_whole &= early_strip_pattern(rule, PATTERN_SENDER);
	is_whole &= early_strip_pattern(rule, PATTERN_OWNERS);
	is_whole &= !rule->sender_unknown && rule->over_bytes == 0;
	if (question->is_submission && stage != POLICY_AT_AUTH)
		is_whole &= early_strip_pattern(rule, PATTERN_USER);
	rule->sender_unknown = false;
	rule->over_bytes = 0;
	if (rule->tls != TLS_EITHER && !question->is_encrypted) {
		rule->tls = TLS_EITHER;		/* STARTTLS may come */
		is_whole = false;
	}
	if (!question->is_encrypted) {
		is_whole &= early_strip_pattern(rule, PATTERN_CERT);
		is_whole &= early_strip_pattern(rule, PATTERN_ISSUER);
	}
	if (stage == POLICY_AT_CONNECT)
		is_whole &= early_strip_pattern(rule, PATTERN_HELO);
	return is_whole;
}

/* Try one rule.  Returns true when there is no need to look at others. */
static bool
early_rule_try(struct trial *trial, const struct conf_rule *rule,
    enum policy_stage stage)
{
	struct policy_verdict *out = trial->out;
	struct conf_rule known = *rule;
	bool is_refusal = rule->action == ACTION_REJECT ||
	    rule->action == ACTION_DEFER;
	const char *why;

	if (rule->is_shadow)		/* noted at RCPT */
		return false;
	if (!early_strip(trial, &known, stage) && is_refusal)
		return false;		/* it refuses or does nothing */
	switch (rule_fit(trial, &known, &why)) {
	case FIT_NO:
		return false;
	case FIT_NEED:
		out->result = POLICY_NEED;
		return true;
	case FIT_LATE:
	case FIT_TROUBLE:		/* RCPT will tell */
		return true;
	case FIT_YES:
		break;
	}
	if (is_refusal) {
		out->result = rule->action == ACTION_REJECT ? POLICY_REJECT :
		    POLICY_DEFER;
		out->rule = rule;
	}
	return true;
}

void
policy_ask_early(struct policy *policy,
    const struct policy_question *question, enum policy_stage stage,
    struct policy_verdict *out)
{
	struct trial trial = { .policy = policy, .question = question,
	    .out = out };

	*out = (struct policy_verdict){ .result = POLICY_ACCEPT };
	arena_reset(policy->scratch);
	if (stage == POLICY_AT_MAIL)
		trial.sender = canonical_of(policy->scratch,
		    &question->sender);
	out->rule = blocked_by(&trial, stage == POLICY_AT_MAIL);
	if (out->rule != NULL) {
		out->result = POLICY_REJECT;
		return;
	}
	for (size_t i = 0; i < policy->conf->rule_count; i++)
		if (early_rule_try(&trial, &policy->conf->rules[i], stage))
			return;
}

/* ---- who may not log in -------------------------------------------------- */

bool
policy_may_bar(const struct policy *policy)
{
	if (blocks_has(BLOCKS_USERS))
		return true;
	for (size_t i = 0; i < policy->conf->rule_count; i++)
		if (policy->conf->rules[i].action == ACTION_REJECT &&
		    policy->conf->rules[i].patterns[PATTERN_USER] != NULL)
			return true;
	return false;
}

/* Does it decide about a user: bar, or let all through that come after? */
static bool
early_fits_user(struct trial *trial, const struct conf_rule *rule)
{
	struct conf_rule known = *rule;
	bool is_whole = early_strip(trial, &known, POLICY_AT_AUTH);
	const char *why;

	if (rule->is_shadow || (rule->action == ACTION_REJECT ?
	    rule->patterns[PATTERN_USER] == NULL || !is_whole :
	    rule->action != ACTION_ACCEPT))
		return false;
	return rule_fit(trial, &known, &why) == FIT_YES;
}

const struct conf_rule *
policy_bars_user(struct policy *policy, const struct policy_question *question,
    const char **out_words)
{
	struct policy_verdict verdict = { .result = POLICY_ACCEPT };
	struct trial trial = { .policy = policy, .question = question,
	    .out = &verdict };
	const struct conf *conf = policy->conf;
	const struct conf_rule *blocked;

	if (!policy_may_bar(policy) || question->user.n == 0)
		return NULL;
	arena_reset(policy->scratch);
	blocked = blocked_user(&trial);
	if (blocked != NULL) {
		*out_words = blocked->text;
		return blocked;
	}
	for (size_t i = 0; i < conf->rule_count; i++) {
		const struct conf_rule *rule = &conf->rules[i];

		if (!early_fits_user(&trial, rule))
			continue;
		*out_words = rule->text != NULL && rule->text[0] != '\0' ?
		    rule->text : "this account may not log in here";
		return rule->action == ACTION_REJECT ? rule : NULL;
	}
	return NULL;
}
