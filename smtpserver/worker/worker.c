/* worker.c - many sessions in one loop, one group commit a turn
 *
 * In     connected descriptors
 * Out    messages in router/ and freezer/, replies, tokens of ended sessions
 * Holds  the sessions; the list of those that something happened to in this
 *        turn, and of those whose message is complete
 * Trusts the listener; no client
 * Spec   doc/INTERNALS.md section 2, rows S0 to S2; DESIGN: 250 is durable
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <errno.h>
#include <string.h>
#include <sys/queue.h>

#include "base/cache.h"
#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/consult/share_ask.h"
#include "smtpserver/session/auth.h"
#include "smtpserver/session/copy.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/worker/connection.h"
#include "smtpserver/worker/run.h"
#include "smtpserver/worker/worker.h"

#include "base/banned.h"

enum {
	WATCH_MS = 2000		/* who logged in may be barred since */
};

static void worker_on_turn_end(void *context);

struct worker *
worker_new(struct loop *loop, struct spool *spool, struct settings *settings)
{
	struct worker *worker = mem_alloc(1, sizeof(*worker));

	worker->loop = loop;
	worker->service.spool = spool;
	space_init(&worker->service.space, spool);
	worker->service.settings = settings;
	TAILQ_INIT(&worker->all);
	TAILQ_INIT(&worker->stirred);
	TAILQ_INIT(&worker->storing);
	TAILQ_INIT(&worker->ended);
	str_init(&worker->lines);
	worker->asks = asks_new();
	loop_at_turn_end(loop, worker_on_turn_end, worker);
	return worker;
}

/* "KIND QUESTION\n" of a session. */
static void
connection_tell(struct connection *connection)
{
	struct slice rest = str_slice(&connection->session->tells), line;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		if (line.n > 0)
			str_addf(&connection->worker->lines, "ask %d " SLICE_FMT
			    "\n", ASK_NOBODY, SLICE_ARG(line));
		/* a place of all machines, given back as one of ours is */
		if (slice_starts(line, "share drop "))
			connection->worker->is_urgent = true;
	}
	str_reset(&connection->session->tells);
}

/* What was held for a message, or a session, that has ended. */
static void
connection_release_holds(struct connection *connection)
{
	struct session *session = connection->session;

	if (session->step >= STEP_LAST)
		permit_end_client(session);
	else if (session->transaction == NULL)
		permit_end_message(session);
	session_filter_settle(session);
	connection_tell(connection);
	if (session->holds.len == 0)
		return;
	str_addf(&connection->worker->lines, "ask %d rate release%s\n",
	    ASK_NOBODY, session->holds.buf);
	str_reset(&session->holds);
	connection->worker->is_urgent = true;
}

/* Its connection is closed when the listener has been told. */
static void
connection_end(struct connection *connection)
{
	struct worker *worker = connection->worker;

	if (connection->is_stirred)
		TAILQ_REMOVE(&worker->stirred, connection, stirred);
	if (connection->is_storing)
		TAILQ_REMOVE(&worker->storing, connection, storing);
	TAILQ_REMOVE(&worker->all, connection, all);
	worker->count--;
	timer_clear(&connection->timer);
	asks_close(worker->asks, &connection->ask_token);
	copy_drop(connection->session);
	transaction_free(&connection->session->transaction);
	session_filter_close(connection->session);
	auth_close(connection->session);
	permit_end_client(connection->session);
	connection_release_holds(connection);
	session_free(&connection->session);
	str_addf(&worker->lines, "closed %u\n", connection->token);
	TAILQ_INSERT_TAIL(&worker->ended, connection, all);
}

void
worker_lines_say(struct worker *worker)
{
	if (worker->lines.len > 0 && worker->lines_fn != NULL)
		worker->lines_fn(worker->lines_context);
	worker->is_urgent = false;
}

static void
worker_close_ended(struct worker *worker)
{
	struct connection *connection;

	while ((connection = TAILQ_FIRST(&worker->ended)) != NULL) {
		TAILQ_REMOVE(&worker->ended, connection, all);
		stream_free(&connection->stream);
		mem_free(&connection);
	}
}

void
worker_free(struct worker **worker)
{
	struct worker *w = *worker;
	struct connection *connection;

	if (w == NULL)
		return;
	if (w->syncer != NULL) {
		syncer_free(&w->syncer);
		worker_on_turn_end(w);	/* what became durable is answered */
	}
	while ((connection = TAILQ_FIRST(&w->all)) != NULL)
		connection_end(connection);
	worker_close_ended(w);
	timer_clear(&w->stop_timer);
	timer_clear(&w->keep_timer);
	keyring_free(&w->service.keyring);
	settings_drop(&w->service.settings);
	cache_free(&w->service.recipients);
	str_release(&w->lines);
	asks_free(&w->asks);
	mem_free(worker);
}

