/* permit.c - the policy's verdict on a recipient, as an answer
 *
 * In     a session, a recipient
 * Out    yes, a refusal, or a question for a helper
 * Holds  nothing; answers that hold for the session are the session's
 * Spec   policy.h; RFC 3463 section 3.8
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "journal/counters.h"
#include "smtpserver/origin/judge.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/judge/rules.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/session/records/record.h"

#include "base/banned.h"

/* "192.0.2.1:4711" */
static unsigned
permit_port(const struct session *session)
{
	struct slice text = slice_of(session->client.text);
	size_t at = text.n;
	uint64_t port = 0;

	while (at > 0 && text.p[at - 1] != ':')
		at--;
	(void)slice_number(slice_from(text, at), 1, 65535, &port);
	return (unsigned)port;
}

static void
permit_question_fill(const struct session *session, struct policy_question *out)
{
	*out = (struct policy_question){
		.client = session->client.net,
		.listener = slice_of(session->client.listener),
		.is_submission = session->listen != NULL &&
		    session->listen->is_submission,
		.name = str_slice(&session->name),
		.port = permit_port(session),
		.is_esmtp = session->is_esmtp,
		.helo = str_slice(&session->helo),
		.is_encrypted = session->tls != NULL,
		.user = str_slice(&session->user),
		.mechanism = slice_of(session->mechanism),
		.is_judged = session->settings->conf->verifies_origin &&
		    !session_is_lmtp(session),
		.asks_spf = true,
		.facts = session->facts,
	};
	if (session->tls != NULL)
		out->cert = (struct policy_cert){
			.subject = slice_of(session->tls->subject),
			.issuer = slice_of(session->tls->issuer),
			.fingerprint = slice_of(session->tls->fingerprint),
			.is_verified = session->tls->is_verified,
		};
}

/* 0: as long as for most. */
static int64_t
permit_patience_ms(const struct session *session, const char *kind)
{
	if (strcmp(kind, "share") == 0 || strcmp(kind, "greet") == 0)
		return session->settings->conf->cluster.patience_ms +
		    CLUSTER_MARGIN_MS;
	return strcmp(kind, judge_kind) == 0 ? JUDGE_SPF_FOR_MS : 0;
}

static void
permit_ask_for(struct session *session, const struct policy_need *need,
    answered_fn *fn)
{
	session_ask(session, need->kind, need->question,
	    permit_patience_ms(session, need->kind), fn);
	session->ask->scope = (int)need->scope;
}

/* A rule that counts has had its say. */
static void
permit_count_limit(const struct conf_rule *rule)
{
	if (rule != NULL && rule->count.kind != COUNT_NOTHING)
		counters_limit(rule->count.kind == COUNT_PARALLEL ?
		    "parallel" : "rate");
}

static void
permit_refuse(struct session *session, const struct policy_verdict *verdict,
    struct session_answer *out)
{
	struct policy_reply reply;

	if (verdict->result != POLICY_TROUBLE)
		permit_count_limit(verdict->rule);
	policy_reply(verdict, &reply);
	answer_set(out, reply.code, reply.status, "%s (ref %s)", reply.words,
	    session->id);
	out->rule = verdict->rule;
}

/* What decides when the message has come. */
static bool
permit_keep_late(struct session *session, const struct policy_verdict *verdict,
    struct session_answer *out)
{
	struct policy_verdict held = policy_held(verdict);
	struct session_answer refusal;

	if (held.result == POLICY_ACCEPT)
		return judge_rules_keep(session, &verdict->late, NULL, out);
	permit_refuse(session, &held, &refusal);
	return judge_rules_keep(session, &verdict->late, &refusal, out);
}

static bool
permit_conclude(struct session *session, const struct policy_verdict *verdict,
    struct session_answer *out)
{
	struct transaction *t = session->transaction;

	if (verdict->result == POLICY_ACCEPT) {
		if (!permit_keep_late(session, verdict, out))
			return false;
		if (t->freeze == NULL) {
			t->freeze = verdict->freeze;
			permit_count_limit(verdict->freeze);
		}
		for (unsigned i = 0; i < verdict->field_count; i++)
			transaction_prepend(t, verdict->fields[i]);
		out->rule = verdict->freeze != NULL ? verdict->freeze :
		    verdict->rule;
		out->is_set_aside = verdict->freeze != NULL;
		return true;
	}
	permit_refuse(session, verdict, out);
	return false;
}

