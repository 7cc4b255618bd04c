/* rcpt.c - RCPT
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
#include "journal/counters.h"
#include "smtpserver/command/argument.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/session/recipient/recipient.h"
#include "smtpserver/session/records/record.h"
#include "smtpserver/session/recipient/cut_through.h"

#include "base/banned.h"

static bool
rcpt_param_notify(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct envelope_rcpt *rcpt = target;
	struct err err;

	if (dsn_notify_parse(value, &rcpt->notify, &err) == 0)
		return true;
	answer_set(out, 501, "5.5.4", "%s", err.text);
	return false;
}

/* RFC 6533 section 3: bare UTF-8 needs SMTPUTF8. */
static bool
rcpt_param_orcpt(struct session *session, struct slice value, void *target,
    struct session_answer *out)
{
	struct err err = { "ORCPT beyond ASCII needs SMTPUTF8" };

	((struct envelope_rcpt *)target)->orcpt = value;
	if ((session->transaction->envelope.terms.is_utf8 ||
	    argument_is_ascii(value)) && dsn_orcpt_check(value, &err) == 0)
		return true;
	answer_set(out, 501, "5.5.4", "%s", err.text);
	return false;
}

static const struct argument_row rows[] = {
	{ "NOTIFY", EHLO_DSN, true, rcpt_param_notify },
	{ "ORCPT", EHLO_DSN, true, rcpt_param_orcpt },
	{ NULL, EHLO_COUNT, false, NULL }
};

static bool
rcpt_has_room(struct session *session, const struct path *rcpt,
    struct session_answer *out)
{
	const struct conf_limits *limits = &session->settings->conf->limits;
	struct transaction *t = session->transaction;

	if (limits->recipients > 0 && t->rcpt_count >= limits->recipients) {
		counters_limit("recipients");
		answer_set(out, 452, "4.5.3",
		    "that is enough recipients, send the others separately");
	} else if (!transaction_has_domain_room(t, rcpt)) {
		counters_limit("recipient-domains");
		answer_set(out, 452, "4.5.3",
		    "that is enough domains, send the others separately");
	} else {
		return true;
	}
	return false;
}

/* With one more answer, from the start. */
static void
rcpt_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	permit_learn(session, ask);
	cmd_rcpt(session, args, out);
}

/* Who of those that are asked in turn said no; NULL: nobody did, or a
 * question is out.  *decided keeps what the policy said. */
static const char *
rcpt_asked(struct session *session, const struct filter_extra *extra,
    struct decided *decided, struct session_answer *out)
{
	const struct conf_rule *rule;
	bool is_set_aside;

	if (!rcpt_has_room(session, extra->path, out))
		return "room";
	if (!permit_rcpt(session, extra->path, rcpt_answered, out)) {
		decided->rule = out->rule;
		/* what other recipients of the message brought about is
		 * nothing that a line tells */
		return out->code == 452 && out->rule == NULL ? "filter" :
		    "policy";
	}
	rule = out->rule;
	is_set_aside = out->is_set_aside;
	if (!recipient_check(session, extra->path, rcpt_answered, out))
		return "router";
	if (!session_filter_permit(session, TALK_RCPT, extra, rcpt_answered,
	    out))
		return session_filter_by(session);
	decided->rule = rule;
	decided->is_set_aside = is_set_aside;
	return NULL;
}

static void
rcpt_into_transaction(struct session *session, const struct envelope_rcpt *rcpt,
    struct session_answer *out)
{
	struct err err;

	if (transaction_add_rcpt(session->transaction, rcpt, &err) < 0) {
		answer_set(out, 501, "5.1.3", "%s", err.text);
		return;
	}
	cut_through_note_rcpt(session, &rcpt->path);
	answer_set(out, 250, "2.1.5", "recipient ok");
}

void
cmd_rcpt(struct session *session, struct slice args, struct session_answer *out)
{
	const struct transaction *t = session->transaction;
	bool is_utf8 = t->envelope.terms.is_utf8;
	struct filter_extra extra = { .path = NULL };
	struct envelope_rcpt rcpt = { 0 };
	struct decided decided = { .stage = "rcpt", .rcpt = &rcpt.path,
	    .sender = &t->envelope.from, .size_bytes = t->size_bytes };

	if (!argument_path(session, args, "TO:", PATH_POSTMASTER_OK |
	    (is_utf8 ? PATH_UTF8 : 0), "5.1.3", &rcpt.path, &extra.params,
	    out) ||
	    !params_take(session, extra.params, rows, &rcpt, out))
		return;
	extra.path = &rcpt.path;
	decided.by = rcpt_asked(session, &extra, &decided, out);
	if (session->ask != NULL)
		return;
	if (decided.by != NULL && session->filter != NULL)
		decided.said = str_slice(&session->filter->said);
	if (decided.by == NULL) {
		decided.by = "policy";
		rcpt_into_transaction(session, &rcpt, out);
	}
	record_decided(session, &decided, out);
}
