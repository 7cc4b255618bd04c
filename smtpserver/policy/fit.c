/* fit.c - does a rule fit
 *
 * In     a rule; what is known of the client, the session and the addresses
 * Out    yes, no, a need or trouble
 * Holds  nothing
 * Trusts nothing in an address or a name: they are compared in lower case,
 *        addresses in canonical form (policy.c)
 * Spec   zmailer.conf(5), accept
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "grammar/message/date.h"
#include "grammar/units.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

typedef enum fit fit_fn(struct trial *trial, const struct conf_rule *rule);

static const char dns_kind[] = "dns";

static enum fit
fit_condition(bool is_true)
{
	return is_true ? FIT_YES : FIT_NO;
}

/* ---- questions -------------------------------------------------------- */

static const char *
client_text(struct trial *trial)
{
	return client_net(trial, 4, 16);
}

static struct slice
question_of(struct trial *trial, const char *verb, struct slice what)
{
	return slice_of(arena_printf(trial->policy->scratch,
	    "%s " SLICE_FMT, verb, SLICE_ARG(what)));
}

/* ---- patterns --------------------------------------------------------- */

/* "<>", "@domain", or a glob over the whole address. */
static enum fit
address_fits(struct trial *trial, const char *pattern,
    const struct canonical *address)
{
	struct table *table = trial_table(trial, pattern);
	struct slice p = slice_of(pattern);

	if (table != NULL)
		return table_fits_address(trial, table, address);
	if (slice_is(p, "<>"))
		return fit_condition(address->text.n == 0);
	if (address->text.n == 0)
		return FIT_NO;
	if (p.n > 0 && p.p[0] == '@')
		return fit_condition(glob_match(slice_from(p, 1),
		    address->domain));
	return fit_condition(glob_match(p, address->text));
}

/* "mx.example.org", ".example.org" (all below), a glob, a table. */
static enum fit
name_fits(struct trial *trial, const char *pattern, struct slice name)
{
	struct table *table = trial_table(trial, pattern);
	struct slice p = slice_of(pattern);

	while (slice_ends(name, "."))
		name.n--;
	name = slice_lower(trial->policy->scratch, name);
	if (table != NULL)
		return table_fits_name(trial, table, name);
	if (p.n > 1 && p.p[0] == '.' && name.n > p.n)
		name = slice_from(name, name.n - p.n);
	return fit_condition(glob_match(p, name));
}

/* ---- conditions, cheap ones first ------------------------------------- */

static enum fit
fit_from(struct trial *trial, const struct conf_rule *rule)
{
	const struct net *client = &trial->question->client;
	struct slice value = { NULL, 0 };
	enum table_result result;
	struct table *table;

	if (rule->has_from_net && !net_contains(&rule->from_net, client))
		return FIT_NO;
	if (rule->from_table == NULL)
		return FIT_YES;
	table = policy_table(trial->policy, slice_of(rule->from_table));
	if (table == NULL) {
		err_set(&trial->out->err, "there is no table <%s>",
		    rule->from_table);
		return FIT_TROUBLE;
	}
	result = table_find_address(table, client, &value, NULL,
	    &trial->out->err);
	return fit_of_row(result, value);
}

static enum fit
fit_listener(struct trial *trial, const struct conf_rule *rule)
{
	struct slice pattern = slice_of(rule->patterns[PATTERN_LISTENER]);
	struct slice listener = trial->question->listener;

	if (slice_is(pattern, "submission"))
		return fit_condition(trial->question->is_submission);
	if (slice_starts(pattern, ":"))
		return fit_condition(listener.n > pattern.n &&
		    slice_equal(pattern,
		    slice_from(listener, listener.n - pattern.n)));
	return fit_condition(slice_equal(pattern, listener));
}

static enum fit
fit_tls(struct trial *trial, const struct conf_rule *rule)
{
	return fit_condition(rule->tls == TLS_EITHER ||
	    trial->question->is_encrypted == (rule->tls == TLS_YES));
}

static enum fit
fit_until(struct trial *trial, const struct conf_rule *rule)
{
	return fit_condition(rule->until_s == 0 ||
	    clock_wall_s() < rule->until_s);
}

static enum fit
fit_size(struct trial *trial, const struct conf_rule *rule)
{
	return fit_condition(rule->over_bytes == 0 ||
	    trial->question->size_bytes > rule->over_bytes);
}

static enum fit
fit_helo(struct trial *trial, const struct conf_rule *rule)
{
	const char *pattern = rule->patterns[PATTERN_HELO];
	const struct conf_domain *domain;
	struct slice helo = trial->question->helo;
	bool is_literal = slice_starts(helo, "[");

	if (slice_is(slice_of(pattern), "literal"))
		return fit_condition(is_literal);
	if (slice_is(slice_of(pattern), "unqualified"))
		return fit_condition(!is_literal &&
		    slice_find(helo, '.') == helo.n);
	if (slice_is(slice_of(pattern), "ours"))
		return slice_is_nocase(helo, trial->policy->conf->host) ?
		    FIT_YES : trial_domain(trial, slice_lower(
		    trial->policy->scratch, helo), &domain);
	return name_fits(trial, pattern, helo);
}

