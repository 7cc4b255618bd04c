/* steps.c - the steps in which a session waits for filters alone
 *
 * In     a client that has connected; a message that is written but not
 *        durable; the filters' answers
 * Out    a greeting or none; the message as it was or as they changed it, or
 *        a refusal
 * Holds  nothing
 * Trusts the helper, which runs under our own account
 * Spec   milter/filter.h; doc/FILTERS.md; doc/INTERNALS.md row S0
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "journal/event.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/step.h"
#include "smtpserver/session/filter/said.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/records/record.h"
#include "smtpserver/session/recipient/permit.h"

#include "base/banned.h"

/* ---- before the greeting ---------------------------------------------- */

/* It is not wanted: 554, or 421 for now. */
static enum step
filter_turn_away(struct session *session, struct session_answer *answer,
    const char *reason)
{
	struct decided decided = { .stage = "connect" };

	if (strcmp(reason, "filter") == 0)
		record_filtered(session, &decided, answer);
	answer->code = answer->code >= 500 ? 554 : 421;
	note_command_refused(session, SLICE("connect"), answer);
	session->end_reason = reason;
	session_write(session, answer);
	return STEP_LAST;
}

enum step
session_filter_knock(struct session *session)
{
	const struct filter_extra none = { .path = NULL };
	const struct permit_early early = { .stage = POLICY_AT_CONNECT };
	struct session_answer answer = { .rule = NULL };
	const char *reason = "policy";

	if (permit_early(session, &early, NULL, &answer)) {
		reason = "filter";
		if (session->filter == NULL || session_filter_permit(session,
		    TALK_CONNECT, &none, NULL, &answer))
			return STEP_GREET;
	}
	if (session->ask == NULL)
		return filter_turn_away(session, &answer, reason);
	session_wait_for(session, session->ask->for_ms);
	return STEP_KNOCK;
}

enum step
step_knock(struct session *session)
{
	enum step next;

	if (session->ask->state == ASK_WAITING)
		return STEP_WAIT;
	permit_learn(session, session->ask);
	ask_free(&session->ask);
	next = session_filter_knock(session);
	return next == STEP_GREET ? session_greet(session) : next;
}

/* ---- after the message ------------------------------------------------ */

static void
filter_step_refuse(struct transaction *t, int code, const char *status,
    const char *text)
{
	t->is_refused = true;
	t->refused_by = "filter";
	snprintf(t->refusal_status, sizeof(t->refusal_status), "%s", status);
	answer_set(&t->refusal, code, t->refusal_status, "%s", text);
}

/* The milters changed it: their file takes the place of ours. */
static void
filter_take_changed(struct transaction *t, const struct filter_verdict *verdict)
{
	struct err err;

	if (draft_replace(&t->draft, verdict->file, verdict->bytes,
		verdict->crc, &err) == 0)
		return;
	event(EV_SPOOL_TROUBLE, t->draft.id, "file",
	    slice_of(verdict->file), "call", SLICE("filter"), "reason",
	    slice_of(err.text), NULL);
	filter_step_refuse(t, 451, "4.3.0",
	    "it cannot be stored now, try later");
}

/* Did the last answer name a changed draft? */
static void
filter_look_for_changed(struct session *session)
{
	struct slice answer = str_slice(&session->filter->answer);
	char key[FILTER_KEY_BYTES];
	struct filter_verdict verdict;
	unsigned wants;

	if (session->filter->state == ASK_ANSWERED &&
	    filter_answer_key(&answer, key, &wants) == 0 &&
	    filter_answer_parse(answer, &verdict) == 0 &&
	    verdict.file[0] != '\0')
		filter_take_changed(session->transaction, &verdict);
}

/* The filters' word on the whole message; returns the step that follows. */
static enum step
filter_ask_or_judge(struct session *session)
{
	const struct filter_extra none = { .path = NULL };
	struct transaction *t = session->transaction;
	bool is_answered = session->filter->has_answer;
	struct session_answer answer;
	struct err err;

	/* storing it will fail and say so */
	if (!is_answered && draft_settle(&t->draft, &err) != 0)
		return STEP_STORE;
	if (!session_filter_permit(session, TALK_EOB, &none, NULL,
	    &answer)) {
		if (session->ask != NULL) {
			session_wait_for(session, session->ask->for_ms);
			return STEP_FILTER;
		}
		filter_step_refuse(t, answer.code, answer.status, answer.text);
		t->refused_by = session_filter_by(session);
		str_add_slice(&t->said, str_slice(&session->filter->said));
	} else if (is_answered) {
		filter_look_for_changed(session);
	}
	session->filter->is_in_mail = false;
	return t->is_refused || t->is_discarded ? STEP_STORED : STEP_STORE;
}

