/* late.c - rules that ask whose mail a message is
 *
 * In     rules; what was judged
 * Out    which of them fit; words and codes of refusals
 * Holds  nothing
 * Spec   late.h; RFC 7372; doc/AUTH.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/err.h"
#include "smtpserver/policy/late.h"

#include "base/banned.h"

void
late_add(struct late_rules *late, const struct conf_rule *rule, bool is_ours)
{
	if (late->count == POLICY_LATE_MAX)
		panic("policy: more late rules than zmailer.conf may have");
	late->all[late->count++] = rule;
	late->may_take |= is_ours && !rule->is_shadow &&
	    rule->action == ACTION_ACCEPT;
}

bool
late_may_refuse(const struct late_rules *late)
{
	for (unsigned i = 0; i < late->count; i++)
		if (!late->all[i]->is_shadow &&
		    late->all[i]->action != ACTION_ACCEPT)
			return true;
	return false;
}

bool
late_rules_equal(const struct late_rules *a, const struct late_rules *b)
{
	for (unsigned i = 0; i < a->count && i < b->count; i++)
		if (a->all[i] != b->all[i])
			return false;
	return a->count == b->count;
}

/* ---- do they fit ------------------------------------------------------ */

/* Of a kind of none the word of that kind fits, too. */
static bool
late_result_fits(const char *pattern, enum origin result)
{
	return pattern == NULL || strcmp(pattern, origin_text(result)) == 0 ||
	    strcmp(pattern, origin_standard_text(result)) == 0;
}

/* ".example.org": below it. */
static bool
late_signer_fits(const char *pattern, struct slice signers)
{
	struct slice one;

	while (slice_cut(&signers, ',', &one))
		if (pattern[0] == '.' ? slice_ends(one, pattern) :
		    slice_is(one, pattern))
			return true;
	return false;
}

static bool
late_dkim_fits(const char *pattern, const struct late_origin *origin)
{
	return pattern != NULL && strchr(pattern, '.') != NULL ?
	    late_signer_fits(pattern, origin->signers) :
	    late_result_fits(pattern, origin->dkim);
}

/* A failure that who is trusted has seen pass is none. */
static enum origin
late_dmarc(const struct late_origin *origin)
{
	return origin->dmarc == ORIGIN_FAIL && origin->sealer.n > 0 ?
	    ORIGIN_PASS : origin->dmarc;
}

bool
late_fits(const struct conf_rule *rule, const struct late_origin *origin)
{
	const char *const *patterns = rule->patterns;
	const char *policy = patterns[PATTERN_DMARC_POLICY];

	return late_result_fits(patterns[PATTERN_SPF], origin->spf) &&
	    late_dkim_fits(patterns[PATTERN_DKIM], origin) &&
	    late_result_fits(patterns[PATTERN_DMARC], late_dmarc(origin)) &&
	    late_result_fits(patterns[PATTERN_DKIM2], origin->dkim2) &&
	    (policy == NULL ||
	    strcmp(policy, dmarc_policy_text(origin->policy)) == 0);
}

bool
late_is_of_spf(const struct conf_rule *rule)
{
	return rule->patterns[PATTERN_SPF] != NULL &&
	    rule->patterns[PATTERN_DKIM] == NULL &&
	    rule->patterns[PATTERN_DMARC] == NULL &&
	    rule->patterns[PATTERN_DMARC_POLICY] == NULL &&
	    rule->patterns[PATTERN_DKIM2] == NULL;
}

bool
late_spf_fits(const struct conf_rule *rule, enum origin spf)
{
	return late_result_fits(rule->patterns[PATTERN_SPF], spf);
}

/* ---- what is said ----------------------------------------------------- */

/* SPF that failed, and SPF that could not be looked up or read. */
static bool
late_is_error(const char *result)
{
	return result != NULL && slice_ends(slice_of(result), "error");
}

const char *
late_status(const struct conf_rule *rule)
{
	const char *const *patterns = rule->patterns;
	bool is_for_now = rule->action == ACTION_DEFER;

	if (patterns[PATTERN_DMARC] != NULL ||
	    patterns[PATTERN_DMARC_POLICY] != NULL ||
	    (patterns[PATTERN_SPF] != NULL && patterns[PATTERN_DKIM] != NULL))
		return is_for_now ? "4.7.26" : "5.7.26";
	if (patterns[PATTERN_DKIM] != NULL)
		return is_for_now ? "4.7.20" : "5.7.20";
	if (patterns[PATTERN_DKIM2] != NULL && patterns[PATTERN_SPF] == NULL)
		return is_for_now ? "4.7.5" : "5.7.7";
	if (late_is_error(patterns[PATTERN_SPF]))
		return is_for_now ? "4.7.24" : "5.7.24";
	return is_for_now ? "4.7.23" : "5.7.23";
}

/* " (NAME", which is left open, unless it is too long; true: it is there. */
static bool
late_open_name(struct str *out, struct slice name)
{
	if (name.n == 0 || out->len + name.n > LATE_REPLY_BYTES)
		return false;
	str_addf(out, " (" SLICE_FMT, SLICE_ARG(name));
	return true;
}

static void
late_add_name(struct str *out, struct slice name)
{
	if (late_open_name(out, name))
		str_addc(out, ')');
}

void
late_add_reply_spf(struct str *out, const struct conf_rule *rule,
    enum origin spf, struct slice at)
{
	bool has_words = rule->text != NULL && rule->text[0] != '\0';

	str_adds(out, has_words ? rule->text : rule->action == ACTION_DEFER ?
	    "deferred by local policy" : "refused by local policy");
	str_addf(out, ": SPF %s", origin_text(spf));
	late_add_name(out, at);
}

static void
late_add_dmarc(struct str *out, const struct late_origin *origin,
    struct slice name)
{
	bool is_open;

	str_addf(out, ", DMARC %s", origin_standard_text(origin->dmarc));
	if (origin->dmarc == ORIGIN_SEVERAL)
		str_adds(out, " (From is of several domains)");
	is_open = late_open_name(out, name);
	if (origin->dmarc == ORIGIN_FAIL)
		str_addf(out, "%sits policy: %s)", is_open ? ", " : " (",
		    dmarc_policy_text(origin->policy));
	else if (is_open)
		str_addc(out, ')');
	if (origin->sealer.n > 0)
		str_addf(out, " (passed by the seal of %.*s)",
		    SLICE_ARG(origin->sealer));
}

void
late_add_reply(struct str *out, const struct conf_rule *rule,
    const struct late_origin *origin)
{
	static const struct judge_names unknown = { .spf = "" };
	const struct judge_names *names = origin->names != NULL ?
	    origin->names : &unknown;
	const char *const *asks = rule->patterns;
	bool is_of_dmarc = asks[PATTERN_DMARC] != NULL ||
	    asks[PATTERN_DMARC_POLICY] != NULL;

	late_add_reply_spf(out, rule, origin->spf, slice_of(is_of_dmarc ||
	    asks[PATTERN_SPF] != NULL ? names->spf : ""));
	str_addf(out, ", DKIM %s", origin_text(origin->dkim));
	late_add_name(out, slice_of(is_of_dmarc || asks[PATTERN_DKIM] !=
	    NULL ? names->dkim : ""));
	late_add_dmarc(out, origin, slice_of(is_of_dmarc ? names->dmarc :
	    ""));
	if (asks[PATTERN_DKIM2] != NULL) {
		str_addf(out, ", DKIM2 %s", origin_text(origin->dkim2));
		late_add_name(out, slice_of(names->dkim2));
	}
}