static enum fit
fit_sender(struct trial *trial, const struct conf_rule *rule)
{
	return address_fits(trial, rule->patterns[PATTERN_SENDER],
	    &trial->sender);
}

static enum fit
fit_rcpt(struct trial *trial, const struct conf_rule *rule)
{
	return address_fits(trial, rule->patterns[PATTERN_RCPT],
	    &trial->rcpt);
}

/* Confirmed in both directions; "-" in the answer: it has none. */
enum client_name
trial_name(struct trial *trial, struct slice *out_name)
{
	struct slice client = slice_of(client_text(trial));
	const struct fact *fact;

	*out_name = trial->question->name;
	if (out_name->n > 0)
		return slice_starts(*out_name, "[") ? CLIENT_NAME_NONE :
		    CLIENT_NAME_KNOWN;
	if (slice_is(client, "127.0.0.1") || slice_is(client, "::1")) {
		*out_name = SLICE("localhost");
		return CLIENT_NAME_KNOWN;
	}
	fact = fact_or_need(trial, dns_kind, question_of(trial, "name",
	    client), FACT_SESSION);
	if (fact == NULL)
		return CLIENT_NAME_NEED;
	*out_name = fact->answer;
	if (fact->state != ASK_TROUBLE)
		return slice_is(fact->answer, "-") ? CLIENT_NAME_NONE :
		    CLIENT_NAME_KNOWN;
	err_set(&trial->out->err, "the client's name: " SLICE_FMT,
	    SLICE_ARG(fact->answer));
	return CLIENT_NAME_TROUBLE;
}

static enum fit
fit_name(struct trial *trial, const struct conf_rule *rule)
{
	const char *pattern = rule->patterns[PATTERN_NAME];
	struct slice name;
	enum client_name found = trial_name(trial, &name);

	if (found == CLIENT_NAME_NEED)
		return FIT_NEED;
	if (found == CLIENT_NAME_TROUBLE)
		return FIT_TROUBLE;
	if (slice_is(slice_of(pattern), "none"))
		return fit_condition(found == CLIENT_NAME_NONE);
	return found == CLIENT_NAME_NONE ? FIT_NO :
	    name_fits(trial, pattern, name);
}

static enum fit
fit_sender_unknown(struct trial *trial, const struct conf_rule *rule)
{
	struct slice domain = trial->sender.domain;
	const struct conf_domain *ours;
	const struct fact *fact;
	enum fit is_ours;

	if (!rule->sender_unknown)
		return FIT_YES;
	if (domain.n == 0 || domain.p[0] == '[')
		return FIT_NO;
	is_ours = trial_domain(trial, domain, &ours);
	if (is_ours != FIT_NO)
		return is_ours == FIT_YES ? FIT_NO : is_ours;
	fact = fact_or_need(trial, dns_kind, question_of(trial, "mail",
	    domain), FACT_SESSION);
	if (fact == NULL)
		return FIT_NEED;
	if (fact->state == ASK_TROUBLE) {
		err_set(&trial->out->err, "the sender's domain: " SLICE_FMT,
		    SLICE_ARG(fact->answer));
		return FIT_TROUBLE;
	}
	return fit_condition(slice_is(fact->answer, "no"));
}

/* ---- rules against strangers --------------------------------------------- */

static bool
client_is_loopback(const struct net *client)
{
	static const struct net loopback[] = {
		{ { [10] = 0xff, [11] = 0xff, [12] = 127 }, 104 },
		{ { [15] = 1 }, 128 },
	};

	return net_contains(&loopback[0], client) ||
	    net_contains(&loopback[1], client);
}

enum fit
fit_trusted(struct trial *trial)
{
	const struct conf *conf = trial->policy->conf;
	const char *why;

	if (client_is_loopback(&trial->question->client))
		return FIT_YES;
	for (size_t i = 0; i < conf->rule_count; i++) {
		enum fit fit;

		if (!conf_rule_trusts(&conf->rules[i]))
			continue;
		fit = rule_fit(trial, &conf->rules[i], &why);
		if (fit == FIT_YES || fit == FIT_NEED)
			return fit;
	}
	return FIT_NO;
}

/* Is the client one that the rule is for? */
static enum fit
fit_clients(struct trial *trial, const struct conf_rule *rule)
{
	enum fit fit = FIT_NO;

	if (trial->question->user.n > 0)
		return spares_users(trial->question, rule) ? FIT_NO : FIT_YES;
	if (rule->spares_trusted)
		fit = fit_trusted(trial);
	if (fit == FIT_NEED)
		return fit;
	return fit == FIT_YES ? FIT_NO : FIT_YES;
}

/* ---- lists ------------------------------------------------------------ */