static void
permit_record_early(const struct session *session,
    const struct permit_early *early, const struct session_answer *answer)
{
	static const char *const stages[] = {
		[POLICY_AT_CONNECT] = "connect", [POLICY_AT_HELO] = "helo",
		[POLICY_AT_AUTH] = "auth", [POLICY_AT_MAIL] = "mail"
	};
	const struct decided decided = { .stage = stages[early->stage],
	    .by = "policy", .sender = early->sender, .helo = early->helo,
	    .size_bytes = early->size_bytes, .rule = answer->rule };

	record_decided(session, &decided, answer);
}

bool
permit_early(struct session *session, const struct permit_early *early,
    answered_fn *fn, struct session_answer *out)
{
	struct policy_question question;
	struct policy_verdict verdict;

	if (session->listen == NULL || !session->listen->decides_early)
		return true;
	/* who speaks for others has not said for whom */
	if (early->stage == POLICY_AT_CONNECT &&
	    (session->trust & 1u << TRUST_XCLIENT))
		return true;
	permit_question_fill(session, &question);
	if (early->helo.n > 0)
		question.helo = early->helo;
	if (early->sender != NULL)
		question.sender = *early->sender;
	question.size_bytes = early->size_bytes;
	policy_ask_early(session->settings->policy, &question, early->stage,
	    &verdict);
	if (verdict.result == POLICY_ACCEPT)
		return true;
	if (verdict.result == POLICY_NEED) {
		permit_ask_for(session, &verdict.need, fn);
	} else {
		permit_refuse(session, &verdict, out);
		permit_record_early(session, early, out);
	}
	return false;
}

bool
permit_rcpt(struct session *session, const struct path *rcpt,
    answered_fn *fn, struct session_answer *out)
{
	char instance[SPOOL_ID_BYTES + 16];
	struct policy_question question;
	struct policy_verdict verdict;

	/* A local user, who might have called sendmail(1) as well. */
	out->rule = NULL;
	out->is_set_aside = false;
	session->transaction->rcpt_is_ours = true;
	if (session_is_on_stdin(session))
		return true;
	permit_question_fill(session, &question);
	question.sender = session->transaction->envelope.from;
	question.size_bytes = session->transaction->size_bytes;
	question.rcpt = *rcpt;
	/* one for all recipients of a message */
	snprintf(instance, sizeof(instance), "%s.%u", session->id,
	    session->messages);
	question.instance = slice_of(instance);
	policy_ask(session->settings->policy, &question, &verdict);
	if (verdict.result == POLICY_NEED) {
		permit_ask_for(session, &verdict.need, fn);
		return false;
	}
	session->transaction->rcpt_is_ours = verdict.is_ours;
	for (unsigned i = 0; i < verdict.tell_count; i++)
		str_addf(&session->tells, "%s\n", verdict.tells[i]);
	for (unsigned i = 0; i < verdict.shadow_count; i++)
		note_shadow(session, verdict.shadows[i], rcpt);
	if (verdict.warning != NULL)
		note_policy_warning(session, verdict.warning);
	if (verdict.result == POLICY_TROUBLE)
		note_policy_trouble(session, verdict.rule, &verdict.err);
	return permit_conclude(session, &verdict, out);
}

bool
permit_user(struct session *session, struct slice user, const char **out_words)
{
	/* as it is now: the session may have begun under another one */
	struct policy *policy = session->service->settings->policy;
	struct policy_question question;

	if (user.n == 0 || !policy_may_bar(policy))
		return true;
	permit_question_fill(session, &question);
	question.user = user;
	return policy_bars_user(policy, &question, out_words) == NULL;
}

