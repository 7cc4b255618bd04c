/* dmarc.c - does the author's domain stand by this mail?
 *
 * In     the author's domain, judgements of SPF and DKIM, answers
 * Out    a judgement, the policy that counts
 * Trusts nobody
 * Spec   RFC 9989 sections 4.4, 4.10, 5.3
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/dmarc/record.h"

#include "base/banned.h"

struct judge {
	struct answers	 *answers;
	struct arena	 *arena;
	struct dmarc	 *out;
	struct dmarc_walk walk;		/* of the author's domain */
	const struct dmarc_record *record;
};

enum aligned { ALIGNED_ASKS = -2, ALIGNED_TROUBLE = -1, ALIGNED_NO, ALIGNED };

static enum origin
judge_end(struct judge *judge, enum origin origin, const char *reason)
{
	judge->out->origin = origin;
	judge->out->reason = reason;
	return origin;
}

/* Is it the author's organization, or below it? */
static bool
judge_may_align(const struct judge *judge, struct slice domain)
{
	struct slice top = judge->out->organization;

	return slice_equal_nocase(domain, top) || (domain.n > top.n &&
	    domain.p[domain.n - top.n - 1] == '.' &&
	    slice_equal_nocase(slice_from(domain, domain.n - top.n), top));
}

/* Is this domain the author's, or with relaxed rules of the same
 * organization?  (section 4.4)  An organization is at or above all that is its
 * own: of any other domain nobody is asked.  Its name servers are a stranger's,
 * whose silence would make a failure a trouble. */
static enum aligned
judge_aligned(struct judge *judge, struct slice domain, bool is_strict)
{
	struct dmarc_walk walk;
	enum origin walked;

	if (slice_equal_nocase(domain, judge->out->domain))
		return ALIGNED;
	if (is_strict || !judge_may_align(judge, domain))
		return ALIGNED_NO;
	walked = dmarc_walk(judge->answers, slice_lower(judge->arena, domain),
	    judge->arena, &walk);
	if (walked != ORIGIN_NONE)
		return walked == ORIGIN_ASKS ? ALIGNED_ASKS : ALIGNED_TROUBLE;
	return slice_equal_nocase(dmarc_organization(&walk),
	    judge->out->organization) ? ALIGNED : ALIGNED_NO;
}

/* What one mechanism adds: ORIGIN_PASS aligned, ORIGIN_TEMPERROR it may have
 * been, ORIGIN_NONE no, ORIGIN_ASKS. */
static enum origin
judge_mechanism(struct judge *judge, enum origin origin, struct slice domain,
    bool is_strict)
{
	enum aligned aligned;

	if (origin != ORIGIN_PASS && origin != ORIGIN_TEMPERROR)
		return ORIGIN_NONE;
	aligned = judge_aligned(judge, domain, is_strict);
	if (aligned == ALIGNED_NO)
		return ORIGIN_NONE;
	if (aligned == ALIGNED_ASKS)
		return ORIGIN_ASKS;
	return aligned == ALIGNED_TROUBLE ? ORIGIN_TEMPERROR : origin;
}

/* The policy of a record that was found at a row of the walk.  Names that do
 * not exist (RFC 8020) have np. */
static enum origin
judge_policy(struct judge *judge, size_t row)
{
	const struct dmarc_record *record = &judge->walk.records[row];
	const struct origin_answer *answer;

	judge->record = record;
	judge->out->record = record->text;
	judge->out->record_at = judge->walk.domains[row];
	judge->out->rua = record->rua;
	judge->out->is_testing = record->is_testing;
	judge->out->policy = row == 0 ? record->p : record->sp;
	if (row > 0 && record->np != record->sp) {
		answer = answers_look(judge->answers, DNS_TYPE_A,
		    judge->out->domain);
		if (answer == NULL)
			return ORIGIN_ASKS;
		if (answer->status == ANSWER_NONE && answer->is_no_name)
			judge->out->policy = record->np;
	}
	judge->out->asked = judge->out->policy;
	if (record->is_testing && judge->out->policy > DMARC_NONE)
		judge->out->policy--;
	return ORIGIN_NONE;
}

/* One that leaves a part of the body unsigned says nothing about what a reader
 * sees. */
static enum origin
judge_signature(struct judge *judge, const struct dkim *dkim)
{
	enum origin origin = dkim->origin == ORIGIN_PASS &&
	    dkim->unsigned_bytes > 0 ? ORIGIN_POLICY : dkim->origin;

	return judge_mechanism(judge, origin, dkim->domain,
	    judge->record->is_dkim_strict);
}

