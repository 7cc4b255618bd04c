/* fit_count.c - rules that count and rules that remember
 *
 * In     a rule; what the helpers said of its counter or its greylist
 * Out    yes, no or a need
 * Holds  nothing
 * Trusts nothing in an address: it is in canonical form (policy.c)
 * Spec   zmailer.conf(5), limit rate, limit parallel, greylist
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/mem.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

/* What a rule counts by; false: there is none (nobody logged in). */
static bool
fit_count_key(struct trial *trial, enum conf_key key, struct slice *out)
{
	*out = SLICE("all");
	switch (key) {
	case COUNT_BY_CLIENT:
		*out = slice_of(client_net(trial, 4, 8));
		break;
	case COUNT_BY_NET:
		*out = slice_of(client_net(trial, 3, 6));
		break;
	case COUNT_BY_USER:
		*out = slice_lower(trial->policy->scratch,
		    trial->question->user);
		return out->n > 0;
	case COUNT_BY_SENDER:
		*out = slice_lower(trial->policy->scratch,
		    trial->sender.text);
		break;
	case COUNT_BY_SENDER_DOMAIN:
		*out = trial->sender.domain;
		break;
	case COUNT_BY_RCPT:
		*out = slice_lower(trial->policy->scratch,
		    trial->rcpt.text);
		break;
	case COUNT_BY_DOMAIN:
		*out = trial->rcpt.domain;
		break;
	case COUNT_BY_ALL:
		break;
	}
	return true;
}

/* The counter of one rule: "LINE KEY"; "LINE.2 KEY" of the third one that
 * has this line number. */
static struct slice
fit_count_question(struct trial *trial, const struct conf_rule *rule,
    struct slice key)
{
	const struct conf_count *count = &rule->count;
	struct arena *scratch = trial->policy->scratch;
	const char *own = count->before == 0 ?
	    arena_printf(scratch, "%u", rule->at.line) :
	    arena_printf(scratch, "%u.%u", rule->at.line, count->before);

	if (count->kind == COUNT_PARALLEL)
		return slice_of(arena_printf(scratch, "hold %" PRIu64
		    " %s " SLICE_FMT, count->max, own, SLICE_ARG(key)));
	return slice_of(arena_printf(scratch, "take %" PRIu64 " %" PRId64
	    " %s " SLICE_FMT, count->max, count->span_ms, own,
	    SLICE_ARG(key)));
}

/* "over" or "wait", with the seconds until it is not. */
static enum fit
fit_of_wait(struct trial *trial, const struct fact *fact, const char *over)
{
	struct slice answer = fact->answer, word = { NULL, 0 };
	uint64_t wait_s;

	if (fact->state == ASK_TROUBLE || !slice_word(&answer, &word) ||
	    !slice_is(word, over))
		return FIT_NO;	/* nobody is refused because of trouble */
	if (slice_word(&answer, &word) &&
	    slice_number(word, 0, INT32_MAX, &wait_s))
		trial->out->wait_s = (int64_t)wait_s;
	return FIT_YES;
}

static enum fact_scope
fit_count_scope(const struct conf_count *count)
{
	if (count->of_sessions)
		return FACT_SESSION;
	return count->of_messages ? FACT_MESSAGE : FACT_TURN;
}

/* The same for all nodes of the cluster: by what the rule says, not by where
 * it stands in this file. */
static struct slice
fit_shared_question(struct trial *trial, const struct conf_count *count,
    struct slice key)
{
	struct arena *scratch = trial->policy->scratch;

	if (count->kind == COUNT_PARALLEL)
		return slice_of(arena_printf(scratch, "hold %" PRIu64
		    " %08" PRIx32 " " SLICE_FMT, count->max,
		    count->shared_id, SLICE_ARG(key)));
	return slice_of(arena_printf(scratch, "take %" PRIu64 " %" PRId64
	    " %08" PRIx32 " " SLICE_FMT, count->max, count->span_ms,
	    count->shared_id, SLICE_ARG(key)));
}

