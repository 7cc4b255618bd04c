/* rehearsal_late.c - the rules that wait for whose mail a message is
 *
 * In     a row; a verdict that puts rules by
 * Out    the outcome after them
 * Holds  nothing
 * Trusts nobody: a row is a person's
 * Spec   zmailer-test(8); policy/late.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/rehearse/rehearsal.h"

#include "base/banned.h"

static int
late_result(struct slice text, enum origin *out, struct err *err)
{
	if (text.n == 0 || (origin_of_text(text, out) &&
	    *out != ORIGIN_SEVERAL))
		return 0;
	return err_set(err, "'" SLICE_FMT "' is no result: pass, fail, none, "
	    "softfail, neutral, temperror or permerror; of dmarc several, "
	    "too",
	    SLICE_ARG(slice_first(text, 40)));
}

/* It has one result more than the others. */
static int
late_dmarc_result(struct slice text, enum origin *out, struct err *err)
{
	return text.n > 0 && origin_of_text(text, out) ? 0 :
	    late_result(text, out, err);
}

/* What the row does not say is none. */
static int
late_origin_of_row(const struct rehearsal_row *row, struct late_origin *out,
    struct err *err)
{
	bool is_domain = slice_find(row->dkim, '.') < row->dkim.n;

	*out = (struct late_origin){ .spf = ORIGIN_NONE,
	    .sealer = row->sealer, .names = row->names };
	if (is_domain) {
		out->dkim = ORIGIN_PASS;
		out->signers = row->dkim;
	}
	while (row->policy.n > 0 &&
	    !slice_is(row->policy, dmarc_policy_text(out->policy)))
		if (++out->policy > DMARC_REJECT)
			return err_set(err, "policy is none, quarantine or "
			    "reject");
	return late_result(row->spf, &out->spf, err) < 0 ||
	    late_result(row->dkim2, &out->dkim2, err) < 0 ||
	    (!is_domain && late_result(row->dkim, &out->dkim, err) < 0) ?
	    -1 : late_dmarc_result(row->dmarc, &out->dmarc, err);
}

/* Of those that fit the first that is no shadow. */
static const struct conf_rule *
late_rule_find(const struct late_rules *late, const struct late_origin *origin,
    struct rehearsal_outcome *out)
{
	for (unsigned i = 0; i < late->count; i++) {
		const struct conf_rule *rule = late->all[i];

		if (!late_fits(rule, origin))
			continue;
		if (!rule->is_shadow)
			return rule;
		if (out->shadow_count < POLICY_SHADOWS_MAX)
			out->shadows[out->shadow_count++] = rule;
	}
	return NULL;
}

static void
late_conclude(const struct conf_rule *rule, const struct late_origin *origin,
    struct rehearsal_outcome *out)
{
	static const enum rehearsal_result results[] = {
		[ACTION_ACCEPT] = REHEARSAL_ACCEPT,
		[ACTION_REJECT] = REHEARSAL_REJECT,
		[ACTION_DEFER] = REHEARSAL_DEFER,
		[ACTION_FREEZE] = REHEARSAL_FREEZE
	};

	out->result = results[rule->action];
	out->rule = rule;
	if (rule->action == ACTION_ACCEPT || rule->action == ACTION_FREEZE)
		return;
	out->code = rule->action == ACTION_DEFER ? 451 : 550;
	str_reset(&out->status);
	str_adds(&out->status, late_status(rule));
	str_reset(&out->words);
	late_add_reply(&out->words, rule, origin);
}

bool
rehearsal_says_origin(const struct rehearsal_row *row)
{
	return row->spf.n + row->dkim.n + row->dmarc.n + row->policy.n +
	    row->dkim2.n > 0;
}

int
rehearsal_late(const struct rehearsal_row *row,
    const struct policy_verdict *verdict, struct rehearsal_outcome *out,
    struct err *err)
{
	struct policy_verdict held = policy_held(verdict);
	const struct conf_rule *rule;
	struct late_origin origin;

	if (late_origin_of_row(row, &origin, err) < 0)
		return -1;
	if (verdict->late.count == 0)
		return 0;
	if (!rehearsal_says_origin(row)) {
		str_adds(&out->words, ", and then by whose mail it is (--spf, "
		    "--dkim, --dmarc, --policy)");
		return 0;
	}
	rule = late_rule_find(&verdict->late, &origin, out);
	if (rule != NULL) {
		late_conclude(rule, &origin, out);
	} else if (held.result != POLICY_ACCEPT) {
		str_reset(&out->status);
		str_reset(&out->words);
		rehearsal_conclude(&held, out);
	}
	return 0;
}
