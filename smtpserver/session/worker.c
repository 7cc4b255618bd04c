/* worker.c - many sessions in one loop, one group commit a turn
 *
 * In     connected descriptors
 * Out    messages in router/ and freezer/, replies, tokens of ended sessions
 * Holds  the sessions; the list of those that something happened to in this
 *        turn, and of those whose message is complete
 * Trusts the doorman; no client
 * Spec   doc/INTERNALS.md section 2, rows S0 to S2; DESIGN: 250 is durable
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <errno.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "smtpserver/helper/cache.h"
#include "smtpserver/session/auth.h"
#include "smtpserver/session/filter.h"
#include "smtpserver/session/permit.h"
#include "smtpserver/session/worker.h"

#include "base/banned.h"

enum { COMMIT_MAX = 128 };

struct guest {
	struct worker		*worker;
	struct session		*session;
	struct stream		*stream;
	struct timer		 timer;
	uint32_t		 token;
	uint64_t		 ask_token;	/* 0: no question is out */
	bool			 is_stirred, is_storing;
	TAILQ_ENTRY(guest)	 all, stirred, storing;
};

TAILQ_HEAD(guest_list, guest);

struct worker {
	struct loop		*loop;
	struct service		 service;
	struct guest_list	 all, stirred, storing;
	struct guest_list	 ended;		/* by all: to be closed */
	size_t			 count;
	struct str		 lines;		/* for the doorman */
	bool			 is_urgent;	/* before the replies */
	loop_fn			*lines_fn;	/* NULL: they are fetched */
	void			*lines_context;
	struct asks		*asks;
	struct timer		 stop_timer;
	bool			 is_final;	/* stop_timer went off */
	bool			 is_leaving;	/* no more sessions come */
};

static void turn_end(void *context);

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
	loop_at_turn_end(loop, turn_end, worker);
	return worker;
}

/* "KIND QUESTION\n" of a session. */
static void
guest_tell(struct guest *guest)
{
	struct slice rest = str_slice(&guest->session->tells), line;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line))
		if (line.n > 0)
			str_addf(&guest->worker->lines, "ask %d " SLICE_FMT
			    "\n", ASK_NOBODY, SLICE_ARG(line));
	str_reset(&guest->session->tells);
}

/* What was held for a message, or a session, that has ended. */
static void
guest_release_holds(struct guest *guest)
{
	struct session *session = guest->session;

	if (session->step >= STEP_LAST)
		permit_end_client(session);
	else if (session->transaction == NULL)
		permit_end_message(session);
	session_filter_settle(session);
	guest_tell(guest);
	if (session->holds.len == 0)
		return;
	str_addf(&guest->worker->lines, "ask %d rate release%s\n",
	    ASK_NOBODY, session->holds.buf);
	str_reset(&session->holds);
	guest->worker->is_urgent = true;
}

/* Its connection is closed when the doorman has been told. */
static void
guest_end(struct guest *guest)
{
	struct worker *worker = guest->worker;

	if (guest->is_stirred)
		TAILQ_REMOVE(&worker->stirred, guest, stirred);
	if (guest->is_storing)
		TAILQ_REMOVE(&worker->storing, guest, storing);
	TAILQ_REMOVE(&worker->all, guest, all);
	worker->count--;
	timer_clear(&guest->timer);
	asks_close(worker->asks, &guest->ask_token);
	transaction_free(&guest->session->transaction);
	session_filter_close(guest->session);
	auth_close(guest->session);
	permit_end_client(guest->session);
	guest_release_holds(guest);
	session_free(&guest->session);
	str_addf(&worker->lines, "closed %u\n", guest->token);
	TAILQ_INSERT_TAIL(&worker->ended, guest, all);
}

static void
lines_say(struct worker *worker)
{
	if (worker->lines.len > 0 && worker->lines_fn != NULL)
		worker->lines_fn(worker->lines_context);
	worker->is_urgent = false;
}

static void
ended_close(struct worker *worker)
{
	struct guest *guest;

	while ((guest = TAILQ_FIRST(&worker->ended)) != NULL) {
		TAILQ_REMOVE(&worker->ended, guest, all);
		stream_free(&guest->stream);
		mem_free(&guest);
	}
}