/* Nobody answers for the cluster: this node counts for itself. */
static const struct fact *
fit_count_alone(struct trial *trial, const struct conf_rule *rule,
    struct slice key)
{
	const size_t nodes = trial->policy->conf->cluster.node_count;
	struct conf_rule alone = *rule;

	alone.count.max = rule->count.max / (nodes > 0 ? nodes : 1);
	if (alone.count.max == 0)
		alone.count.max = 1;
	return fact_or_need(trial, "rate", fit_count_question(trial, &alone,
	    key), fit_count_scope(&rule->count));
}

static const struct fact *
fit_count_shared(struct trial *trial, const struct conf_rule *rule,
    struct slice key)
{
	const struct fact *fact = fact_or_need(trial, "share",
	    fit_shared_question(trial, &rule->count, key),
	    fit_count_scope(&rule->count));

	return fact != NULL && fact->state == ASK_TROUBLE ?
	    fit_count_alone(trial, rule, key) : fact;
}

enum fit
fit_count(struct trial *trial, const struct conf_rule *rule)
{
	const struct fact *fact;
	struct slice key;

	if (rule->count.kind == COUNT_NOTHING)
		return FIT_YES;
	if (!fit_count_key(trial, rule->count.key, &key))
		return FIT_NO;
	fact = rule->count.is_shared ? fit_count_shared(trial, rule, key) :
	    fact_or_need(trial, "rate", fit_count_question(trial, rule, key),
	    fit_count_scope(&rule->count));
	return fact == NULL ? FIT_NEED : fit_of_wait(trial, fact, "over");
}

/* "FIRST AFTER WITHIN KEEP THEN NET SENDER RECIPIENT"; THEN has a blank at its
 * end, or is empty, and so has FIRST. */
static const char *
fit_greet_text(struct trial *trial, const struct conf_greylist *terms,
    const char *first, const char *then)
{
	return arena_printf(trial->policy->scratch, "%s%" PRId64 " %" PRId64
	    " %" PRId64 " %s%s " SLICE_FMT " " SLICE_FMT, first,
	    terms->after_s, terms->within_s, terms->keep_s, then,
	    client_net(trial, 3, 8), SLICE_ARG(trial->sender.text),
	    SLICE_ARG(trial->rcpt.text));
}

static void
fit_tell(struct trial *trial, const char *what)
{
	struct policy_verdict *out = trial->out;

	if (out->tell_count < POLICY_TELLS_MAX)
		out->tells[out->tell_count++] = what;
}

/* Who passed here is known to all; who has to wait here may have been seen
 * elsewhere, and is known here, too, when that is so. */
static enum fit
fit_greylist_shared(struct trial *trial, const struct conf_greylist *terms,
    const struct fact *ours)
{
	const struct fact *fact;
	struct slice answer, word = { NULL, 0 };

	if (fit_of_wait(trial, ours, "wait") != FIT_YES) {
		if (ours->state != ASK_TROUBLE)
			fit_tell(trial, fit_greet_text(trial, terms,
			    "greet greet ", "pass "));
		return FIT_NO;
	}
	fact = fact_or_need(trial, "greet", slice_of(fit_greet_text(trial,
	    terms, "greet ", "wait ")), FACT_TURN);
	if (fact == NULL)
		return FIT_NEED;
	answer = fact->answer;
	if (fact->state == ASK_TROUBLE || !slice_word(&answer, &word))
		return FIT_YES;
	if (slice_is(word, "pass")) {
		fit_tell(trial, fit_greet_text(trial, terms,
		    "greylist passed ", ""));
		return FIT_NO;
	}
	(void)fit_of_wait(trial, fact, "wait");
	return FIT_YES;
}

enum fit
fit_greylist(struct trial *trial, const struct conf_rule *rule)
{
	const struct conf_greylist *terms = &rule->greylist;
	const struct fact *fact;

	if (terms->after_s == 0)
		return FIT_YES;
	fact = fact_or_need(trial, "greylist", slice_of(fit_greet_text(trial,
	    terms, "", "")), FACT_TURN);
	if (fact == NULL)
		return FIT_NEED;
	return terms->is_shared ? fit_greylist_shared(trial, terms, fact) :
	    fit_of_wait(trial, fact, "wait");
}
