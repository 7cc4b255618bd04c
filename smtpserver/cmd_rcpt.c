/* cmd_rcpt.c - RCPT
 *
 *	rcpt = "RCPT TO:" ( "<Postmaster@" Domain ">" / "<Postmaster>" /
 *	       Forward-path ) [ SP Rcpt-parameters ] CRLF
 *	NOTIFY=NEVER / NOTIFY=1#( SUCCESS FAILURE DELAY )  RFC 3461 section 4.1
 *	ORCPT=addr-type;xtext                              RFC 3461 section 4.2
 *
 * RFC 5321 section 4.1.1.3.  A source route is dropped.  Who may be a
 * recipient is policy.c's to say; whether a user exists, the router's.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/argument.h"
#include "smtpserver/commands.h"

#include "base/banned.h"

enum { NOTIFY, ORCPT };

static const char *const known[] = { "NOTIFY", "ORCPT", NULL };

static bool
params_take(struct session *session, struct slice rest,
    struct envelope_rcpt *rcpt, struct answer *out)
{
	struct slice value;
	unsigned seen = 0;
	struct err err;
	int which, taken;

	while ((which = argument_param(session, &rest, known, &seen, &value,
	    out)) >= 0) {
		if (which == NOTIFY) {
			taken = dsn_notify_parse(value, &rcpt->notify, &err);
		} else {
			rcpt->orcpt = value;
			taken = dsn_orcpt_check(value, &err);
		}
		if (taken != 1) {
			answer_set(out, 501, "5.5.4", "%s", err.text);
			return false;
		}
	}
	return which == ARGUMENT_END;
}

/* Ask the policy.  A freeze rule is kept with the transaction. */
static bool
is_permitted(struct session *session, const struct path *rcpt,
    struct answer *out)
{
	struct transaction *t = session->transaction;
	struct policy_question question;
	struct policy_verdict verdict;

	question.client = session->client.net;
	question.sender = t->envelope.from;
	question.rcpt = *rcpt;
	policy_ask(session->settings->policy, &question, &verdict);
	out->rule = verdict.rule;
	switch (verdict.result) {
	case POLICY_ACCEPT:
		if (t->freeze == NULL)
			t->freeze = verdict.freeze;
		return true;
	case POLICY_REJECT:
		answer_set(out, 550, "5.7.1", "%s",
		    verdict.rule->text != NULL && *verdict.rule->text ?
		    verdict.rule->text : "refused by local policy");
		break;
	case POLICY_NO_RELAY:
		answer_set(out, 550, "5.7.1",
		    "we do not relay mail for this domain");
		break;
	case POLICY_TROUBLE:
		answer_set(out, 451, "4.3.0",
		    "policy cannot be looked up now, try later");
		break;
	}
	out->rule = verdict.rule;
	return false;
}

void
cmd_rcpt(struct session *session, struct slice args, struct answer *out)
{
	unsigned max = session->settings->conf->limits.recipients;
	struct envelope_rcpt rcpt = { 0 };
	struct slice rest;
	struct err err;

	if (!argument_path(args, "TO:", PATH_POSTMASTER_OK, "5.1.3",
	    &rcpt.path, &rest, out) ||
	    !params_take(session, rest, &rcpt, out))
		return;
	if (max > 0 && session->transaction->rcpt_count >= max) {
		answer_set(out, 452, "4.5.3",
		    "that is enough recipients, send the others separately");
		return;
	}
	if (!is_permitted(session, &rcpt.path, out))
		return;
	if (transaction_add_rcpt(session->transaction, &rcpt, &err) != 1)
		answer_set(out, 501, "5.1.3", "%s", err.text);
	else
		answer_set(out, 250, "2.1.5", "recipient ok");
}