void
worker_free(struct worker **worker)
{
	struct worker *w = *worker;
	struct guest *guest;

	if (w == NULL)
		return;
	while ((guest = TAILQ_FIRST(&w->all)) != NULL)
		guest_end(guest);
	ended_close(w);
	timer_clear(&w->stop_timer);
	keyring_free(&w->service.keyring);
	settings_drop(&w->service.settings);
	cache_free(&w->service.recipients);
	str_release(&w->lines);
	asks_free(&w->asks);
	mem_free(worker);
}

/* Something happened to the session: look at it at the end of the turn. */
static void
guest_stir(struct guest *guest)
{
	struct worker *worker = guest->worker;

	if (!guest->is_stirred) {
		guest->is_stirred = true;
		TAILQ_INSERT_TAIL(&worker->stirred, guest, stirred);
	}
	if (guest->session->want == WANT_STORE && !guest->is_storing) {
		guest->is_storing = true;
		TAILQ_INSERT_TAIL(&worker->storing, guest, storing);
	}
}

static void
on_stream(void *context)
{
	struct guest *guest = context;

	switch (guest->is_storing ? WANT_STORE : guest->session->want) {
	case WANT_STORE:
	case WANT_HOLD:
	case WANT_END:
		return;
	case WANT_ANSWER:
		/* Nothing is read meanwhile: there was output left. */
		if (stream_flush(guest->stream) < 0)
			session_broken(guest->session);
		break;
	case WANT_INPUT:
	case WANT_OUTPUT:
		session_read(guest->session);
	}
	guest_stir(guest);
}

static void on_timer(void *context);

/* Timers are moved only when they would be late; one that comes early is
 * set again.  So a busy session costs no timer work. */
static void
guest_arm(struct guest *guest)
{
	int64_t at_ms = session_deadline(guest->session);

	if (guest->timer.at_ms == 0 || at_ms < guest->timer.at_ms)
		timer_set(guest->worker->loop, &guest->timer, at_ms, on_timer,
		    guest);
}

static void
on_timer(void *context)
{
	struct guest *guest = context;

	if (clock_steady_ms() >= session_deadline(guest->session)) {
		asks_close(guest->worker->asks, &guest->ask_token);
		session_expire(guest->session);
	}
	guest_stir(guest);
}

void
worker_open(struct worker *worker, int fd, uint32_t token,
    const struct client *client)
{
	struct guest *guest = mem_alloc(1, sizeof(*guest));

	guest->worker = worker;
	guest->token = token;
	guest->stream = stream_new(worker->loop, fd, on_stream, guest);
	guest->session = session_new(&worker->service, guest->stream, client);
	TAILQ_INSERT_TAIL(&worker->all, guest, all);
	worker->count++;
	session_run(guest->session);
	guest_stir(guest);
}

/* ---- the end of a turn ------------------------------------------------ */

static void
note_trouble(const struct draft *draft, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, draft->id, "file", slice_of(draft->name),
	    "call", slice_of(call), "reason", slice_of(err->text), NULL);
}

static bool
session_is_on_stdin(const struct session *session)
{
	return strcmp(session->client.listener, SESSION_ON_STDIN) == 0;
}

/* Rows S1 -> S2 (or D1 for the freezer): the message gets its name. */
static bool
publish(struct session *session)
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
	note_trouble(&t->draft, "rename", &err);
	draft_abort(&t->draft);
	return false;
}

/* One group: all that are complete now, durable together (rows S0 -> S1).
 * Sessions go on afterwards and may join the next group. */
static void
commit(struct worker *worker)
{
	struct guest *guests[COMMIT_MAX];
	struct draft *drafts[COMMIT_MAX];
	struct err err = { "" };
	size_t n = 0;

	while (n < COMMIT_MAX &&
	    (guests[n] = TAILQ_FIRST(&worker->storing)) != NULL) {
		TAILQ_REMOVE(&worker->storing, guests[n], storing);
		guests[n]->is_storing = false;
		drafts[n] = &guests[n]->session->transaction->draft;
		n++;
	}
	if (n == 0)
		return;
	(void)draft_sync(drafts, n, &err);
	for (size_t i = 0; i < n; i++) {
		bool is_done = !drafts[i]->is_bad;

		if (is_done) {
			is_done = publish(guests[i]->session);
		} else {
			note_trouble(drafts[i], "fsync", &err);
			draft_abort(drafts[i]);
		}
		session_stored(guests[i]->session, is_done);
		guest_stir(guests[i]);
	}
}

