/* policy_text.c - rules as text, and one against another
 *
 * In     rules
 * Out    what somebody would write; whether one makes the other needless
 * Spec   zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "conf/part/part.h"
#include "grammar/message/date.h"
#include "grammar/units.h"

#include "base/banned.h"

static const char *const conf_pattern_words[PATTERN_COUNT] = {
	[PATTERN_NAME] = "name", [PATTERN_HELO] = "helo",
	[PATTERN_LISTENER] = "listener", [PATTERN_USER] = "user",
	[PATTERN_SENDER] = "sender", [PATTERN_RCPT] = "to",
	[PATTERN_LISTED] = "listed", [PATTERN_CERT] = "cert",
	[PATTERN_ISSUER] = "issuer", [PATTERN_OWNERS] = "not-owner",
	[PATTERN_SPF] = "spf", [PATTERN_DKIM] = "dkim",
	[PATTERN_DMARC] = "dmarc", [PATTERN_DMARC_POLICY] = "policy",
	[PATTERN_DKIM2] = "dkim2"
};

void
conf_add_net(struct str *out, const struct net *net)
{
	char text[INET6_ADDRSTRLEN];
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (net->bits >= 96 && memcmp(net->bytes, mapped, 12) == 0) {
		inet_ntop(AF_INET, net->bytes + 12, text, sizeof(text));
		str_addf(out, "%s/%u", text, net->bits - 96);
	} else {
		inet_ntop(AF_INET6, net->bytes, text, sizeof(text));
		str_addf(out, "%s/%u", text, net->bits);
	}
}

static void
rule_part_add(struct str *out, const char *part)
{
	str_addf(out, "%s%s", out->len > 0 ? " " : "", part);
}

static void
add_pattern(struct str *out, const char *word, const char *value)
{
	if (value == NULL)
		return;
	rule_part_add(out, word);
	str_addc(out, ' ');
	if (value[0] == '<')
		str_adds(out, value);	/* a table, or "<>" */
	else
		conf_add_word(out, value);
}

static const char *const conf_key_words[] = {
	[COUNT_BY_CLIENT] = "client", [COUNT_BY_NET] = "net",
	[COUNT_BY_USER] = "user", [COUNT_BY_SENDER] = "sender",
	[COUNT_BY_SENDER_DOMAIN] = "sender-domain", [COUNT_BY_RCPT] = "to",
	[COUNT_BY_DOMAIN] = "domain", [COUNT_BY_ALL] = "all"
};

/* What stands in front of the conditions, and `per`. */
static void
add_count(struct str *out, const struct conf_count *count)
{
	if (count->kind == COUNT_NOTHING)
		return;
	str_addf(out, "%llu", (unsigned long long)count->max);
	if (count->kind == COUNT_RATE) {
		str_addc(out, '/');
		units_add_span(out, count->span_ms);
	}
	str_addf(out, " per %s", conf_key_words[count->key]);
	if (count->kind == COUNT_RATE && count->of_messages)
		str_adds(out, " of messages");
	if (count->of_sessions)
		str_adds(out, " of sessions");
}

static void
add_span(struct str *out, const char *word, int64_t span_s)
{
	rule_part_add(out, word);
	str_addc(out, ' ');
	units_add_span(out, span_s * 1000);
}

/* What stands after the conditions. */
static void
add_rest(struct str *out, const struct conf_rule *rule)
{
	static const char *const actions[] = {
		[ACTION_ACCEPT] = "accept", [ACTION_REJECT] = "reject",
		[ACTION_DEFER] = "defer", [ACTION_FREEZE] = "freeze",
		[ACTION_SERVICE] = ""
	};

	if (rule->service_optional)
		rule_part_add(out, "else accept");

	if (rule->count.kind != COUNT_NOTHING) {
		rule_part_add(out, "else ");
		str_adds(out, actions[rule->action]);
	}
	if (rule->greylist.after_s > 0) {
		add_span(out, "after", rule->greylist.after_s);
		add_span(out, "within", rule->greylist.within_s);
		add_span(out, "keep", rule->greylist.keep_s);
	}
	if (rule->for_any)
		rule_part_add(out, "for any");
	if (rule->text != NULL) {
		rule_part_add(out, "text ");
		conf_add_word(out, rule->text);
	}
	if (rule->delay_ms > 0) {
		rule_part_add(out, "delay ");
		units_add_span(out, rule->delay_ms);
	}
	if (rule->count.is_shared || rule->greylist.is_shared)
		rule_part_add(out, "shared");
}

