/* commit.c - messages that are complete become durable and get their name
 *
 * In     connections whose draft is complete
 * Out    messages in router/ and freezer/; sessions that may answer
 * Holds  drafts that threads make durable, while the disk is slow
 * Spec   doc/INTERNALS.md section 2, rows S0 to S2; DESIGN: 250 is durable
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "journal/progress.h"
#include "smtpserver/worker/connection.h"
#include "smtpserver/worker/run.h"

#include "base/banned.h"

enum {
	COMMIT_MAX = 128,
	SLOW_FOR = 64			/* after a slow one so many drafts are
					 * handed over, until the loop syncs a
					 * group again */
};

static void
connection_note_trouble(const struct draft *draft, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, draft->id, "file", slice_of(draft->name),
	    "call", slice_of(call), "reason", slice_of(err->text), NULL);
}

/* Rows S1 -> S2 (or D1 for the freezer): the message gets its name. */
static bool
connection_publish(struct session *session)
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
	if (result == 0)
		return true;
	connection_note_trouble(&t->draft, "rename", &err);
	draft_abort(&t->draft);
	return false;
}

static void
worker_note_sync(struct worker *worker, int64_t took_us)
{
	if (took_us >= worker->slow_us)
		worker->slow_left = SLOW_FOR;
}

/* Row S1, or nothing was promised. */
static void
connection_stored(struct connection *connection, bool is_durable,
    const struct err *err)
{
	struct draft *draft = &connection->session->transaction->draft;

	if (is_durable) {
		is_durable = connection_publish(connection->session);
	} else {
		connection_note_trouble(draft, "fsync", err);
		draft_abort(draft);
	}
	connection->worker->stored_count++;
	session_stored(connection->session, is_durable);
	connection_stir(connection);
}

/* ---- a slow disk: each by itself, beside the loop */

static void
connection_sync_work(void *context)
{
	struct connection *connection = context;
	int64_t begun_us = clock_steady_us();

	connection->sync_error = draft_sync_wait(
	    &connection->session->transaction->draft);
	connection->sync_us = clock_steady_us() - begun_us;
}

static void
connection_sync_end(void *context)
{
	struct connection *connection = context;
	struct err err = { "" };

	connection->is_syncing = false;
	connection->worker->syncing_count--;
	worker_note_sync(connection->worker, connection->sync_us);
	connection_stored(connection, draft_sync_end(
	    &connection->session->transaction->draft, connection->sync_error,
	    &err), &err);
}

static void
connection_sync(struct connection *connection)
{
	struct draft *draft = &connection->session->transaction->draft;
	struct err err = { "" };

	draft_sync_begin(&draft, 1, &err);
	if (draft->is_bad) {
		connection_stored(connection, false, &err);
		return;
	}
	connection->is_syncing = true;
	connection->worker->syncing_count++;
	connection->sync = (struct sync_task){ connection_sync_work,
	    connection_sync_end, connection, NULL };
	syncer_add(connection->worker->syncer, &connection->sync);
}

/* ---- a quick one: all that are complete now, together */

static void
worker_sync_group(struct worker *worker, struct connection *connections[],
    size_t count)
{
	struct draft *drafts[COMMIT_MAX];
	struct err err = { "" };
	int64_t begun_us = clock_steady_us();

	for (size_t i = 0; i < count; i++)
		drafts[i] = &connections[i]->session->transaction->draft;
	(void)draft_sync(drafts, count, &err);
	worker_note_sync(worker, clock_steady_us() - begun_us);
	for (size_t i = 0; i < count; i++)
		connection_stored(connections[i], !drafts[i]->is_bad, &err);
}

void
worker_commit(struct worker *worker)
{
	struct connection *connections[COMMIT_MAX], *connection;
	size_t count = 0;

	while (count < COMMIT_MAX && (connection =
	    TAILQ_FIRST(&worker->storing)) != NULL) {
		TAILQ_REMOVE(&worker->storing, connection, storing);
		connection->is_storing = false;
		transaction_keep_reason(connection->session->transaction);
		if (worker->syncer == NULL || worker->slow_left == 0) {
			connections[count++] = connection;
			continue;
		}
		worker->slow_left--;
		connection_sync(connection);
	}
	if (count > 0)
		worker_sync_group(worker, connections, count);
	progress_work(PROGRESS_STORE, worker->syncing_count > 0,
	    worker->stored_count);
}

void
worker_sync_beside(struct worker *worker, int64_t slow_us)
{
	worker->slow_us = slow_us;
	worker->slow_left = slow_us == 0 ? SLOW_FOR : 0;
	worker->syncer = syncer_new(worker->loop);
}
