/* commit.c - messages that are complete become durable
 *
 * In     connections whose draft is complete
 * Out    drafts that are durable; sessions that may publish them and answer;
 *        before that, what they ask about copies
 * Holds  drafts that threads make durable, while the disk is slow
 * Spec   doc/INTERNALS.md section 2, rows S0 and S1; DESIGN: 250 is durable
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "journal/progress.h"
#include "smtpserver/session/records/journal.h"
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
worker_note_sync(struct worker *worker, int64_t took_us)
{
	if (took_us >= worker->slow_us)
		worker->slow_left = SLOW_FOR;
}

/* Row S1, or nothing was promised. */
static void
connection_synced(struct connection *connection, bool is_durable,
    const struct err *err)
{
	if (!is_durable) {
		note_spool_trouble(&connection->session->transaction->draft,
		    "fsync", err);
		/* what follows does not wait for its copy */
		asks_close(connection->worker->asks, &connection->ask_token);
	}
	connection->worker->stored_count++;
	session_durable(connection->session, is_durable);
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
	connection_synced(connection, draft_sync_end(
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
		connection_synced(connection, false, &err);
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
		connection_synced(connections[i], !drafts[i]->is_bad, &err);
}

/* Others copy them while the disk of this machine works. */
static void
worker_ask_copies(struct worker *worker)
{
	struct connection *connection;

	TAILQ_FOREACH(connection, &worker->storing, storing)
		if (connection->session->ask != NULL)
			connection_ask(connection);
	worker_lines_say(worker);
}

void
worker_commit(struct worker *worker)
{
	struct connection *connections[COMMIT_MAX], *connection;
	size_t count = 0;

	if (!TAILQ_EMPTY(&worker->storing) &&
	    conf_keeps_copies(worker->service.settings->conf))
		worker_ask_copies(worker);
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
