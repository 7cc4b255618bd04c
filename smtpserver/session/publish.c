/* publish.c - a message that is durable gets its name
 *
 * In     a draft that was synced, or could not be
 * Out    a message in router/ or freezer/; or nothing
 * Holds  nothing
 * Spec   doc/INTERNALS.md rows S1, S2, S4, D1
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>

#include "smtpserver/session/publish.h"
#include "smtpserver/session/recipient/cut_through.h"
#include "smtpserver/session/records/journal.h"

#include "base/banned.h"

static bool
draft_is_published(struct session *session)
{
	struct transaction *t = session->transaction;
	struct err err = { "" };
	char cause[FREEZE_CAUSE_BYTES];
	int result;

	if (transaction_is_frozen(t)) {
		transaction_freeze_cause(t, cause);
		result = draft_publish(&t->draft, AREA_FREEZER, 0, cause,
		    &err);
	} else {
		result = draft_publish(&t->draft, AREA_ROUTER, 0, NULL, &err);
	}
	/* S4: a local program may write into public/ only, or a router that
	 * comes at once has copied it already. */
	if (result != 0 && (errno == EACCES || errno == EPERM ||
	    errno == ENOENT) && session_is_on_stdin(session)) {
		draft_hand_over(&t->draft);
		return true;
	}
	if (result != 0)
		note_spool_trouble(&t->draft, "rename", &err);
	return result == 0;
}

enum step
publish_durable(struct session *session)
{
	if (!draft_is_published(session))
		return publish_failed(session);
	session->store = STORE_DONE;
	session->transaction->is_copied = false;	/* its row stays */
	return cut_through_stored(session);
}

enum step
publish_failed(struct session *session)
{
	struct transaction *t = session->transaction;

	session->store = STORE_FAILED;
	ask_free(&session->ask);	/* a copy that is under way still; what
					 * follows drops it, and the draft */
	t->content.fault = space_has(&session->service->space, 0, true) ?
	    CONTENT_IO : CONTENT_NO_SPACE;
	return cut_through_stored(session);
}
