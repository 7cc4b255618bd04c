/* rules.h - the rules of a message that wait for whose mail it is
 *
 * policy/late.h says what they are.  The reply to the end of data is one for
 * all recipients, so they all have the same such rules.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_JUDGE_RULES_H
#define ZM_SMTPSERVER_SESSION_JUDGE_RULES_H

#include "smtpserver/policy/policy.h"
#include "smtpserver/session/session.h"

/* Keep the rules that were put by for a recipient who is taken so far;
 * refusal: what it is told if none of them takes the message; NULL: it is
 * taken then.  false: other rules wait for those before; out has 452. */
bool judge_rules_keep(struct session *session, const struct late_rules *late,
    const struct session_answer *refusal, struct session_answer *out);

/* The message was judged; origin NULL: nobody could.
 * returns true: it may be stored, in freezer/ if a rule says so.  false: the
 * transaction has the refusal. */
bool judge_rules_apply(struct session *session,
    const struct late_origin *origin);
/* Nobody could judge, and somebody must: the transaction has a refusal after
 * which the client tries again. */
void judge_refuse_for_now(struct session *session);

#endif