void
conf_rule_add(struct str *out, const struct conf_rule *rule)
{
	add_count(out, &rule->count);
	if (rule->service != NULL)
		str_adds(out, rule->service);
	if (rule->is_shadow)
		rule_part_add(out, "shadow");
	if (rule->clients != CLIENTS_PRESET)
		rule_part_add(out, rule->clients == CLIENTS_STRANGERS ?
		    "strangers" : "everybody");
	if (rule->from_table != NULL) {
		rule_part_add(out, "from <");
		str_addf(out, "%s>", rule->from_table);
	}
	if (rule->has_from_net) {
		rule_part_add(out, "from ");
		conf_add_net(out, &rule->from_net);
	}
	for (int i = 0; i < PATTERN_COUNT; i++)
		add_pattern(out, conf_pattern_words[i], rule->patterns[i]);
	if (rule->tls != TLS_EITHER)
		rule_part_add(out, rule->tls == TLS_YES ? "tls yes" : "tls no");
	if (rule->over_bytes > 0) {
		rule_part_add(out, "size ");
		units_add_bytes(out, rule->over_bytes);
	}
	if (rule->sender_unknown)
		rule_part_add(out, "sender-unknown");
	if (rule->until_s != 0) {
		rule_part_add(out, "until ");
		date_add(out, rule->until_s);
	}
	add_rest(out, rule);
}

/* A rule that speaks of mail for our own domains only. */
static bool
is_own_only(const struct conf_rule *rule)
{
	return rule->action == ACTION_ACCEPT && !rule->for_any &&
	    rule->patterns[PATTERN_RCPT] == NULL;
}

static bool
is_equal_or_unset(const char *wide, const char *narrow)
{
	return wide == NULL || (narrow != NULL &&
	    strcasecmp(wide, narrow) == 0) || (narrow != NULL &&
	    strchr(wide, '*') != NULL && glob_match(slice_of(wide),
	    slice_of(narrow)));
}

static bool
patterns_cover(const struct conf_rule *wide, const struct conf_rule *narrow)
{
	for (int i = 0; i < PATTERN_COUNT; i++)
		if (!is_equal_or_unset(wide->patterns[i],
		    narrow->patterns[i]))
			return false;
	return true;
}

bool
conf_rule_covers(const struct conf_rule *wide, const struct conf_rule *narrow)
{
	if (wide->action == ACTION_FREEZE || wide->is_shadow ||
	    wide->count.kind != COUNT_NOTHING || wide->greylist.after_s > 0 ||
	    wide->service != NULL ||
	    (is_own_only(wide) && !is_own_only(narrow)))
		return false;
	if ((wide->spares_users && !narrow->spares_users) ||
	    (wide->spares_trusted && !narrow->spares_trusted))
		return false;
	if (wide->from_table != NULL && (narrow->from_table == NULL ||
	    strcmp(wide->from_table, narrow->from_table) != 0))
		return false;
	if (wide->has_from_net && (!narrow->has_from_net ||
	    !net_contains(&wide->from_net, &narrow->from_net)))
		return false;
	if (wide->tls != TLS_EITHER && wide->tls != narrow->tls)
		return false;
	if (wide->over_bytes > 0 && narrow->over_bytes < wide->over_bytes)
		return false;
	if (wide->sender_unknown && !narrow->sender_unknown)
		return false;
	if (wide->until_s != 0 && (narrow->until_s == 0 ||
	    narrow->until_s > wide->until_s))
		return false;
	return patterns_cover(wide, narrow);
}
