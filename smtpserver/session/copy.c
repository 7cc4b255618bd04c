/* copy.c - the step of a session whose message is copied to other machines
 *
 * In     a message that is complete, and durable soon
 * Out    the same with a copy in the cluster's database; or without, as the
 *        cluster says; or 451
 * Holds  nothing
 * Trusts the process share, which says that there is a copy
 * Spec   copies/copier.h; doc/CLUSTER.md; doc/INTERNALS.md row S1c
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "smtpserver/copies/copier.h"
#include "smtpserver/session/copy.h"
#include "smtpserver/session/publish.h"
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

/* There is none.  True: go on without; else the client shall try again. */
static bool
copy_may_miss(struct session *session, struct slice words)
{
	struct transaction *t = session->transaction;

	note_copy_missing(session, t->draft.id, words);
	if (!session->settings->conf->cluster.copies_defer)
		return true;
	t->is_refused = true;
	t->refused_by = "filter";	/* it cannot be repeated */
	answer_set(&t->refusal, 451, "4.3.0", "no copy of the message can be "
	    "made on another machine, try later (ref %s)", session->id);
	snprintf(t->refusal_status, sizeof(t->refusal_status), "4.3.0");
	return false;
}

enum step
copy_begin(struct session *session)
{
	const struct conf *conf = session->settings->conf;
	struct draft *draft = &session->transaction->draft;
	struct err err;

	if (!conf_keeps_copies(conf) || session_is_on_stdin(session))
		return STEP_STORE;
	if (draft->bytes > conf->cluster.copy_bytes_max)
		return copy_may_miss(session, SLICE("it is larger than "
		    "'copies size' allows")) ? STEP_STORE :
		    cut_through_stored(session);
	/* one that cannot be written whole: storing it will say so */
	if (draft_finish(draft, &err) == 0)
		copy_ask(session);
	return STEP_STORE;
}

enum step
copy_await(struct session *session)
{
	return session->ask != NULL ? STEP_COPY : publish_durable(session);
}

enum step
step_copying(struct session *session)
{
	struct ask *ask = session->ask;
	struct slice words = str_slice(&ask->answer), word;
	bool goes_on;

	if (ask->state == ASK_WAITING)
		return STEP_WAIT;
	session->ask = NULL;		/* what follows may ask again */
	goes_on = ask->state == ASK_ANSWERED && slice_is(words, "ok");
	if (!goes_on) {
		if (ask->state == ASK_ANSWERED)
			(void)slice_word(&words, &word);	/* away */
		goes_on = copy_may_miss(session, slice_trim(words));
	}
	ask_free(&ask);
	return goes_on ? publish_durable(session) :
	    cut_through_stored(session);
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
