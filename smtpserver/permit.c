/* permit.c - the policy's verdict on a recipient, as an answer
 *
 * In     a session, a recipient
 * Out    yes, a refusal, or a question for a helper
 * Holds  nothing; answers that hold for the session are the session's
 * Spec   policy.h; RFC 3463 section 3.8
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/notes.h"
#include "smtpserver/permit.h"

#include "base/banned.h"

static void
question_fill(const struct session *session, const struct path *rcpt,
    struct policy_question *out)
{
	const struct transaction *t = session->transaction;

	*out = (struct policy_question){
		.client = session->client.net,
		.listener = slice_of(session->client.listener),
		.is_submission = session->listen != NULL &&
		    session->listen->is_submission,
		.helo = str_slice(&session->helo),
		.is_encrypted = session->tls != NULL,
		.user = str_slice(&session->user),
		.sender = t->envelope.from,
		.size_bytes = t->size_bytes,
		.rcpt = *rcpt,
		.facts = session->facts,
	};
}

/* The words of the rule, or others, and where to look for more. */
static void
refuse(const struct session *session, int code, const char *status,
    const struct conf_rule *rule, const char *words, struct answer *out)
{
	if (rule != NULL && rule->text != NULL && rule->text[0] != '\0')
		words = rule->text;
	answer_set(out, code, status, "%s (ref %s)", words, session->id);
	out->rule = rule;
}

static bool
conclude(struct session *session, const struct policy_verdict *verdict,
    struct answer *out)
{
	struct transaction *t = session->transaction;
	const struct conf_rule *rule = verdict->rule;

	switch (verdict->result) {
	case POLICY_ACCEPT:
		if (t->freeze == NULL)
			t->freeze = verdict->freeze;
		return true;
	case POLICY_REJECT:
		refuse(session, 550, "5.7.1", rule, "refused by local policy",
		    out);
		break;
	case POLICY_DEFER:
		refuse(session, rule->greylist.after_s > 0 ? 451 : 450,
		    "4.7.1", rule, rule->greylist.after_s > 0 ?
		    "greylisted, try again later" :
		    "deferred by local policy, try later", out);
		break;
	case POLICY_NO_RELAY:
		refuse(session, 550, "5.7.1", NULL,
		    "we do not relay mail for this domain", out);
		break;
	case POLICY_TROUBLE:
	case POLICY_NEED:
		refuse(session, 451, "4.3.0", NULL,
		    "policy cannot be looked up now, try later", out);
		out->rule = rule;
		break;
	}
	return false;
}

bool
permit_rcpt(struct session *session, const struct path *rcpt,
    answered_fn *fn, struct answer *out)
{
	struct policy_question question;
	struct policy_verdict verdict;

	question_fill(session, rcpt, &question);
	policy_ask(session->settings->policy, &question, &verdict);
	if (verdict.result == POLICY_NEED) {
		session_ask(session, verdict.need.kind, verdict.need.question,
		    0, fn);
		session->ask->scope = (int)verdict.need.scope;
		return false;
	}
	for (unsigned i = 0; i < verdict.shadow_count; i++)
		note_shadow(session, verdict.shadows[i], rcpt);
	if (verdict.result == POLICY_TROUBLE)
		note_policy_trouble(session, verdict.rule, &verdict.err);
	return conclude(session, &verdict, out);
}

void
permit_end_message(struct session *session)
{
	struct facts *facts = &session->facts[FACT_MESSAGE];
	struct slice answer, word;

	for (const struct fact *fact = facts->first; fact != NULL;
	    fact = fact->next) {
		answer = fact->answer;
		if (slice_starts(fact->question, "hold ") &&
		    slice_word(&answer, &word) && slice_is(word, "ok") &&
		    slice_word(&answer, &word))
			str_addf(&session->holds, " " SLICE_FMT,
			    SLICE_ARG(word));
	}
	facts_release(facts);
}

void
permit_learn(struct session *session, const struct ask *ask)
{
	facts_add(&session->facts[ask->scope], ask->kind,
	    str_slice(&ask->question), ask->state, str_slice(&ask->answer));
	if (ask->state == ASK_TROUBLE)
		note_helper_trouble(session, ask);
}