/* Send its question on, once. */
static void
guest_ask(struct guest *guest)
{
	struct worker *worker = guest->worker;
	const struct ask *ask = guest->session->ask;

	if (guest->ask_token != 0)
		return;
	guest->ask_token = asks_open(worker->asks, guest);
	str_addf(&worker->lines, "ask %" PRIu64 " %s ", guest->ask_token,
	    ask->kind);
	str_add_slice(&worker->lines, str_slice(&ask->question));
	str_addc(&worker->lines, '\n');
}

/* Write what it has to say; let it go on when that made room. */
static void
guest_settle(struct guest *guest)
{
	struct session *session = guest->session;

	while (session->want != WANT_END && session->want != WANT_STORE &&
	    session->want != WANT_HOLD) {
		if (stream_flush(guest->stream) < 0)
			session_broken(session);
		else if (session->is_blocked &&
		    stream_unsent_bytes(guest->stream) <= OUTPUT_BYTES_MAX)
			session_run(session);
		else
			break;
	}
	if (session->want == WANT_STORE) {
		guest_stir(guest);
		return;
	}
	TAILQ_REMOVE(&guest->worker->stirred, guest, stirred);
	guest->is_stirred = false;
	if (session->want == WANT_END) {
		guest_end(guest);
		return;
	}
	guest_release_holds(guest);
	if (session->want == WANT_ANSWER)
		guest_ask(guest);
	else
		asks_close(guest->worker->asks, &guest->ask_token);
	if (session->want == WANT_HOLD)
		stream_rest(guest->stream);
	else
		stream_await(guest->stream, session->want == WANT_INPUT);
	guest_arm(guest);
}

/* Who is told that a message, or a session, is over may come again at once,
 * by another worker: what it held must be free by then. */
static void
holds_release(struct worker *worker)
{
	struct guest *guest;

	TAILQ_FOREACH(guest, &worker->stirred, stirred)
		if (guest->session->want != WANT_STORE)
			guest_release_holds(guest);
	if (worker->is_urgent)
		lines_say(worker);
}

static void
turn_end(void *context)
{
	struct worker *worker = context;
	struct guest *guest, *next;

	do {
		commit(worker);
		holds_release(worker);
		for (guest = TAILQ_FIRST(&worker->stirred); guest != NULL;
		    guest = next) {
			next = TAILQ_NEXT(guest, stirred);
			guest_settle(guest);
		}
	} while (!TAILQ_EMPTY(&worker->storing));
	lines_say(worker);
	ended_close(worker);
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

void
worker_reload(struct worker *worker, struct settings *settings)
{
	settings_drop(&worker->service.settings);
	cache_free(&worker->service.recipients);
	worker->service.settings = settings;
	if (worker->service.keyring != NULL)
		keyring_configure(worker->service.keyring, settings->conf);
}

static void
sessions_stop(struct worker *worker, bool is_final)
{
	struct guest *guest;

	TAILQ_FOREACH(guest, &worker->all, all) {
		session_stop(guest->session, is_final);
		guest_stir(guest);
	}
}

static void
on_stop_timer(void *context)
{
	struct worker *worker = context;

	worker->is_final = true;
	sessions_stop(worker, true);
}

void
worker_stop(struct worker *worker)
{
	if (worker->service.is_stopping)
		return;
	worker->service.is_stopping = true;
	sessions_stop(worker, false);
	timer_set(worker->loop, &worker->stop_timer,
	    clock_steady_ms() + WORKER_STOP_FOR_MS, on_stop_timer, worker);
}

void
worker_leave(struct worker *worker)
{
	worker->is_leaving = true;
}

void
worker_press(struct worker *worker, int pressure)
{
	struct guest *guest;

	worker->service.pressure = pressure;
	TAILQ_FOREACH(guest, &worker->all, all)
		if (pressure > 0) {
			session_hurry(guest->session);
			guest_arm(guest);
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
	struct guest *guest = asks_find(worker->asks, token);

	if (guest == NULL)
		return;		/* its client has gone, or its time */
	asks_close(worker->asks, &guest->ask_token);
	session_answered(guest->session, state, answer);
	guest_stir(guest);
}
