/* policy.c - who may send what to whom
 *
 * In     a client, a sender, a recipient, as parsed structs; facts
 * Out    a verdict that names the rule, or what must be known first
 * Holds  the tables of one configuration; a scratch arena
 * Trusts nothing in an address: it is compared in canonical form (local
 *        part without needless quotes, domain in lower case, source route
 *        gone), so that no spelling passes a rule by
 * Spec   RFC 5321 sections 3.6.2, 3.6.3, 4.5.1, 7.9
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/cache.h"
#include "base/mem.h"
#include "smtpserver/policy/blocked.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

struct policy *
policy_new(const struct conf *conf)
{
	struct policy *policy = mem_alloc(1, sizeof(*policy));

	policy->conf = conf;
	table_share(conf->run_dir, conf->limits.table_memory_bytes);
	policy->scratch = arena_new();
	policy->lent = cache_new(POLICY_LENT_MAX);
	policy->tables = mem_alloc(conf->table_count,
	    sizeof(*policy->tables));
	for (size_t i = 0; i < conf->table_count; i++)
		policy->tables[i] = table_new(conf->tables[i].name,
		    conf->tables[i].spec);
	return policy;
}

void
policy_free(struct policy **policy)
{
	struct policy *p = *policy;

	if (p == NULL)
		return;
	for (size_t i = 0; i < p->conf->table_count; i++)
		table_free(&p->tables[i]);
	mem_free(&p->tables);
	arena_free(&p->scratch);
	cache_free(&p->lent);
	mem_free(policy);
}

struct canonical
canonical_of(struct arena *arena, const struct path *path)
{
	struct canonical c = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };

	if (path_is_null(path))
		return c;
	c.local = path_local_plain(arena, path);
	c.domain = slice_lower(arena, path->domain);
	c.text = c.local;
	if (c.domain.n > 0) {
		char *text = arena_alloc(arena, c.local.n + c.domain.n + 2);

		if (c.local.n > 0)
			memcpy(text, c.local.p, c.local.n);
		text[c.local.n] = '@';
		memcpy(text + c.local.n + 1, c.domain.p, c.domain.n);
		c.text = (struct slice){ text, c.local.n + c.domain.n + 1 };
	}
	return c;
}

/* One rule that fits.  Returns true when it decided. */
static bool
rule_apply(const struct conf_rule *rule, bool is_ours,
    struct policy_verdict *out)
{
	switch (rule->action) {
	case ACTION_FREEZE:
		if (out->freeze == NULL)
			out->freeze = rule;
		if (!is_ours)
			return false;
		break;
	case ACTION_REJECT:
		out->result = POLICY_REJECT;
		out->rule = rule;
		return true;
	case ACTION_DEFER:
		out->result = POLICY_DEFER;
		out->rule = rule;
		return true;
	case ACTION_ACCEPT:
		if (!is_ours && !rule->for_any)
			return false;
		break;
	case ACTION_SERVICE:
		panic("policy: a service decides by its answer");
	}
	out->result = POLICY_ACCEPT;
	out->rule = rule;
	return true;
}

/* What a service said stands for a rule of that action. */
static bool
policy_apply_service(struct trial *trial, const struct conf_rule *rule,
    bool is_ours)
{
	static const enum conf_action actions[] = {
		[POLICYD_ACCEPT] = ACTION_ACCEPT,
		[POLICYD_REJECT] = ACTION_REJECT,
		[POLICYD_DEFER] = ACTION_DEFER,
		[POLICYD_FREEZE] = ACTION_FREEZE
	};
	const struct policyd_answer *service = &trial->service;
	struct policy_verdict *out = trial->out;
	const char *words = service->text.n > 0 ?
	    slice_dup(trial->policy->scratch, service->text) : NULL;
	struct conf_rule as = *rule;

	if (service->action == POLICYD_DEFER_IF_PERMIT) {
		if (trial->pending == NULL) {
			trial->pending = rule;
			trial->pending_words = words;
		}
		return false;
	}
	as.action = actions[service->action];
	if (!rule_apply(&as, is_ours, out)) {
		if (out->freeze == &as)
			out->freeze = rule;
		return false;
	}
	if (out->freeze == &as)
		out->freeze = rule;
	out->rule = rule;
	out->words = words;
	out->code = service->code;
	return true;
}