/* "listed ADDRESS ZONE ...": all of them at once, each zone once. */
static struct slice
listed_question(struct trial *trial)
{
	const struct conf *conf = trial->policy->conf;
	struct str text = STR_INIT;
	struct slice question;

	str_addf(&text, "listed %s", client_text(trial));
	for (size_t i = 0; i < conf->dnsbl_count; i++) {
		bool is_there = false;

		for (size_t k = 0; k < i && !is_there; k++)
			is_there = strcmp(conf->dnsbls[k].zone,
			    conf->dnsbls[i].zone) == 0;
		if (!is_there)
			str_addf(&text, " %s", conf->dnsbls[i].zone);
	}
	question = slice_copy(trial->policy->scratch, str_slice(&text));
	str_release(&text);
	return question;
}

/* Does "127.0.0.2,127.0.0.10" have an answer that counts? */
static bool
answer_counts(const struct conf_dnsbl *list, struct slice answers)
{
	struct slice one;
	struct net net;

	while (slice_cut(&answers, ',', &one))
		if (net_parse(one, &net, NULL) == 0 &&
		    (!list->has_answer || net_contains(&list->answer, &net)))
			return true;
	return false;
}

/* Answers are "ZONE=127.0.0.2,127.0.0.3 ZONE=...".  zone NULL: the sum of
 * all; else of this one alone. */
static int
listed_weight(const struct conf *conf, struct slice hits, const char *zone)
{
	struct slice word, name;
	int sum = 0;

	while (slice_word(&hits, &word)) {
		slice_cut(&word, '=', &name);
		for (size_t i = 0; i < conf->dnsbl_count; i++) {
			const struct conf_dnsbl *list = &conf->dnsbls[i];

			if (slice_is(name, list->zone) &&
			    (zone == NULL || strcmp(zone, list->zone) == 0) &&
			    answer_counts(list, word))
				sum += zone == NULL ? list->weight : 1;
		}
	}
	return sum;
}

/* Nobody is refused because a list cannot be asked. */
static enum fit
fit_listed(struct trial *trial, const struct conf_rule *rule)
{
	const char *pattern = rule->patterns[PATTERN_LISTED];
	const struct fact *fact = fact_or_need(trial, dns_kind,
	    listed_question(trial), FACT_SESSION);
	uint64_t least;

	if (fact == NULL)
		return FIT_NEED;
	if (fact->state == ASK_TROUBLE)
		return FIT_NO;
	if (slice_number(slice_of(pattern), 1, UINT32_MAX, &least))
		return fit_condition(listed_weight(trial->policy->conf,
		    fact->answer, NULL) >= (int)least);
	return fit_condition(listed_weight(trial->policy->conf, fact->answer,
	    pattern) > 0);
}

/* Of mail that nobody will judge nothing is known. */
static enum fit
fit_origin(struct trial *trial, const struct conf_rule *rule)
{
	if (!trial->question->is_judged)
		return FIT_NO;
	return late_is_of_spf(rule) ? fit_spf(trial, rule) : FIT_LATE;
}

/* ---- all of them ------------------------------------------------------ */

enum { ALWAYS = PATTERN_COUNT };	/* looks for itself */

static const struct {
	const char	*word;
	int		 pattern;	/* unset: the condition holds */
	fit_fn		*fn;
} conditions[] = {
	{ "until", ALWAYS, fit_until },
	{ "from", ALWAYS, fit_from },
	{ "listener", PATTERN_LISTENER, fit_listener },
	{ "tls", ALWAYS, fit_tls },
	{ "size", ALWAYS, fit_size },
	{ "user", PATTERN_USER, fit_user },
	{ "helo", PATTERN_HELO, fit_helo },
	{ "sender", PATTERN_SENDER, fit_sender },
	{ "to", PATTERN_RCPT, fit_rcpt },
	{ "cert", PATTERN_CERT, fit_cert },
	{ "issuer", PATTERN_ISSUER, fit_issuer },
	{ "not-owner", PATTERN_OWNERS, fit_not_owner },
	{ "strangers", ALWAYS, fit_clients },
	{ "name", PATTERN_NAME, fit_name },
	{ "sender-unknown", ALWAYS, fit_sender_unknown },
	{ "listed", PATTERN_LISTED, fit_listed },
	{ "spf", PATTERN_SPF, fit_origin },
	{ "dkim", PATTERN_DKIM, fit_origin },
	{ "dmarc", PATTERN_DMARC, fit_origin },
	{ "policy", PATTERN_DMARC_POLICY, fit_origin },
	{ "dkim2", PATTERN_DKIM2, fit_origin },
	{ "count", ALWAYS, fit_count },
	{ "greylist", ALWAYS, fit_greylist },
	{ "policy-service", ALWAYS, fit_service },
};

enum fit
rule_fit(struct trial *trial, const struct conf_rule *rule,
    const char **out_why)
{
	enum fit fit = FIT_YES;

	*out_why = "fits";
	for (size_t i = 0; fit == FIT_YES &&
	    i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		if (conditions[i].pattern != ALWAYS &&
		    rule->patterns[conditions[i].pattern] == NULL)
			continue;
		fit = conditions[i].fn(trial, rule);
		if (fit != FIT_YES)
			*out_why = conditions[i].word;
	}
	return fit;
}
