/* fit_spf.c - does SPF fit, which is known before a message comes
 *
 * In     a rule that asks for SPF alone; the client, HELO and the sender
 * Out    yes, no, or the question for the helper
 * Holds  nothing
 * Trusts the helper, but for the form of its answer
 * Spec   late.h; origin/judge.h; doc/AUTH.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/origin/judge.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

/* The same for all recipients of a transaction, so that it is asked once. */
static struct slice
spf_question(struct trial *trial)
{
	const struct policy_question *question = trial->question;
	struct slice instance = question->instance, session;
	struct str text = STR_INIT, sender = STR_INIT;
	struct slice result;

	(void)slice_cut(&instance, '.', &session);
	if (!path_is_null(&question->sender))
		path_add(&sender, &question->sender);
	judge_question_add(&text, &(struct judge_question){
	    .is_spf_alone = true, .id = session,
	    .client_text = slice_of(arena_printf(trial->policy->scratch,
	    "[%s]", client_net(trial, 4, 16))),
	    .helo = question->helo, .sender = str_slice(&sender) });
	result = slice_copy(trial->policy->scratch, str_slice(&text));
	str_release(&text);
	str_release(&sender);
	return result;
}

enum fit
fit_spf(struct trial *trial, const struct conf_rule *rule)
{
	const struct fact *fact;

	/* whose message will not be judged; what is not known yet lets
	 * nobody, as there (permit_is_stranger) */
	if (trial->question->user.n > 0 || fit_trusted(trial) == FIT_YES)
		return FIT_NO;
	if (!trial->question->asks_spf)
		return FIT_LATE;
	fact = fact_or_need(trial, judge_kind, spf_question(trial),
	    FACT_MESSAGE);
	if (fact == NULL)
		return FIT_NEED;
	/* Nobody is refused because it cannot be judged now, and nobody is
	 * taken: the rule waits for the message. */
	if (fact->state == ASK_TROUBLE ||
	    judge_spf_parse(fact->answer, &trial->spf, &trial->spf_at) != 0)
		return FIT_LATE;
	return late_spf_fits(rule, trial->spf) ? FIT_YES : FIT_NO;
}