/* A refusal by a rule that fits names what SPF said, unless what it waits for
 * has words. */
static void
policy_say_spf(struct trial *trial, const struct conf_rule *rule)
{
	struct policy_verdict *out = trial->out;
	struct str words = STR_INIT;

	if (rule->patterns[PATTERN_SPF] == NULL ||
	    rule->greylist.after_s > 0 ||
	    (rule->action != ACTION_REJECT && rule->action != ACTION_DEFER))
		return;
	late_add_reply_spf(&words, rule, trial->spf, trial->spf_at);
	out->words = slice_dup(trial->policy->scratch, str_slice(&words));
	out->status = late_status(rule);
	out->code = rule->action == ACTION_DEFER ? 451 : 550;
	str_release(&words);
}

/* It fits but decides nothing. */
static void
policy_note_shadow(const struct conf_rule *rule, struct policy_verdict *out)
{
	if (out->shadow_count < POLICY_SHADOWS_MAX)
		out->shadows[out->shadow_count++] = rule;
}

/* Try one rule.  Returns true when the verdict is there. */
static bool
policy_rule_try(struct trial *trial, const struct conf_rule *rule, bool is_ours)
{
	const struct policy_question *question = trial->question;
	struct policy_verdict *out = trial->out;
	const char *why;
	enum fit fit = rule_fit(trial, rule, &why);

	if (question->trace != NULL && fit != FIT_NEED)
		question->trace(question->trace_context, rule,
		    fit == FIT_LATE ? "later" : why);
	switch (fit) {
	case FIT_NEED:
		out->result = POLICY_NEED;
		out->rule = rule;
		return true;
	case FIT_LATE:
		late_add(&out->late, rule, is_ours);
		return false;
	case FIT_TROUBLE:
		if (rule->is_shadow)
			return false;
		out->result = POLICY_TROUBLE;
		out->rule = rule;
		return true;
	case FIT_YES:
		if (!rule->is_shadow && rule->service != NULL)
			return policy_apply_service(trial, rule, is_ours);
		if (!rule->is_shadow) {
			policy_say_spf(trial, rule);
			return rule_apply(rule, is_ours, out);
		}
		policy_note_shadow(rule, out);
		return false;
	case FIT_NO:
		break;
	}
	return false;
}

static bool
rules_try(struct trial *trial, bool is_ours)
{
	const struct conf *conf = trial->policy->conf;

	for (size_t i = 0; i < conf->rule_count; i++)
		if (policy_rule_try(trial, &conf->rules[i], is_ours))
			return true;
	return false;
}

/* Whose is the recipient?  false: it is not known yet, or there is trouble,
 * as out->result says. */
static bool
policy_look_whose(struct trial *trial)
{
	struct policy_verdict *out = trial->out;
	const struct conf_domain *domain;

	out->is_ours = true;
	if (trial->rcpt.domain.n == 0)
		return true;
	switch (trial_domain(trial, trial->rcpt.domain, &domain)) {
	case FIT_YES:
		return true;
	case FIT_NEED:
		out->result = POLICY_NEED;
		return false;
	case FIT_TROUBLE:
		out->result = POLICY_TROUBLE;
		return false;
	case FIT_NO:
	case FIT_LATE:
		break;
	}
	out->is_ours = false;
	return true;
}

void
policy_ask(struct policy *policy, const struct policy_question *question,
    struct policy_verdict *out)
{
	struct trial trial = { .policy = policy, .question = question,
	    .out = out };
	bool is_ours;

