/* filter.c - the step in which filters judge a whole message
 *
 * In     a message that is written but not durable; the helper's answer
 * Out    the message as it was or as they changed it, or a refusal
 * Holds  the question while it is out
 * Trusts the helper, which runs under our own account
 * Spec   milter/filter.h; doc/FILTERS.md; doc/INTERNALS.md row S0
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/event.h"
#include "smtpserver/milter/filter.h"
#include "smtpserver/session/internal.h"

#include "base/banned.h"

static void
refuse(struct transaction *t, int code, const char *status,
    const char *text)
{
	t->is_refused = true;
	snprintf(t->refusal_status, sizeof(t->refusal_status), "%s", status);
	answer_set(&t->refusal, code, t->refusal_status, "%s", text);
}

bool
session_filter(struct session *session)
{
	const struct conf *conf = session->settings->conf;
	struct transaction *t = session->transaction;
	struct filter_facts facts = {
		.client = slice_of(session->client.text),
		.helo = str_slice(&session->helo),
		.user = t->envelope.user,
		.listener = slice_of(session->client.listener),
		.id = slice_of(t->draft.id),
	};
	struct tls_info info;
	struct str question = STR_INIT;
	struct err err;

	if (conf->milter_count == 0)
		return false;
	if (draft_settle(&t->draft, &err) != 0)
		return false;	/* storing it will fail and say so */
	if (stream_tls(session->stream) == STREAM_ENCRYPTED) {
		stream_tls_info(session->stream, &info);
		facts.tls_version = slice_of(info.version);
		facts.tls_cipher = slice_of(info.cipher);
	}
	filter_question_add(&question, &facts, t->draft.name);
	session_ask(session, "milter", str_slice(&question), FILTER_FOR_MS,
	    NULL);
	session_wait_for(session, FILTER_FOR_MS);
	str_release(&question);
	return true;
}

/* The milters changed it: their file takes the place of ours. */
static void
take_changed(struct transaction *t, const struct filter_verdict *verdict)
{
	struct err err;

	if (draft_replace(&t->draft, verdict->file, verdict->bytes,
		verdict->crc, &err) == 0)
		return;
	event(EV_SPOOL_TROUBLE, t->draft.id, "file",
	    slice_of(verdict->file), "call", SLICE("filter"), "reason",
	    slice_of(err.text), NULL);
	refuse(t, 451, "4.3.0", "it cannot be stored now, try later");
}

static void
judge(struct session *session, const struct ask *ask)
{
	struct transaction *t = session->transaction;
	struct filter_verdict verdict;

	if (ask->state != ASK_ANSWERED ||
	    filter_answer_parse(str_slice(&ask->answer), &verdict) != 1) {
		event(EV_MILTER_FAILED, t->draft.id, "milter",
		    SLICE("helper"), "reason", str_slice(&ask->answer),
		    "fail", SLICE("tempfail"), NULL);
		refuse(t, 451, "4.7.1", "a filter does not work now, try "
		    "later");
	} else if (verdict.word == FILTER_REFUSE) {
		refuse(t, (int)verdict.code, verdict.status, verdict.text);
	} else if (verdict.word == FILTER_DISCARD) {
		t->is_discarded = true;
	} else {
		snprintf(t->milter_cause, sizeof(t->milter_cause), "%s",
		    verdict.freeze);
		if (verdict.file[0] != '\0')
			take_changed(t, &verdict);
	}
}

enum step
step_filter(struct session *session)
{
	const struct transaction *t = session->transaction;

	if (session->ask->state == ASK_WAITING)
		return STEP_WAIT;
	judge(session, session->ask);
	ask_free(&session->ask);
	return t->is_refused || t->is_discarded ? STEP_STORED : STEP_STORE;
}