/* After the milters, the content filter. */
static enum step
filter_ask_content(struct session *session)
{
	const struct conf_milter *filter =
	    &session->settings->conf->content_filter;
	struct transaction *t = session->transaction;
	struct str question = STR_INIT;
	struct err err;

	if (filter->socket == NULL || t->is_looked_at || (filter->has_except &&
	    net_contains(&filter->except, &session->client.net)) ||
	    session_is_on_stdin(session) ||
	    draft_settle(&t->draft, &err) != 0)
		return STEP_STORE;
	t->is_looked_at = true;
	str_addf(&question, "%s %s", t->draft.id, t->draft.name);
	session_ask(session, "content", str_slice(&question), FILTER_FOR_MS,
	    NULL);
	session_wait_for(session, FILTER_FOR_MS);
	str_release(&question);
	return STEP_FILTER;
}

static void
filter_step_freeze(struct session *session,
    const struct filter_verdict *verdict)
{
	const struct conf_milter *by =
	    &session->settings->conf->content_filter;
	struct str text = STR_INIT;

	str_addf(&text, "%s:%u: content-filter %s: %s",
	    by->at.file ? by->at.file : "", by->at.line, by->socket,
	    verdict->because);
	transaction_freeze(session->transaction, verdict->freeze, text.buf);
	str_release(&text);
}

/* What the content filter said: that it failed, or its word. */
static void
filter_step_note(struct session *session, const struct filter_verdict *verdict)
{
	struct str *said = &session->transaction->said;

	if (verdict->said.n > 0)
		said_take(said, "content-filter", verdict->said);
	else
		said_add(said, "content-filter", slice_of(
		    session->settings->conf->content_filter.socket),
		    verdict->word == FILTER_REFUSE ? "refuse" :
		    verdict->freeze[0] != '\0' ? "freeze" : "pass");
}

static enum step
filter_judge_content(struct session *session)
{
	struct transaction *t = session->transaction;
	const struct ask *ask = session->ask;
	struct filter_verdict verdict = { .word = FILTER_TROUBLE };

	if (ask->state == ASK_ANSWERED && filter_answer_parse(
	    str_slice(&ask->answer), &verdict) == 0)
		filter_step_note(session, &verdict);
	if (verdict.word == FILTER_TROUBLE) {
		event(EV_MILTER_FAILED, t->draft.id, "session",
		    slice_of(session->id), "milter", SLICE("helper"),
		    "reason", str_slice(&ask->answer), "fail",
		    SLICE("tempfail"), NULL);
		filter_step_refuse(t, 451, "4.7.1",
		    "a filter does not work now, try "
		    "later");
	} else if (verdict.word == FILTER_REFUSE) {
		filter_step_refuse(t, (int)verdict.code, verdict.status,
		    verdict.text);
		t->refused_by = "milter";
	} else if (verdict.freeze[0] != '\0') {
		filter_step_freeze(session, &verdict);
	}
	ask_free(&session->ask);
	return t->is_refused ? STEP_STORED : STEP_STORE;
}

enum step
session_filter_message(struct session *session)
{
	enum step next;

	if (session->transaction->is_discarded)
		return STEP_STORED;
	next = session->filter == NULL ? STEP_STORE :
	    filter_ask_or_judge(session);
	return next == STEP_STORE ? filter_ask_content(session) : next;
}

enum step
step_filter(struct session *session)
{
	if (session->ask->state == ASK_WAITING)
		return STEP_WAIT;
	if (strcmp(session->ask->kind, "content") == 0)
		return session_judge(session, filter_judge_content(session));
	permit_learn(session, session->ask);
	ask_free(&session->ask);
	return session_judge(session, session_filter_message(session));
}
