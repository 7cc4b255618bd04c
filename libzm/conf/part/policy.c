/* policy.c - rules over mail, and the lists they ask about
 *
 * In     statements that agree with their rows (statements/policy.h)
 * Out    conf->rules, conf->dnsbls; complaints
 * Spec   zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/siphash.h"
#include "conf/part/part.h"

#include "base/banned.h"

enum {				/* keywords, as in RULE_WORDS */
	WORD_SHADOW, WORD_FROM, WORD_NAME, WORD_HELO, WORD_LISTENER,
	WORD_TLS, WORD_AUTH, WORD_USER, WORD_SENDER, WORD_TO, WORD_SIZE,
	WORD_LISTED, WORD_SENDER_UNKNOWN, WORD_UNTIL, WORD_CERT, WORD_ISSUER,
	WORD_NOT_OWNER, WORD_STRANGERS, WORD_EVERYBODY, WORD_LAST,
	/* ORIGIN_WORDS, of some */
	WORD_SPF = WORD_LAST, WORD_DKIM, WORD_DMARC, WORD_DMARC_POLICY,
	WORD_DKIM2, WORD_ORIGIN_LAST
};

enum {
	GREYLIST_AFTER_S = 5 * 60,
	GREYLIST_WITHIN_S = 2 * 86400,
	GREYLIST_KEEP_S = 35 * 86400
};

static const unsigned char pattern_places[PATTERN_COUNT] = {
	[PATTERN_NAME] = WORD_NAME, [PATTERN_HELO] = WORD_HELO,
	[PATTERN_LISTENER] = WORD_LISTENER, [PATTERN_USER] = WORD_USER,
	[PATTERN_SENDER] = WORD_SENDER, [PATTERN_RCPT] = WORD_TO,
	[PATTERN_LISTED] = WORD_LISTED, [PATTERN_CERT] = WORD_CERT,
	[PATTERN_ISSUER] = WORD_ISSUER, [PATTERN_OWNERS] = WORD_NOT_OWNER,
	[PATTERN_SPF] = WORD_SPF, [PATTERN_DKIM] = WORD_DKIM,
	[PATTERN_DMARC] = WORD_DMARC,
	[PATTERN_DMARC_POLICY] = WORD_DMARC_POLICY, [PATTERN_DKIM2] = WORD_DKIM2
};

static bool
is_said(const struct conf_value *word)
{
	return word->token != NULL;
}

static void
complain_words(struct conf_loader *loader, const struct conf_value *words)
{
	if (is_said(&words[WORD_STRANGERS]) && is_said(&words[WORD_EVERYBODY]))
		conf_complain(loader, CONF_ERROR, words[WORD_EVERYBODY].token,
		    "leave one of them out", "strangers are not everybody");
	if (is_said(&words[WORD_STRANGERS]) && (is_said(&words[WORD_AUTH]) ||
	    (words[WORD_USER].text != NULL &&
	    strcmp(words[WORD_USER].text, "none") != 0)))
		conf_complain(loader, CONF_ERROR, words[WORD_STRANGERS].token,
		    "leave one of them out",
		    "who logged in is no stranger: the rule never fits");
	if (is_said(&words[WORD_AUTH]) && is_said(&words[WORD_USER]))
		conf_complain(loader, CONF_ERROR, words[WORD_AUTH].token,
		    "leave one of them out", "auth means user any");
}

/* patterns: how many of them its row has. */
static struct conf_rule
rule_make_of(const struct conf_statement *statement, enum conf_action action,
    int patterns)
{
	const struct conf_value *words = statement->keywords;
	struct conf_rule rule = {
		.word = statement->row->name,
		.action = action,
		.is_shadow = is_said(&words[WORD_SHADOW]),
		.clients = is_said(&words[WORD_STRANGERS]) ?
		    CLIENTS_STRANGERS : is_said(&words[WORD_EVERYBODY]) ?
		    CLIENTS_EVERYBODY : CLIENTS_PRESET,
		.from_table = words[WORD_FROM].table,
		.from_net = words[WORD_FROM].net,
		.has_from_net = words[WORD_FROM].text != NULL &&
		    strcmp(words[WORD_FROM].text, "any") != 0,
		.tls = !is_said(&words[WORD_TLS]) ? TLS_EITHER :
		    words[WORD_TLS].number == 0 ? TLS_YES : TLS_NO,
		.over_bytes = words[WORD_SIZE].number,
		.sender_unknown = is_said(&words[WORD_SENDER_UNKNOWN]),
		.until_s = (int64_t)words[WORD_UNTIL].number,
		.at = conf_at(&statement->node->tokens[0]),
	};

	for (int i = 0; i < patterns; i++)
		rule.patterns[i] = words[pattern_places[i]].text;
	if (is_said(&words[WORD_AUTH]))
		rule.patterns[PATTERN_USER] = "any";
	return rule;
}