void
connection_stir(struct connection *connection)
{
	struct worker *worker = connection->worker;

	if (!connection->is_stirred) {
		connection->is_stirred = true;
		TAILQ_INSERT_TAIL(&worker->stirred, connection, stirred);
	}
	if (connection->session->want == WANT_STORE &&
	    !connection->is_storing && !connection->is_syncing) {
		connection->is_storing = true;
		TAILQ_INSERT_TAIL(&worker->storing, connection, storing);
	}
}

static void
connection_on_stream(void *context)
{
	struct connection *connection = context;

	switch (connection->is_storing || connection->is_syncing ?
	    WANT_STORE :
	    connection->session->want) {
	case WANT_STORE:
	case WANT_HOLD:
	case WANT_END:
		return;
	case WANT_ANSWER:
		/* Nothing is read meanwhile: there was output left. */
		if (stream_flush(connection->stream) == STREAM_FLUSH_BROKEN)
			session_broken(connection->session);
		break;
	case WANT_INPUT:
	case WANT_OUTPUT:
		session_read(connection->session);
	}
	connection_stir(connection);
}

static void connection_on_timer(void *context);

/* Timers are moved only when they would be late; one that comes early is
 * set again.  So a busy session costs no timer work. */
static void
connection_arm(struct connection *connection)
{
	int64_t at_ms = session_deadline(connection->session);

	if (session_is_watched(connection->session) &&
	    at_ms > clock_steady_ms() + WATCH_MS)
		at_ms = clock_steady_ms() + WATCH_MS;
	if (connection->timer.at_ms == 0 || at_ms < connection->timer.at_ms)
		timer_set(connection->worker->loop, &connection->timer, at_ms,
		    connection_on_timer,
		    connection);
}

static void
connection_on_timer(void *context)
{
	struct connection *connection = context;

	if (connection->is_syncing)
		return;			/* armed again when it settles */
	if (clock_steady_ms() >= session_deadline(connection->session)) {
		asks_close(connection->worker->asks, &connection->ask_token);
		session_expire(connection->session);
	} else if (session_is_watched(connection->session)) {
		session_watch(connection->session);
	}
	connection_stir(connection);
}

/* Who gives places of all machines forgets those that nobody speaks of. */
static void
worker_keep_slots(void *context)
{
	struct worker *worker = context;
	struct connection *connection;

	TAILQ_FOREACH(connection, &worker->all, all) {
		permit_keep(connection->session, &connection->session->tells);
		connection_tell(connection);
	}
	if (worker->count > 0)
		timer_set(worker->loop, &worker->keep_timer,
		    clock_steady_ms() + SHARE_KEEP_EVERY_MS,
		    worker_keep_slots, worker);
}

void
worker_open(struct worker *worker, int fd, uint32_t token,
    const struct client *client)
{
	struct connection *connection = mem_alloc(1, sizeof(*connection));

	connection->worker = worker;
	connection->token = token;
	connection->stream = stream_new(worker->loop, fd, connection_on_stream,
	    connection);
	connection->session = session_new(&worker->service, connection->stream,
	    client);
	TAILQ_INSERT_TAIL(&worker->all, connection, all);
	worker->count++;
	if (worker->keep_timer.at_ms == 0 &&
	    conf_asks_share(worker->service.settings->conf))
		timer_set(worker->loop, &worker->keep_timer,
		    clock_steady_ms() + SHARE_KEEP_EVERY_MS,
		    worker_keep_slots, worker);
	session_run(connection->session);
	connection_stir(connection);
}

/* ---- the end of a turn ------------------------------------------------ */

void
connection_ask(struct connection *connection)
{
	struct worker *worker = connection->worker;
	const struct ask *ask = connection->session->ask;

	if (connection->ask_token != 0)
		return;
	connection->ask_token = asks_open(worker->asks, connection);
	str_addf(&worker->lines, "ask %" PRIu64 " %s ", connection->ask_token,
	    ask->kind);
	str_add_slice(&worker->lines, str_slice(&ask->question));
	str_addc(&worker->lines, '\n');
}

static void
connection_unstir(struct connection *connection)
{
	TAILQ_REMOVE(&connection->worker->stirred, connection, stirred);
	connection->is_stirred = false;
}

