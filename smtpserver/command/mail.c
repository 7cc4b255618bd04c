/* mail.c - MAIL
 *
 *	mail = "MAIL FROM:" Reverse-path [ SP Mail-parameters ] CRLF
 *
 * RFC 5321 section 4.1.1.2; the parameters: mail_params.c.  A blank after
 * the colon is tolerated.
 *
 * SPDX-License-Identifier: ISC
 */
#include "journal/counters.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/command/keywords.h"
#include "smtpserver/command/mail_params.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/session/records/record.h"

#include "base/banned.h"

static void
mail_say_full(struct session_answer *out)
{
	answer_set(out, 452, "4.3.1", "no space to store it now, try later");
}

static bool
mail_has_room(struct session *session, const struct mail_params *params,
    struct session_answer *out)
{
	const struct conf_limits *limits = &session->settings->conf->limits;

	if (limits->session_messages > 0 &&
	    session->messages >= limits->session_messages) {
		counters_limit("session-messages");
		answer_set(out, 421, "4.7.0",
		    "that is enough for one session, please connect again");
	} else if (limits->size_bytes > 0 &&
	    params->size_bytes > limits->size_bytes) {
		counters_limit("size");
		answer_set(out, 552, "5.3.4",
		    "a message may have at most %llu bytes",
		    (unsigned long long)limits->size_bytes);
	} else if (!space_has(&session->service->space, params->size_bytes,
	    false)) {
		mail_say_full(out);
	} else {
		return true;
	}
	return false;
}

/* RFC 6531 section 3.5. */
static bool
is_spelt_right(const struct path *sender, const struct mail_params *params,
    struct session_answer *out)
{
	if (params->terms.is_utf8 || (argument_is_ascii(sender->local) &&
	    argument_is_ascii(sender->domain)))
		return true;
	answer_set(out, 553, "5.6.7",
	    "an address beyond ASCII needs SMTPUTF8");
	return false;
}

static struct transaction *
mail_transaction(const struct session *session, const struct path *sender,
    const struct mail_params *params)
{
	struct transaction *t = transaction_new(sender);

	t->envelope.bodytype = params->bodytype;
	t->envelope.ret = params->ret;
	t->envelope.envid = slice_copy(t->arena, params->envid);
	t->envelope.terms = params->terms;
	t->envelope.terms.auth = slice_copy(t->arena, params->terms.auth);
	t->priority_asked = params->priority_asked;
	t->size_bytes = params->size_bytes;
	t->domains_max = session->settings->conf->limits.recipient_domains;
	return t;
}

/* RFC 4954 section 6. */
static bool
mail_owes_login(const struct session *session, struct session_answer *out)
{
	if (!policy_owes_login(session->settings->conf,
	    session->service->is_submission, session->user.len > 0))
		return false;
	answer_set(out, 530, "5.7.0", keyword_is_on(session, EHLO_STARTTLS) ?
	    "say STARTTLS, and then log in" : "log in first");
	return true;
}

static void
mail_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	permit_learn(session, ask);
	cmd_mail(session, args, out);
}

/* Who of those that know nothing of rules said no; NULL: nobody did. */
static const char *
mail_refused_by(struct session *session, const struct path *sender,
    const struct mail_params *params, struct session_answer *out)
{
	if (!is_spelt_right(sender, params, out))
		return "filter";
	if (!mail_has_room(session, params, out))
		return out->code == 452 ? "filter" : "room";
	return permit_sender(session, sender, mail_answered, out) ? NULL :
	    "owner";
}

/* What a milter or the disk says, and a question that is out. */
static bool
mail_is_wanted(struct session *session, const struct path *sender,
    const struct mail_params *params, struct slice rest,
    struct session_answer *out)
{
	struct filter_extra extra = { .path = sender, .params = rest };
	struct permit_early early = { .stage = POLICY_AT_MAIL,
	    .sender = sender, .size_bytes = params->size_bytes };
	struct decided decided = { .stage = "mail", .sender = sender,
	    .size_bytes = params->size_bytes };

	decided.by = mail_refused_by(session, sender, params, out);
	if (decided.by != NULL) {
		if (session->ask == NULL)	/* else: nothing, yet */
			record_decided(session, &decided, out);
		return false;
	}
	if (!permit_early(session, &early, mail_answered, out))
		return false;
	if (session_filter_permit(session, TALK_MAIL, &extra, mail_answered,
	    out))
		return true;
	record_filtered(session, &decided, out);
	return false;
}

void
cmd_mail(struct session *session, struct slice args, struct session_answer *out)
{
	struct mail_params params = { 0 };
	struct decided decided = { .stage = "mail", .by = "login" };
	struct promise promise;
	struct path sender;
	struct slice rest;

	if (mail_owes_login(session, out)) {
		record_decided(session, &decided, out);
		return;
	}
	if (!argument_path(session, args, "FROM:", PATH_NULL_OK |
	    (mail_params_utf8(args) ? PATH_UTF8 : 0), "5.1.7", &sender,
	    &rest, out) ||
	    !mail_params_take(session, rest, &params, out) ||
	    !mail_is_wanted(session, &sender, &params, rest, out))
		return;
	if (!promise_make(&session->service->space, params.size_bytes,
	    &promise)) {
		mail_say_full(out);
		return;
	}
	permit_end_message(session);	/* the one before it */
	session->transaction = mail_transaction(session, &sender, &params);
	session->transaction->promise = promise;
	session_filter_mark(session);
	answer_set(out, 250, "2.1.0", "sender ok");
}