static struct conf_rule
rule_make(const struct conf_statement *statement, enum conf_action action)
{
	return rule_make_of(statement, action, PATTERN_SPF);
}

/* Those whose counters would be its own without a number. */
static unsigned
counting_before(const struct conf *conf, const struct conf_rule *rule)
{
	unsigned count = 0;

	if (rule->count.kind == COUNT_NOTHING)
		return 0;
	for (size_t i = 0; i < conf->rule_count; i++)
		count += conf->rules[i].count.kind != COUNT_NOTHING &&
		    conf->rules[i].at.line == rule->at.line;
	return count;
}

static void
policy_rule_add(struct conf_loader *loader, const struct conf_rule *rule)
{
	struct conf *conf = loader->conf;
	unsigned before = counting_before(conf, rule);

	conf->rules = arena_grow(conf->arena, conf->rules, conf->rule_count,
	    sizeof(*conf->rules));
	conf->rules[conf->rule_count] = *rule;
	conf->rules[conf->rule_count].count.before = before;
	conf_rule_spare(&conf->rules[conf->rule_count++]);
}

void
conf_apply_accept(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_rule rule = rule_make_of(statement, ACTION_ACCEPT,
	    PATTERN_COUNT);

	complain_words(loader, statement->keywords);
	rule.for_any = is_said(&statement->keywords[WORD_ORIGIN_LAST]);
	policy_rule_add(loader, &rule);
}

static void
apply_refusal(struct conf_loader *loader,
    const struct conf_statement *statement, enum conf_action action)
{
	const struct conf_value *rest =
	    &statement->keywords[WORD_ORIGIN_LAST];
	struct conf_rule rule = rule_make_of(statement, action,
	    PATTERN_COUNT);

	complain_words(loader, statement->keywords);
	rule.text = rest[0].text;
	rule.delay_ms = (int64_t)rest[1].number;
	policy_rule_add(loader, &rule);
}

void
conf_apply_reject(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	apply_refusal(loader, statement, ACTION_REJECT);
}

void
conf_apply_defer(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	apply_refusal(loader, statement, ACTION_DEFER);
}

void
conf_apply_freeze(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_rule rule = rule_make_of(statement, ACTION_FREEZE,
	    PATTERN_COUNT);

	complain_words(loader, statement->keywords);
	policy_rule_add(loader, &rule);
}

/* What else a counting rule does: `else` of its row. */
static enum conf_action
else_action(const struct conf_value *word)
{
	static const enum conf_action actions[] = {
		ACTION_DEFER, ACTION_REJECT, ACTION_FREEZE
	};

	return is_said(word) ? actions[word->number] : ACTION_DEFER;
}

/* Which machines count together by: what the rule says, not where it stands
 * in their files. */
static uint32_t
shared_id_of(const struct conf_rule *rule)
{
	static const struct siphash_key key = { 0, 0 };
	struct str text = STR_INIT;
	struct siphash sum;

	conf_rule_add(&text, rule);
	sum = siphash(&key, str_slice(&text));
	str_release(&text);
	return (uint32_t)sum.low;
}

void
conf_apply_limit_rate(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf_rule rule = rule_make(statement,
	    else_action(&words[WORD_LAST + 2]));

	complain_words(loader, words);
	rule.count = (struct conf_count){
		.kind = COUNT_RATE,
		.max = statement->args[0].number,
		.span_ms = statement->args[0].span_ms,
		.key = (enum conf_key)words[WORD_LAST].number,
		.of_messages = words[WORD_LAST + 1].number == 1,
		.is_shared = is_said(&words[WORD_LAST + 4]),
	};
	rule.text = words[WORD_LAST + 3].text;
	if (rule.count.is_shared)
		rule.count.shared_id = shared_id_of(&rule);
	if (rule.count.max == 0)
		conf_complain(loader, CONF_ERROR, statement->args[0].token,
		    "reject refuses all", "a rate of 0 is no limit");
	else
		policy_rule_add(loader, &rule);
}

