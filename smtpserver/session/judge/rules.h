/* rules.h - the late rules of a message
 *
 * policy/late.h says what they are.  The end of data has one reply for all
 * recipients, so all of them must have the same late rules.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_JUDGE_RULES_H
#define ZM_SMTPSERVER_SESSION_JUDGE_RULES_H

#include "smtpserver/policy/policy.h"
#include "smtpserver/session/session.h"

/* Keep the rules that were left open for a recipient that is accepted so far;
 * refusal: the reply if none of them takes the message; NULL: it is taken then.
 * false: the recipients before have other rules; out has 452. */
bool judge_rules_keep(struct session *session, const struct late_rules *late,
    const struct session_answer *refusal, struct session_answer *out);

/* The message was authenticated; origin NULL: that failed.
 * returns true: it may be stored, in freezer/ if a rule says so.  false: the
 * transaction has the refusal. */
bool judge_rules_apply(struct session *session,
    const struct late_origin *origin);
/* It could not be authenticated, and must be: put a refusal into the
 * transaction after which the client tries again. */
void judge_refuse_for_now(struct session *session);

#endif
