/* rules.c - the rules of a message that wait for whose mail it is
 *
 * In     rules that RCPT put by; what was judged
 * Out    the message is taken, set aside or refused
 * Holds  nothing; what waits is the transaction's
 * Spec   rules.h; policy/late.h; RFC 7372
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/judge/rules.h"

#include "base/banned.h"

/* ---- before the message ----------------------------------------------- */

static bool
refusals_equal(const struct session_answer *a, const struct session_answer *b)
{
	return a == NULL || b == NULL ? a == b :
	    a->code == b->code && a->rule == b->rule;
}

static void
judge_rules_set(struct transaction *t, const struct late_rules *late,
    const struct session_answer *refusal)
{
	t->late = *late;
	t->late_refusal = NULL;
	if (refusal == NULL)
		return;
	t->late_refusal = arena_alloc(t->arena, sizeof(*t->late_refusal));
	*t->late_refusal = *refusal;
}

bool
judge_rules_keep(struct session *session, const struct late_rules *late,
    const struct session_answer *refusal, struct session_answer *out)
{
	struct transaction *t = session->transaction;

	if (t->rcpt_count > 0 && (!late_rules_equal(&t->late, late) ||
	    !refusals_equal(t->late_refusal, refusal))) {
		answer_set(out, 452, "4.5.3", "other rules about whose mail "
		    "it is count for this recipient than for those before, "
		    "send to it separately (ref %s)", session->id);
		return false;
	}
	if (t->rcpt_count == 0)
		judge_rules_set(t, late, refusal);
	return true;
}

/* ---- after it --------------------------------------------------------- */

static void
judge_refuse(struct session *session, const struct session_answer *refusal)
{
	struct transaction *t = session->transaction;

	t->is_refused = true;
	t->refused_by = "policy";
	t->refusal = *refusal;
	snprintf(t->refusal_status, sizeof(t->refusal_status), "%s",
	    refusal->status);
}

static void
judge_refuse_by(struct session *session, const struct conf_rule *rule,
    const struct late_origin *origin)
{
	struct str words = STR_INIT;
	struct session_answer answer;

	late_add_reply(&words, rule, origin);
	answer_set(&answer, rule->action == ACTION_DEFER ? 451 : 550,
	    late_status(rule),
	    "%s (ref %s)", words.buf, session->id);
	answer.rule = rule;
	judge_refuse(session, &answer);
	str_release(&words);
}

/* A rule that fits.  returns whether it decided. */
static bool
judge_rule_apply(struct session *session, const struct conf_rule *rule,
    const struct late_origin *origin)
{
	struct transaction *t = session->transaction;

	if (rule->is_shadow) {
		note_shadow(session, rule, NULL);
		return false;
	}
	switch (rule->action) {
	case ACTION_FREEZE:
		t->late_freeze = rule;
		if (t->freeze == NULL)
			t->freeze = rule;
		return true;
	case ACTION_REJECT:
	case ACTION_DEFER:
		judge_refuse_by(session, rule, origin);
		return true;
	case ACTION_ACCEPT:
	case ACTION_SERVICE:
		break;
	}
	return true;
}

void
judge_refuse_for_now(struct session *session)
{
	struct session_answer answer;

	answer_set(&answer, 451, "4.7.0", "whose mail this is cannot be told "
	    "now, try later (ref %s)", session->id);
	judge_refuse(session, &answer);
}

bool
judge_rules_apply(struct session *session, const struct late_origin *origin)
{
	struct transaction *t = session->transaction;

	for (unsigned i = 0; origin != NULL && i < t->late.count; i++)
		if (late_fits(t->late.all[i], origin) &&
		    judge_rule_apply(session, t->late.all[i], origin))
			return !t->is_refused;
	if (t->late_refusal == NULL)
		return true;
	if (origin == NULL)
		judge_refuse_for_now(session);
	else
		judge_refuse(session, t->late_refusal);
	return false;
}