void
conf_apply_limit_parallel(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf_rule rule = rule_make(statement,
	    else_action(&words[WORD_LAST + 2]));
	bool of_sessions = words[WORD_LAST + 1].number == 1;

	complain_words(loader, words);
	rule.count = (struct conf_count){
		.kind = COUNT_PARALLEL,
		.max = statement->args[0].number,
		.key = (enum conf_key)words[WORD_LAST].number,
		.of_messages = !of_sessions,
		.of_sessions = of_sessions,
		.is_shared = is_said(&words[WORD_LAST + 4]),
	};
	rule.text = words[WORD_LAST + 3].text;
	if (rule.count.is_shared)
		rule.count.shared_id = shared_id_of(&rule);
	policy_rule_add(loader, &rule);
}

static int64_t
rule_seconds(const struct conf_value *span, int64_t preset_s)
{
	return is_said(span) ? (int64_t)span->number / 1000 : preset_s;
}

void
conf_apply_greylist(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = &statement->keywords[WORD_LAST];
	struct conf_rule rule = rule_make(statement, ACTION_DEFER);

	complain_words(loader, statement->keywords);
	rule.greylist = (struct conf_greylist){
		.after_s = rule_seconds(&words[0], GREYLIST_AFTER_S),
		.within_s = rule_seconds(&words[1], GREYLIST_WITHIN_S),
		.keep_s = rule_seconds(&words[2], GREYLIST_KEEP_S),
		.is_shared = is_said(&words[4]),
	};
	rule.text = words[3].text;
	if (rule.greylist.after_s >= rule.greylist.within_s)
		conf_complain(loader, CONF_ERROR,
		    &statement->node->tokens[0], "within is when it may be "
		    "tried again at the latest",
		    "'after' must be less than 'within'");
	else
		policy_rule_add(loader, &rule);
}

void
conf_apply_policy_service(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_rule rule = rule_make(statement, ACTION_SERVICE);

	complain_words(loader, statement->keywords);
	rule.service = statement->args[0].text;
	rule.service_optional = statement->keywords[WORD_LAST].number == 1;
	if (!conf_is_socket(rule.service))
		conf_complain_socket(loader, statement->args[0].token);
	else
		policy_rule_add(loader, &rule);
}

/* ---- lists ------------------------------------------------------------ */

static void
dnsbl_add(struct conf_loader *loader, const struct conf_statement *statement,
    int sign)
{
	const struct conf_value *answer = &statement->keywords[0],
	    *weight = &statement->keywords[1];
	struct conf *conf = loader->conf;
	struct conf_dnsbl list = {
		.zone = statement->args[0].text,
		.weight = sign * (is_said(weight) ? (int)weight->number : 1),
		.answer = answer->net,
		.has_answer = is_said(answer),
		.at = conf_at(&statement->node->tokens[0]),
	};

	if (answer->table != NULL) {
		conf_complain(loader, CONF_ERROR, answer->token, NULL,
		    "answers of a list are a network, not a table");
		return;
	}
	conf->dnsbls = arena_grow(conf->arena, conf->dnsbls,
	    conf->dnsbl_count, sizeof(*conf->dnsbls));
	conf->dnsbls[conf->dnsbl_count++] = list;
}

void
conf_apply_dnsbl(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	dnsbl_add(loader, statement, 1);
}

void
conf_apply_dnswl(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	dnsbl_add(loader, statement, -1);
}

static bool
has_zone(const struct conf *conf, const char *listed)
{
	uint64_t sum;

	if (slice_number(slice_of(listed), 1, UINT32_MAX, &sum))
		return conf->dnsbl_count > 0;
	for (size_t i = 0; i < conf->dnsbl_count; i++)
		if (strcmp(conf->dnsbls[i].zone, listed) == 0)
			return true;
	return false;
}

void
conf_check_zones(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; i < conf->rule_count; i++) {
		const struct conf_rule *rule = &conf->rules[i];
		const char *listed = rule->patterns[PATTERN_LISTED];

		if (listed == NULL || has_zone(conf, listed))
			continue;
		conf_complain_at(loader->report, loader->report_arena,
		    loader->book, CONF_ERROR, rule->at,
		    (unsigned)strlen(rule->word),
		    "add a line: dnsbl ZONE", arena_printf(
		    loader->report_arena, "listed %s: there is no such list",
		    listed));
	}
}