/* Write what it has to say; let it go on when that made room. */
static void
connection_settle(struct connection *connection)
{
	struct session *session = connection->session;

	if (connection->is_syncing) {
		connection_unstir(connection);
		return;
	}
	while (session->want != WANT_END && session->want != WANT_STORE &&
	    session->want != WANT_HOLD) {
		if (stream_flush(connection->stream) == STREAM_FLUSH_BROKEN)
			session_broken(session);
		else if (session->is_blocked &&
		    stream_unsent_bytes(connection->stream) <= OUTPUT_BYTES_MAX)
			session_run(session);
		else
			break;
	}
	if (session->want == WANT_STORE) {
		connection_stir(connection);
		return;
	}
	connection_unstir(connection);
	if (session->want == WANT_END) {
		connection_end(connection);
		return;
	}
	connection_release_holds(connection);
	if (session->want == WANT_ANSWER)
		connection_ask(connection);
	else
		asks_close(connection->worker->asks, &connection->ask_token);
	if (session->want == WANT_HOLD)
		stream_rest(connection->stream);
	else
		stream_await(connection->stream, session->want == WANT_INPUT);
	connection_arm(connection);
}

/* Who is told that a message, or a session, is over may come again at once,
 * by another worker: what it held must be free by then. */
static void
worker_release_holds(struct worker *worker)
{
	struct connection *connection;

	TAILQ_FOREACH(connection, &worker->stirred, stirred)
		if (connection->session->want != WANT_STORE &&
		    !connection->is_syncing)
			connection_release_holds(connection);
	if (worker->is_urgent)
		worker_lines_say(worker);
}

static void
worker_on_turn_end(void *context)
{
	struct worker *worker = context;
	struct connection *connection, *next;

	do {
		worker_commit(worker);
		worker_release_holds(worker);
		for (connection = TAILQ_FIRST(&worker->stirred); connection !=
		    NULL;
		    connection = next) {
			next = TAILQ_NEXT(connection, stirred);
			connection_settle(connection);
		}
	} while (!TAILQ_EMPTY(&worker->storing));
	worker_lines_say(worker);
	worker_close_ended(worker);
	if ((worker->service.is_stopping || worker->is_leaving) &&
	    (worker->count == 0 || worker->is_final))
		loop_stop(worker->loop);
}

void
worker_share(struct worker *worker, struct space_shared *shared,
    struct space_part *part)
{
	space_join(&worker->service.space, shared, part);
}

void
worker_equip(struct worker *worker, struct keyring *keyring,
    struct failures *failures, bool is_submission)
{
	worker->service.failures = failures;
	worker->service.keyring = keyring;
	worker->service.is_submission = is_submission;
}

/* ---- reload and stop -------------------------------------------------- */

/* Who logged in may be barred now. */
static void
worker_look_again(struct worker *worker)
{
	struct connection *connection;

	TAILQ_FOREACH(connection, &worker->all, all)
		if (!connection->is_syncing) {
			session_watch(connection->session);
			connection_stir(connection);
		}
}

void
worker_reload(struct worker *worker, struct settings *settings)
{
	settings_drop(&worker->service.settings);
	cache_free(&worker->service.recipients);
	worker->service.settings = settings;
	if (worker->service.keyring != NULL)
		keyring_configure(worker->service.keyring, settings->conf);
	worker_look_again(worker);
}

static void
worker_stop_sessions(struct worker *worker, bool is_final)
{
	struct connection *connection;

	TAILQ_FOREACH(connection, &worker->all, all) {
		session_stop(connection->session, is_final);
		connection_stir(connection);
	}
}

static void
worker_on_stop_timer(void *context)
{
	struct worker *worker = context;

	worker->is_final = true;
	worker_stop_sessions(worker, true);
}

void
worker_stop(struct worker *worker)
{
	if (worker->service.is_stopping)
		return;
	worker->service.is_stopping = true;
	worker_stop_sessions(worker, false);
	timer_set(worker->loop, &worker->stop_timer,
	    clock_steady_ms() + WORKER_STOP_FOR_MS, worker_on_stop_timer,
	    worker);
}

void
worker_leave(struct worker *worker)
{
	worker->is_leaving = true;
}

void
worker_press(struct worker *worker, int pressure)
{
	struct connection *connection;

	worker->service.pressure = pressure;
	TAILQ_FOREACH(connection, &worker->all, all)
		if (pressure > 0 && !connection->is_syncing) {
			session_hurry(connection->session);
			connection_arm(connection);
		}
}

size_t
worker_session_count(const struct worker *worker)
{
	return worker->count;
}

void
worker_take_lines(struct worker *worker, struct str *out)
{
	str_add_slice(out, str_slice(&worker->lines));
	str_reset(&worker->lines);
}

void
worker_on_lines(struct worker *worker, loop_fn *fn, void *context)
{
	worker->lines_fn = fn;
	worker->lines_context = context;
}

void
worker_answer(struct worker *worker, uint64_t token, enum ask_state state,
    struct slice answer)
{
	struct connection *connection = asks_find(worker->asks, token);

	if (connection == NULL)
		return;		/* its client has gone, or its time */
	asks_close(worker->asks, &connection->ask_token);
	session_answered(connection->session, state, answer);
	connection_stir(connection);
}
