/* fit_service.c - a rule that a policy service decides
 *
 * In     what is known of the client, the session and the addresses
 * Out    a question in the attributes of the protocol; the service's opinion
 * Holds  nothing
 * Trusts no service to know what it says: an action that is not known here
 *        is none
 * Spec   Postfix SMTPD_POLICY_README; zmailer.conf(5), policy-service
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>

#include "grammar/smtp/xtext.h"
#include "smtpserver/policy/internal.h"

#include "base/banned.h"

static void
service_add_number(struct str *out, const char *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	policyd_add(out, name, slice_of(text));
}

/* Postfix writes them as xtext, and so do we; its subject and issuer are
 * common names, ours the whole. */
static void
service_add_cert(const struct policy_cert *cert, struct str *out)
{
	const struct {
		const char	*name;
		struct slice	 value;
		bool		 is_proven;	/* without a root of ours */
	} rows[] = {
		{ "ccert_subject", cert->subject, false },
		{ "ccert_issuer", cert->issuer, false },
		{ "ccert_fingerprint", cert->fingerprint, true },
	};
	struct str text = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		str_reset(&text);
		if (rows[i].is_proven || cert->is_verified)
			xtext_encode(&text, rows[i].value);
		policyd_add(out, rows[i].name, str_slice(&text));
	}
	str_release(&text);
}

static void
service_add_client(struct trial *trial, struct slice name, struct str *out)
{
	const struct policy_question *question = trial->question;

	policyd_add(out, "client_address", slice_of(client_net(trial, 4,
	    16)));
	policyd_add(out, "client_name", name);
	policyd_add(out, "reverse_client_name", name);
	service_add_number(out, "client_port", question->port);
	policyd_add(out, "helo_name", question->helo);
	policyd_add(out, "sasl_username", question->user);
	policyd_add(out, "sasl_method", question->mechanism);
	policyd_add(out, "sasl_sender", SLICE(""));
	policyd_add(out, "encryption_protocol", question->is_encrypted ?
	    SLICE("TLS") : SLICE(""));
	service_add_cert(&question->cert, out);
}

static void
service_add_attributes(struct trial *trial, struct slice name, struct str *out)
{
	const struct policy_question *question = trial->question;

	policyd_add(out, "request", SLICE("smtpd_access_policy"));
	policyd_add(out, "protocol_state", SLICE("RCPT"));
	policyd_add(out, "protocol_name", question->is_esmtp ?
	    SLICE("ESMTP") : SLICE("SMTP"));
	service_add_client(trial, name, out);
	policyd_add(out, "queue_id", SLICE(""));
	policyd_add(out, "instance", question->instance);
	policyd_add(out, "sender", trial->sender.text);
	policyd_add(out, "recipient", trial->rcpt.text);
	service_add_number(out, "recipient_count", 0);
	service_add_number(out, "size", question->size_bytes);
	policyd_add(out, "server_address", slice_first(question->listener,
	    question->listener.n));
}

static const struct fact *
service_ask(struct trial *trial, const struct conf_rule *rule,
    struct slice name)
{
	struct str text = STR_INIT;
	struct slice question;

	str_addf(&text, "%s ", rule->service);
	service_add_attributes(trial, name, &text);
	question = slice_copy(trial->policy->scratch, str_slice(&text));
	str_release(&text);
	return fact_or_need(trial, "policy", question, FACT_TURN);
}

static enum fit
service_without_answer(struct trial *trial, const struct conf_rule *rule)
{
	return rule->service_optional ? FIT_NO : FIT_TROUBLE;
}

static void
service_keep_field(struct trial *trial, struct slice field)
{
	struct policy_verdict *out = trial->out;

	if (out->field_count < POLICY_FIELDS_MAX)
		out->fields[out->field_count++] =
		    slice_dup(trial->policy->scratch, field);
}

enum fit
fit_service(struct trial *trial, const struct conf_rule *rule)
{
	const struct fact *fact;
	struct slice name;
	enum client_name found;

	if (rule->service == NULL)
		return FIT_YES;
	found = trial_name(trial, &name);
	if (found == CLIENT_NAME_NEED)
		return FIT_NEED;
	fact = service_ask(trial, rule, found == CLIENT_NAME_KNOWN ? name :
	    SLICE("unknown"));
	if (fact == NULL)
		return FIT_NEED;
	if (fact->state == ASK_TROUBLE) {
		err_set(&trial->out->err, SLICE_FMT, SLICE_ARG(fact->answer));
		return service_without_answer(trial, rule);
	}
	if (policyd_action_parse(fact->answer, &trial->service,
	    &trial->out->err) < 0)
		return service_without_answer(trial, rule);
	switch (trial->service.action) {
	case POLICYD_DUNNO:
		return FIT_NO;
	case POLICYD_PREPEND:
		service_keep_field(trial, trial->service.text);
		return FIT_NO;
	case POLICYD_WARN:
		trial->out->warning = slice_dup(trial->policy->scratch,
		    trial->service.text);
		return FIT_NO;
	default:
		return FIT_YES;
	}
}
