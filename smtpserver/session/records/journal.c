/* journal.c - what a session leaves in the journal
 *
 * In     a session at a moment worth a line
 * Out    events
 * Spec   zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "journal/counters.h"
#include "journal/event.h"
#include "journal/neighbours.h"
#include "smtpserver/session/records/journal.h"

#include "base/banned.h"

/* Where the rule was written: "zmailer.conf:17". */
static void
note_add_rule(struct str *out, const struct conf_rule *rule)
{
	if (rule != NULL)
		str_addf(out, "%s:%u", rule->at.file ? rule->at.file : "",
		    rule->at.line);
}

void
note_open(const struct session *session)
{
	event(EV_SESSION_OPEN, NULL,
	    "client", slice_of(session->client.text),
	    "listener", slice_of(session->client.listener),
	    "session", slice_of(session->id), NULL);
}

void
note_close(const struct session *session)
{
	const char *reason = session->end_reason;

	event(EV_SESSION_CLOSE, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id),
	    "helo", str_slice(&session->helo),
	    "messages", event_number(session->messages),
	    "reason", slice_of(reason ? reason : "eof"),
	    "commands", event_number(session->commands), NULL);
}

void
note_answered(const struct session *session)
{
	counters_tell(TALLY_COMMAND, SLICE(""),
	    clock_steady_us() - session->asked_at_us);
}

void
note_tls_open(const struct session *session)
{
	const struct tls_info *tls = session->tls;

	event(EV_TLS_OPEN, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id),
	    "version", slice_of(tls->version),
	    "cipher", slice_of(tls->cipher),
	    "asked", slice_of(tls->asked),
	    "peer", slice_of(tls->peer),
	    "verified", tls->fingerprint[0] == '\0' ? SLICE("") :
	    tls->is_verified ? SLICE("yes") : slice_of(tls->why),
	    "fingerprint", slice_of(tls->fingerprint),
	    "resumed", tls->is_resumed ? SLICE("yes") : SLICE("no"), NULL);
}

void
note_tls_failed(const struct session *session, const char *reason)
{
	event(EV_TLS_FAILED, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id),
	    "reason", slice_of(reason), NULL);
}

void
note_tls_injected(const struct session *session, size_t bytes)
{
	event(EV_TLS_INJECTED, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id),
	    "bytes", event_number((int64_t)bytes), NULL);
}

void
note_auth_ok(const struct session *session)
{
	event(EV_AUTH_OK, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id),
	    "mech", slice_of(session->login->mechanism),
	    "user", str_slice(&session->user), NULL);
}

void
note_auth_failed(const struct session *session, const char *reason)
{
	event(EV_AUTH_FAILED, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id),
	    "listener", slice_of(session->client.listener),
	    "mech", slice_of(session->login->mechanism),
	    "user", str_slice(&session->login->user),
	    "reason", slice_of(reason), NULL);
}

/* What a client tried to log in with is nobody's business. */
static struct slice
note_without_secret(struct slice line)
{
	return slice_is_nocase(slice_first(line, 4), "AUTH") ?
	    slice_first(line, 4) : line;
}

void
note_command_refused(const struct session *session, struct slice line,
    const struct session_answer *answer)
{
	struct str rule = STR_INIT, from = STR_INIT;

	note_add_rule(&rule, answer->rule);
	if (session->transaction != NULL)
		transaction_add_sender(session->transaction, &from);
	event(EV_COMMAND_REFUSED, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id),
	    "helo", str_slice(&session->helo), "from", str_slice(&from),
	    "command", note_without_secret(line),
	    "code", slice_of(answer->status ? answer->status : ""),
	    "reply", slice_of(answer->text), "rule", str_slice(&rule), NULL);
	str_release(&rule);
	str_release(&from);
}

void
note_early(const struct session *session)
{
	event(EV_CLIENT_EARLY, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id), NULL);
}

void
note_shadow(const struct session *session, const struct conf_rule *rule,
    const struct path *rcpt)
{
	struct str from = STR_INIT, to = STR_INIT, at = STR_INIT;

	transaction_add_sender(session->transaction, &from);
	if (rcpt != NULL)
		path_add(&to, rcpt);
	note_add_rule(&at, rule);
	event(EV_POLICY_SHADOW, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id), "from", str_slice(&from),
	    "to", str_slice(&to), "would", slice_of(rule->word),
	    "rule", str_slice(&at), NULL);
	str_release(&from);
	str_release(&to);
	str_release(&at);
}

void
note_policy_trouble(const struct session *session,
    const struct conf_rule *rule, const struct err *err)
{
	struct str at = STR_INIT;

	note_add_rule(&at, rule);
	if (rule != NULL && rule->service != NULL)
		neighbour_told("policy-service", rule->service);
	event(EV_POLICY_TROUBLE, NULL,
	    "session", slice_of(session->id), "rule", str_slice(&at),
	    "reason", slice_of(err->text), NULL);
	str_release(&at);
}

void
note_policy_warning(const struct session *session, const char *text)
{
	struct str from = STR_INIT;

	transaction_add_sender(session->transaction, &from);
	event(EV_POLICY_WARNING, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id), "from", str_slice(&from),
	    "text", slice_of(text), NULL);
	str_release(&from);
}

void
note_helper_trouble(const struct session *session, const struct ask *ask)
{
	event(EV_POLICY_TROUBLE, NULL,
	    "session", slice_of(session->id), "helper", slice_of(ask->kind),
	    "reason", str_slice(&ask->answer), NULL);
}

void
note_origin_failed(const struct session *session, const char *id,
    struct slice reason)
{
	event(EV_ORIGIN_FAILED, id, "session", slice_of(session->id),
	    "reason", reason, NULL);
}

