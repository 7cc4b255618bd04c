/* policy.c - who may send what to whom
 *
 * In     a client's address, a sender, a recipient, as parsed structs
 * Out    a verdict that names the rule
 * Holds  the tables of one configuration; a scratch arena
 * Trusts nothing in an address: it is compared in canonical form (local
 *        part without needless quotes, domain in lower case, source route
 *        gone), so that no spelling passes a rule by
 * Spec   RFC 5321 sections 3.6.2, 3.6.3, 4.5.1, 7.9
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "grammar/units.h"
#include "mail/table.h"
#include "smtpserver/policy.h"

#include "base/banned.h"

struct policy {
	const struct conf	 *conf;
	struct table		**tables;	/* as conf->tables */
	struct arena		 *scratch;
};

/* An address in the form that rules are compared with. */
struct canonical {
	struct slice	local, domain;
	struct slice	text;		/* "local@domain", "local", "" */
};

struct policy *
policy_new(const struct conf *conf)
{
	struct policy *policy = mem_alloc(1, sizeof(*policy));

	policy->conf = conf;
	table_share(conf->run_dir, conf->limits.table_memory_bytes);
	policy->scratch = arena_new();
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
	mem_free(policy);
}

static struct canonical
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

/* "<>", "@domain", or a glob over the whole address. */
static bool
pattern_fits(const char *pattern, const struct canonical *address)
{
	struct slice p = slice_of(pattern);

	if (slice_is(p, "<>"))
		return address->text.n == 0;
	if (address->text.n == 0)
		return false;
	if (p.n > 0 && p.p[0] == '@')
		return glob_match(slice_from(p, 1), address->domain);
	return glob_match(p, address->text);
}

static enum table_result
client_fits(struct policy *policy, const struct conf_rule *rule,
    const struct net *client, struct err *err)
{
	unsigned line;

	if (rule->has_from_net && !net_contains(&rule->from_net, client))
		return TABLE_NONE;
	if (rule->from_table == NULL)
		return TABLE_FOUND;
	for (size_t i = 0; i < policy->conf->table_count; i++)
		if (strcmp(policy->conf->tables[i].name, rule->from_table) ==
		    0)
			return table_has_address(policy->tables[i], client,
			    &line, err);
	err_set(err, "there is no table <%s>", rule->from_table);
	return TABLE_TROUBLE;
}

static bool
addresses_fit(const struct conf_rule *rule, const struct canonical *sender,
    const struct canonical *rcpt)
{
	return (rule->sender == NULL || pattern_fits(rule->sender, sender)) &&
	    (rule->rcpt == NULL || pattern_fits(rule->rcpt, rcpt));
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
	case ACTION_ACCEPT:
		if (!is_ours && !rule->for_any)
			return false;
		break;
	}
	out->result = POLICY_ACCEPT;
	out->rule = rule;
	return true;
}

void
policy_ask(struct policy *policy, const struct policy_question *question,
    struct policy_verdict *out)
{
	struct canonical sender, rcpt;
	bool is_ours;

	out->rule = out->freeze = NULL;
	out->err.text[0] = '\0';
	arena_reset(policy->scratch);
	sender = canonical_of(policy->scratch, &question->sender);
	rcpt = canonical_of(policy->scratch, &question->rcpt);
	is_ours = rcpt.domain.n == 0 ||
	    conf_domain_find(policy->conf, rcpt.domain) != NULL;
	out->result = is_ours ? POLICY_ACCEPT : POLICY_NO_RELAY;
	if (is_ours && slice_is_nocase(rcpt.local, "postmaster"))
		return;
	for (size_t i = 0; i < policy->conf->rule_count; i++) {
		const struct conf_rule *rule = &policy->conf->rules[i];

		if (!addresses_fit(rule, &sender, &rcpt))
			continue;
		switch (client_fits(policy, rule, &question->client,
		    &out->err)) {
		case TABLE_TROUBLE:
			out->result = POLICY_TROUBLE;
			out->rule = rule;
			return;
		case TABLE_NONE:
			continue;
		case TABLE_FOUND:
			if (rule_apply(rule, is_ours, out))
				return;
		}
	}
}