static enum origin
judge_mechanisms(struct judge *judge, const struct spf *spf,
    const struct dkim dkims[], size_t dkim_count)
{
	enum origin spf_origin = spf == NULL ? ORIGIN_NONE : judge_mechanism(
	    judge, spf->origin, spf->domain, judge->record->is_spf_strict);
	bool asks = spf_origin == ORIGIN_ASKS;
	bool is_trouble = spf_origin == ORIGIN_TEMPERROR;

	judge->out->is_spf_aligned = spf_origin == ORIGIN_PASS;
	for (size_t i = 0; i < dkim_count; i++) {
		enum origin one = judge_signature(judge, &dkims[i]);

		asks |= one == ORIGIN_ASKS;
		is_trouble |= one == ORIGIN_TEMPERROR;
		judge->out->is_dkim_aligned |= one == ORIGIN_PASS;
	}
	if (asks)
		return ORIGIN_ASKS;
	if (judge->out->is_spf_aligned || judge->out->is_dkim_aligned)
		return ORIGIN_PASS;
	return is_trouble ? ORIGIN_TEMPERROR : ORIGIN_FAIL;
}

static const char *
judge_reason(const struct judge *judge, enum origin origin)
{
	const struct dmarc *out = judge->out;

	if (origin == ORIGIN_PASS)
		return arena_printf(judge->arena, "%s for %.*s",
		    out->is_spf_aligned && out->is_dkim_aligned ?
		    "SPF and DKIM speak" : out->is_spf_aligned ?
		    "SPF speaks" : "DKIM speaks", SLICE_ARG(out->domain));
	if (origin == ORIGIN_TEMPERROR)
		return arena_printf(judge->arena, "what could speak for %.*s "
		    "cannot be looked up now", SLICE_ARG(out->domain));
	return arena_printf(judge->arena, "neither SPF nor DKIM speaks for "
	    "%.*s, whose policy at _dmarc.%.*s is %s%s", SLICE_ARG(out->domain),
	    SLICE_ARG(out->record_at), dmarc_policy_text(out->policy),
	    out->is_testing ? " (weakened by t=y)" : "");
}

/* No record counts: is there one that should have? */
static enum origin
judge_without(struct judge *judge)
{
	const struct dmarc_walk *walk = &judge->walk;

	for (size_t i = 0; i < walk->count; i++)
		if (walk->found[i] == DMARC_READ_BAD) {
			judge->out->record_at = walk->domains[i];
			return judge_end(judge, ORIGIN_PERMERROR,
			    arena_printf(judge->arena, "_dmarc.%.*s has a "
			    "record that cannot be read, or more than one",
			    SLICE_ARG(walk->domains[i])));
		}
	return judge_end(judge, ORIGIN_NONE, arena_printf(judge->arena,
	    "nobody publishes a policy for %.*s",
	    SLICE_ARG(judge->out->domain)));
}

enum origin
dmarc_judge(struct answers *answers, struct slice author,
    const struct spf *spf, const struct dkim dkims[], size_t dkim_count,
    struct arena *arena, struct dmarc *out)
{
	struct judge judge = { .answers = answers, .arena = arena,
	    .out = out };
	enum origin origin;
	size_t row;

	*out = (struct dmarc){ .domain = slice_lower(arena, author) };
	origin = dmarc_walk(answers, out->domain, arena, &judge.walk);
	if (origin == ORIGIN_ASKS)
		return out->origin = ORIGIN_ASKS;
	if (origin == ORIGIN_TEMPERROR) {
		out->trouble_at = judge.walk.domains[judge.walk.count - 1];
		return judge_end(&judge, origin, arena_printf(arena, "the "
		    "policy at _dmarc.%.*s cannot be looked up now",
		    SLICE_ARG(out->trouble_at)));
	}
	if (judge.walk.count == 0)
		return judge_without(&judge);
	out->organization = dmarc_organization(&judge.walk);
	row = dmarc_policy_row(&judge.walk);
	if (row == judge.walk.count)
		return judge_without(&judge);
	if (judge_policy(&judge, row) == ORIGIN_ASKS)
		return out->origin = ORIGIN_ASKS;
	origin = judge_mechanisms(&judge, spf, dkims, dkim_count);
	if (origin == ORIGIN_ASKS)
		return out->origin = ORIGIN_ASKS;
	return judge_end(&judge, origin, judge_reason(&judge, origin));
}