void
note_copy_missing(const struct session *session, const char *id,
    struct slice reason)
{
	event(EV_COPY_MISSING, id, "session", slice_of(session->id),
	    "reason", reason, NULL);
}

void
note_spool_trouble(const struct draft *draft, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, draft->id, "file", slice_of(draft->name),
	    "call", slice_of(call), "reason", slice_of(err->text), NULL);
}

static struct slice
note_origin(enum origin origin)
{
	return slice_of(origin_text(origin));
}

struct note_more {		/* a member that may not be there */
	const char	*key;
	struct slice	 value;
};

/* The note of who judged, and what a rule about it did. */
static struct slice
note_report(const struct transaction *t, struct str *out)
{
	str_adds(out, t->judged.report);
	if (t->late_freeze != NULL)
		str_adds(out, ";done=quarantine");
	return str_slice(out);
}

/* What else was judged; a member without a key is the end of an event. */
static void
note_judged_more(const struct transaction *t, struct str *report,
    struct note_more *out)
{
	if (t->judged.arc != ORIGIN_NONE)
		*out++ = (struct note_more){ "arc",
		    note_origin(t->judged.arc) };
	if (t->judged.dkim2 != ORIGIN_NONE)
		*out++ = (struct note_more){ "dkim2",
		    note_origin(t->judged.dkim2) };
	if (t->judged.sealer[0] != '\0')
		*out++ = (struct note_more){ "sealer",
		    slice_of(t->judged.sealer) };
	if (t->judged.report[0] != '\0')
		*out = (struct note_more){ "report", note_report(t, report) };
}

void
note_message_accepted(const struct session *session)
{
	const struct transaction *t = session->transaction;
	struct str from = STR_INIT, rule = STR_INIT, file = STR_INIT;
	struct str report = STR_INIT;
	struct note_more more[4] = { { NULL, SLICE("") } };
	char cause[FREEZE_CAUSE_BYTES];

	note_judged_more(t, &report, more);
	transaction_add_sender(t, &from);
	event(EV_MESSAGE_ACCEPTED, t->draft.id,
	    "client", slice_of(session->client.text),
	    "listener", slice_of(session->client.listener),
	    "session", slice_of(session->id),
	    "helo", str_slice(&session->helo), "from", str_slice(&from),
	    "rcpts", event_number(t->rcpt_count),
	    "size", event_number((int64_t)t->content.bytes),
	    "with", t->envelope.with,
	    "forward", str_slice(&session->forward),
	    t->is_judged ? "spf" : NULL, note_origin(t->judged.spf),
	    "dkim", note_origin(t->judged.dkim),
	    "dmarc", note_origin(t->judged.dmarc),
	    more[0].key, more[0].value, more[1].key, more[1].value,
	    more[2].key, more[2].value, more[3].key, more[3].value, NULL);
	str_release(&report);
	if (transaction_is_frozen(t)) {
		if (t->freeze != NULL)
			note_add_rule(&rule, t->freeze);
		transaction_freeze_cause(t, cause);
		str_addf(&file, "%ju.%s", (uintmax_t)t->draft.inode, cause);
		event(EV_MESSAGE_FROZEN, t->draft.id,
		    "client", slice_of(session->client.text),
		    "listener", slice_of(session->client.listener),
		    "from", str_slice(&from), "rule", str_slice(&rule),
		    "text", t->envelope.aside, "file", str_slice(&file), NULL);
	}
	str_release(&from);
	str_release(&rule);
	str_release(&file);
}

void
note_message_waited(const struct session *session, const char *verdict,
    struct slice status, struct slice words)
{
	event(EV_MESSAGE_WAITED, session->transaction->draft.id,
	    "client", slice_of(session->client.text),
	    "listener", slice_of(session->client.listener),
	    "session", slice_of(session->id), "verdict", slice_of(verdict),
	    "code", status, "reason", words, "delay",
	    event_number((clock_steady_us() - session->asked_at_us) / 1000),
	    NULL);
}

void
note_message_discarded(const struct session *session)
{
	const struct transaction *t = session->transaction;
	struct str from = STR_INIT;

	transaction_add_sender(t, &from);
	event(EV_MESSAGE_DISCARDED, t->draft.id,
	    "client", slice_of(session->client.text),
	    "listener", slice_of(session->client.listener),
	    "from", str_slice(&from), NULL);
	str_release(&from);
}

/* What the limits say of a message's content. */
static void
note_count_limit(enum content_fault fault)
{
	static const char *const limits[] = {
		[CONTENT_TOO_BIG] = "size",
		[CONTENT_HEADER_TOO_BIG] = "header",
		[CONTENT_LOOP] = "received",
		[CONTENT_LINE_TOO_LONG] = "line",
		[CONTENT_IO] = NULL
	};

	if (limits[fault] != NULL)
		counters_limit(limits[fault]);
}

void
note_message_refused(const struct session *session,
    const struct session_answer *answer)
{
	const struct transaction *t = session->transaction;
	struct str from = STR_INIT, at = STR_INIT;

	note_count_limit(t->content.fault);
	transaction_add_sender(t, &from);
	note_add_rule(&at, answer->rule);
	event(EV_MESSAGE_REFUSED, t->draft.id,
	    "client", slice_of(session->client.text),
	    "listener", slice_of(session->client.listener),
	    "session", slice_of(session->id), "from", str_slice(&from),
	    "code", slice_of(answer->status),
	    "reply", slice_of(answer->text),
	    "rcpts", event_number(t->rcpt_count),
	    "rule", str_slice(&at), NULL);
	str_release(&from);
	str_release(&at);
}
