/* steps.c - the step of a session that waits for whose mail it is
 *
 * In     a message that is written but not durable; what was judged of it
 * Out    the message with that in its header; as it was when nobody judged
 * Holds  nothing
 * Trusts the helper, which runs under our own account
 * Spec   origin/judge.h; doc/AUTH.md; doc/INTERNALS.md row S0
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/spool/rewrite.h"
#include "smtpserver/origin/judge_mark.h"
#include "smtpserver/session/judge/rules.h"
#include "smtpserver/session/recipient/cut_through.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

static bool
judge_is_wanted(struct session *session, struct slice *out_text)
{
	struct err err;

	return session->settings->conf->verifies_origin &&
	    !session_is_on_stdin(session) && !session_is_lmtp(session) &&
	    permit_is_stranger(session) &&
	    /* storing it will fail and say so */
	    draft_settle_text(&session->transaction->draft, out_text, &err) ==
	    0;
}

static void
judge_ask(struct session *session, bool is_edit)
{
	const struct transaction *t = session->transaction;
	struct str question = STR_INIT, sender = STR_INIT;

	if (!path_is_null(&t->envelope.from))
		path_add(&sender, &t->envelope.from);
	judge_question_add(&question, &(struct judge_question){
	    .id = slice_of(t->draft.id),
	    .client_text = slice_of(session->client.text),
	    .helo = str_slice(&session->helo),
	    .sender = str_slice(&sender),
	    .host = slice_of(session->settings->conf->host),
	    .file = slice_of(t->draft.name), .is_edit = is_edit });
	session_ask(session, judge_kind, str_slice(&question), JUDGE_FOR_MS,
	    NULL);
	session_wait_for(session, JUDGE_FOR_MS);
	str_release(&question);
	str_release(&sender);
}

/* By what was judged; NULL: nothing was. */
static enum step
judge_conclude(struct session *session, const struct late_origin *origin)
{
	if (!judge_rules_apply(session, origin))
		return STEP_STORED;
	return cut_through_begin(session, STEP_STORE);
}

enum step
session_judge(struct session *session, enum step next)
{
	struct slice text;

	if (next != STEP_STORE)
		return cut_through_begin(session, next);
	if (!judge_is_wanted(session, &text))
		return judge_conclude(session, NULL);
	/* what is kept as it came has another name (INTERNALS, K1) */
	judge_ask(session, text.p != NULL && !session->transaction->is_kept);
	return STEP_ORIGIN;
}

/* No good message is lost because it could not be judged: it is taken as it
 * came, or its client tries again, where a rule might have refused it. */
static void
judge_note_failed(const struct session *session, struct slice reason)
{
	note_origin_failed(session, session->transaction->draft.id, reason);
}

/* The field goes into the header of what is in memory, and that into the same
 * file.  0 or -1. */
static int
judge_edit(struct transaction *t, const struct judge_answer *judged,
    const char *host, struct err *err)
{
	struct slice text, body;
	struct str changed = STR_INIT;
	int result = -1;

	if (draft_settle_text(&t->draft, &text, err) != 0)
		return -1;
	if (text.p == NULL || text.n < t->envelope_bytes)
		return err_set(err, "a field for a message that is not here");
	if (judge_mark_envelope(slice_first(text, t->envelope_bytes),
	    judged->dkim2, &changed, err) == 0) {
		body = judge_mark_header(slice_from(text, t->envelope_bytes),
		    slice_of(judged->field), host, &changed);
		str_add_slice(&changed, body);
		result = draft_rewrite(&t->draft, str_slice(&changed), err);
	}
	str_release(&changed);
	return result;
}

static int
judge_take_text(struct session *session, const struct judge_answer *judged,
    struct err *err)
{
	struct transaction *t = session->transaction;

	return judged->field[0] != '\0' ? judge_edit(t, judged,
	    session->settings->conf->host, err) : draft_replace(&t->draft,
	    judged->file, judged->bytes, judged->crc, err);
}

static void
judge_take_answer(struct session *session, const struct ask *ask)
{
	struct transaction *t = session->transaction;
	struct judge_answer judged;
	struct err err;

	if (ask->state != ASK_ANSWERED) {
		judge_note_failed(session, str_slice(&ask->answer));
	} else if (judge_answer_parse(str_slice(&ask->answer), &judged) != 0) {
		judge_note_failed(session, SLICE("nonsense was answered"));
	} else if (judge_take_text(session, &judged, &err) != 0) {
		judge_note_failed(session, slice_of(err.text));
	} else {
		t->is_judged = true;
		t->judged = judged;
	}
}

enum step
step_origin(struct session *session)
{
	const struct transaction *t = session->transaction;
	struct late_origin origin;

	if (session->ask->state == ASK_WAITING)
		return STEP_WAIT;
	judge_take_answer(session, session->ask);
	ask_free(&session->ask);
	if (!t->is_judged && (t->content.header.results > 0 ||
	    late_may_refuse(&t->late))) {
		/* a forged field would be believed to be ours; and who could
		 * keep the helper busy would be refused by no rule */
		judge_refuse_for_now(session);
		return STEP_STORED;
	}
	if (!t->is_judged)
		return judge_conclude(session, NULL);
	origin = (struct late_origin){ .spf = t->judged.spf,
	    .dkim = t->judged.dkim, .dmarc = t->judged.dmarc,
	    .policy = t->judged.policy,
	    .sealer = slice_of(t->judged.sealer),
	    .signers = slice_of(t->judged.signers),
	    .dkim2 = t->judged.dkim2, .names = &t->judged.names };
	return judge_conclude(session, &origin);
}
