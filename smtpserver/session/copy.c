/* copy.c - the step of a session whose message is copied to other machines
 *
 * In     a message that is complete but not durable
 * Out    the same with a copy in the cluster's database; or without, as the
 *        cluster says; or 451
 * Holds  nothing
 * Trusts the process share, which says that there is a copy
 * Spec   copies/copier.h; doc/CLUSTER.md; doc/INTERNALS.md row S0
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "smtpserver/copies/copier.h"
#include "smtpserver/session/copy.h"
#include "smtpserver/session/recipient/cut_through.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

static void
copy_ask(struct session *session)
{
	struct transaction *t = session->transaction;
	struct str question = STR_INIT;
	char cause[FREEZE_CAUSE_BYTES];

	str_addf(&question, "copy %s ", t->draft.id);
	if (transaction_is_frozen(t)) {
		transaction_freeze_cause(t, cause);
		str_addf(&question, "freezer/%s", cause);
	} else {
		str_adds(&question, "router");
	}
	str_addf(&question, " %s", t->draft.name);
	session_ask(session, copier_kind, str_slice(&question), COPIER_FOR_MS,
	    NULL);
	session_wait_for(session, COPIER_FOR_MS);
	t->is_copied = true;	/* perhaps: an answer may be lost */
	str_release(&question);
}

/* There is none: go on without, or have the client try again. */
static enum step
copy_is_missing(struct session *session, struct slice words)
{
	struct transaction *t = session->transaction;
	const struct conf_cluster *cluster =
	    &session->settings->conf->cluster;

	note_copy_missing(session, t->draft.id, words);
	if (!cluster->copies_defer)
		return cut_through_begin(session, STEP_STORE);
	t->is_refused = true;
	t->refused_by = "filter";	/* it cannot be repeated */
	answer_set(&t->refusal, 451, "4.3.0", "no copy of the message can be "
	    "made on another machine, try later (ref %s)", session->id);
	snprintf(t->refusal_status, sizeof(t->refusal_status), "4.3.0");
	return STEP_STORED;
}

enum step
copy_begin(struct session *session, enum step next)
{
	const struct conf *conf = session->settings->conf;
	struct draft *draft = &session->transaction->draft;
	struct err err;

	if (next != STEP_STORE || !conf_keeps_copies(conf) ||
	    session_is_on_stdin(session))
		return cut_through_begin(session, next);
	if (draft->bytes > conf->cluster.copy_bytes_max)
		return copy_is_missing(session, SLICE("it is larger than "
		    "'copies size' allows"));
	if (draft_finish(draft, &err) != 0)	/* storing it will say so */
		return cut_through_begin(session, next);
	copy_ask(session);
	return STEP_COPY;
}

enum step
step_copying(struct session *session)
{
	struct ask *ask = session->ask;
	struct slice words = str_slice(&ask->answer), word;
	enum step next;

	if (ask->state == ASK_WAITING)
		return STEP_WAIT;
	session->ask = NULL;		/* what follows may ask again */
	if (ask->state == ASK_ANSWERED && slice_is(words, "ok")) {
		next = cut_through_begin(session, STEP_STORE);
	} else {
		if (ask->state == ASK_ANSWERED)
			(void)slice_word(&words, &word);	/* away */
		next = copy_is_missing(session, slice_trim(words));
	}
	ask_free(&ask);
	return next;
}

void
copy_drop(struct session *session)
{
	struct transaction *t = session->transaction;

	if (t == NULL || !t->is_copied)
		return;
	t->is_copied = false;
	str_addf(&session->tells, "%s drop %s\n", copier_kind, t->draft.id);
}