bool
permit_sender(struct session *session, const struct path *sender,
    answered_fn *fn, struct session_answer *out)
{
	struct policy_question question;
	struct policy_verdict verdict;
	struct str shown = STR_INIT;
	enum policy_ownership whose;

	/* a proxy's user (XCLIENT) is the proxy's to judge */
	if (session->mechanism[0] == '\0')
		return true;
	permit_question_fill(session, &question);
	question.user = str_slice(&session->user);
	question.sender = *sender;
	whose = policy_owns(session->settings->policy, &question, &verdict);
	if (whose == OWNER_YES)
		return true;
	if (whose == OWNER_NEED) {
		permit_ask_for(session, &verdict.need, fn);
		return false;
	}
	if (whose == OWNER_TROUBLE) {
		note_policy_trouble(session, NULL, &verdict.err);
		answer_set(out, 451, "4.3.0", "whose address this is cannot "
		    "be looked up now, try later");
		return false;
	}
	str_add_escaped(&shown, str_slice(&session->user));
	answer_set(out, 550, "5.7.1", "this is not an address of %s: send as "
	    "one of your own, or ask the postmaster to give it to you "
	    "(auth ... senders <table>)", shown.buf);
	str_release(&shown);
	return false;
}

bool
permit_is_stranger(struct session *session)
{
	struct policy_question question;

	permit_question_fill(session, &question);
	return question.user.n == 0 &&
	    !policy_trusts(session->settings->policy, &question);
}

/* The slot that a fact holds.  false: it holds none. */
static bool
fact_slot(const struct fact *fact, struct slice *out_name)
{
	struct slice answer = fact->answer, word;

	return slice_starts(fact->question, "hold ") &&
	    slice_word(&answer, &word) && slice_is(word, "ok") &&
	    slice_word(&answer, out_name);
}

/* Tell who counts with other machines of a slot: by its name and the words of
 * its question, for the process that gave it may be another one now. */
static void
permit_tell_slot(const struct fact *fact, const char *verb,
    struct slice name, struct str *out)
{
	str_addf(out, "share %s " SLICE_FMT " " SLICE_FMT "\n", verb,
	    SLICE_ARG(name), SLICE_ARG(slice_from(fact->question,
	    sizeof("hold ") - 1)));
}

static void
permit_release_holds(struct session *session, struct facts *facts)
{
	struct slice name;

	for (const struct fact *fact = facts->first; fact != NULL;
	    fact = fact->next) {
		if (!fact_slot(fact, &name))
			continue;
		if (strcmp(fact->kind, "share") == 0)
			permit_tell_slot(fact, "drop", name,
			    &session->tells);
		else
			str_addf(&session->holds, " " SLICE_FMT,
			    SLICE_ARG(name));
	}
	facts_release(facts);
}

void
permit_keep(const struct session *session, struct str *out)
{
	struct slice name;

	for (int scope = FACT_MESSAGE; scope <= FACT_SESSION; scope++)
		for (const struct fact *fact = session->facts[scope].first;
		    fact != NULL; fact = fact->next)
			if (strcmp(fact->kind, "share") == 0 &&
			    fact_slot(fact, &name))
				permit_tell_slot(fact, "keep", name, out);
}

void
permit_end_message(struct session *session)
{
	permit_release_holds(session, &session->facts[FACT_MESSAGE]);
}

void
permit_end_client(struct session *session)
{
	permit_end_message(session);
	permit_release_holds(session, &session->facts[FACT_SESSION]);
	facts_release(&session->facts[FACT_TURN]);
}

/* A place that was not free may be free at the next recipient. */
static enum fact_scope
permit_scope(const struct ask *ask)
{
	return ask->scope == FACT_SESSION &&
	    slice_starts(str_slice(&ask->question), "hold ") &&
	    slice_is(str_slice(&ask->answer), "over") ? FACT_TURN :
	    (enum fact_scope)ask->scope;
}

/* SPF that was asked for: does the answer tell it? */
static void
permit_note_spf(const struct session *session, const struct ask *ask)
{
	enum origin spf;
	struct slice at;

	if (ask->state != ASK_ANSWERED)
		note_origin_failed(session, NULL, str_slice(&ask->answer));
	else if (judge_spf_parse(str_slice(&ask->answer), &spf, &at) != 0)
		note_origin_failed(session, NULL,
		    SLICE("nonsense was answered"));
}

void
permit_learn(struct session *session, const struct ask *ask)
{
	if (strcmp(ask->kind, "milter") == 0) {
		session_filter_learn(session, ask);
		return;
	}
	facts_add(&session->facts[permit_scope(ask)], ask->kind,
	    str_slice(&ask->question), ask->state, str_slice(&ask->answer));
	if (strcmp(ask->kind, judge_kind) == 0)
		permit_note_spf(session, ask);
	else if (ask->state == ASK_TROUBLE)
		note_helper_trouble(session, ask);
}