	*out = (struct policy_verdict){ .result = POLICY_ACCEPT };
	arena_reset(policy->scratch);
	trial.sender = canonical_of(policy->scratch, &question->sender);
	trial.rcpt = canonical_of(policy->scratch, &question->rcpt);
	if (!policy_look_whose(&trial))
		return;
	is_ours = out->is_ours;
	if (is_ours && slice_is_nocase(trial.rcpt.local, "postmaster"))
		return;
	out->rule = blocked_by(&trial, true);
	if (out->rule != NULL) {
		out->result = POLICY_REJECT;
		return;
	}
	if (!rules_try(&trial, is_ours))
		out->result = is_ours ? POLICY_ACCEPT : POLICY_NO_RELAY;
	if (out->result == POLICY_ACCEPT && trial.pending != NULL) {
		out->result = POLICY_DEFER;
		out->rule = trial.pending;
		out->words = trial.pending_words;
		out->code = 0;
	}
	if (out->late.may_take && (out->result == POLICY_REJECT ||
	    out->result == POLICY_DEFER)) {
		out->held = out->result;
		out->held_rule = out->rule;
		out->result = POLICY_ACCEPT;
		out->rule = NULL;
	}
}

struct policy_verdict
policy_held(const struct policy_verdict *verdict)
{
	struct policy_verdict held = *verdict;

	held.result = verdict->held;
	held.rule = verdict->held_rule;
	return held;
}

/* Nothing but `from` stands in it. */
static bool
is_of_address_alone(const struct conf_rule *rule)
{
	struct conf_rule bare = { .action = rule->action,
	    .has_from_net = rule->has_from_net, .from_net = rule->from_net,
	    .from_table = rule->from_table, .for_any = true };

	return (rule->has_from_net || rule->from_table != NULL) &&
	    conf_rule_covers(rule, &bare);
}

bool
policy_knows(struct policy *policy, const struct net *client)
{
	struct policy_question question = { .client = *client };
	struct policy_verdict verdict = { .result = POLICY_ACCEPT };
	struct trial trial = { .policy = policy, .question = &question,
	    .out = &verdict };
	const char *why;

	for (size_t i = 0; i < policy->conf->rule_count; i++) {
		const struct conf_rule *rule = &policy->conf->rules[i];

		if (!is_of_address_alone(rule))
			continue;
		switch (rule_fit(&trial, rule, &why)) {
		case FIT_YES:
			return rule->action == ACTION_ACCEPT && rule->for_any;
		case FIT_TROUBLE:
			return false;
		case FIT_NO:
		case FIT_LATE:
		case FIT_NEED:
			break;
		}
	}
	return false;
}

bool
policy_trusts(struct policy *policy, const struct policy_question *question)
{
	struct policy_verdict verdict = { .result = POLICY_ACCEPT };
	struct trial trial = { .policy = policy, .question = question,
	    .out = &verdict };

	return fit_trusted(&trial) == FIT_YES;
}

void
policy_reply(const struct policy_verdict *verdict, struct policy_reply *out)
{
	const struct conf_rule *rule = verdict->rule;
	bool has_words = rule != NULL && rule->text != NULL &&
	    rule->text[0] != '\0';

	switch (verdict->result) {
	case POLICY_ACCEPT:
		*out = (struct policy_reply){ 250, "2.1.5", "recipient ok" };
		return;
	case POLICY_REJECT:
		*out = (struct policy_reply){ 550, "5.7.1",
		    "refused by local policy" };
		break;
	case POLICY_DEFER:
		*out = rule->greylist.after_s > 0 ? (struct policy_reply){
		    451, "4.7.1", "greylisted, try again later" } :
		    (struct policy_reply){ 450, "4.7.1",
		    "deferred by local policy, try later" };
		break;
	case POLICY_NO_RELAY:
		*out = (struct policy_reply){ 550, "5.7.1",
		    "we do not relay mail for this domain" };
		return;
	case POLICY_TROUBLE:
	case POLICY_NEED:
		*out = (struct policy_reply){ 451, "4.3.0",
		    "policy cannot be looked up now, try later" };
		return;
	}
	if (has_words)
		out->words = rule->text;
	if (verdict->words != NULL)
		out->words = verdict->words;
	if (verdict->code != 0)
		out->code = verdict->code;
	if (verdict->status != NULL)
		out->status = verdict->status;
}
