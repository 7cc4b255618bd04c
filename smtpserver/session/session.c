/* session.c - a session begins, becomes another client's, and ends
 *
 * In     a client at a listener
 * Out    a session; events session.open and session.close; its last steps
 * Holds  the settings it began with
 * Spec   RFC 1122 section 4.2.2.13
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/records/transcript.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

static const struct conf_listen on_stdin = {
	.text = SESSION_ON_STDIN, .no_verify = true
};

bool
session_is_on_stdin(const struct session *session)
{
	return strcmp(session->client.listener, SESSION_ON_STDIN) == 0;
}

void
session_set_client(struct session *session, const struct client *client)
{
	const struct conf *conf = session->settings->conf;
	struct peers *peers = session->settings->peers;

	session->client = *client;
	session->trust = peers_trust(peers, &client->net) |
	    (session->trust & 1u << TRUST_XCLIENT);
	session->withheld = peers_withheld(peers, &client->net);
	session->listen = strcmp(client->listener, SESSION_ON_STDIN) == 0 ?
	    &on_stdin : conf_listen_find(conf, client->listener);
	transcript_begin(session);
}

struct session *
session_new(struct service *service, struct stream *stream,
    const struct client *client)
{
	static ino_t counter;
	struct session *session = mem_alloc(1, sizeof(*session));

	session->magic = SESSION_MAGIC;
	session->service = service;
	session->settings = settings_hold(service->settings);
	session->stream = stream;
	session_set_client(session, client);
	spool_id_make(clock_wall_us(), ++counter, session->id);
	session->end_at_ms = clock_steady_ms() +
	    session->settings->conf->timeouts.session_ms;
	str_init(&session->helo);
	str_init(&session->holds);
	str_init(&session->tells);
	session_filter_open(session);
	str_init(&session->name);
	str_init(&session->user);
	str_init(&session->forward);
	session->step = client->is_tls ? STEP_TLS : STEP_GREET;
	note_open(session);
	return session;
}

/* ---- what it is ------------------------------------------------------- */

bool
session_is_lmtp(const struct session *session)
{
	return session->listen != NULL && session->listen->is_lmtp;
}

enum phase
session_phase(const struct session *session)
{
	if (session->helo.len == 0)
		return PHASE_START;
	if (session->transaction == NULL)
		return PHASE_READY;
	if (session->transaction->is_chunked)
		return PHASE_CHUNKS;
	return session->transaction->rcpt_count == 0 ? PHASE_MAIL :
	    PHASE_RCPT;
}

void
session_ask(struct session *session, const char *kind,
    struct slice question, int64_t for_ms, answered_fn *fn)
{
	if (session->ask != NULL)
		panic("session_ask: a question is out already");
	session->ask = ask_new(kind, question, for_ms, fn);
}

/* ---- the end ---------------------------------------------------------- */

enum step
step_last(struct session *session)
{
	int sent;

	/* What it holds is given back before its client can know that it is
	 * over: the worker does that, flushes, and comes back. */
	if (!session->is_over) {
		session->is_over = session->is_blocked = true;
		stream_expect_end(session->stream);
		return STEP_WAIT;
	}
	session->is_blocked = false;
	sent = stream_flush(session->stream);
	if (sent == 0)
		return STEP_WAIT;
	if (sent < 0)
		return STEP_END;
	/* Unread input would make close() a reset, which can overtake the
	 * reply.  RFC 1122 section 4.2.2.13. */
	if (session->is_eof || (stream_input(session->stream).n == 0 &&
	    session->end_reason != NULL &&
	    strcmp(session->end_reason, "quit") == 0))
		return STEP_END;
	stream_end_output(session->stream);
	session_wait_for(session, LINGER_FOR_MS);
	return STEP_LINGER;
}

enum step
step_linger(struct session *session)
{
	stream_consume(session->stream, stream_input(session->stream).n);
	return session->is_eof ? STEP_END : STEP_WAIT;
}

enum step
step_end(struct session *session)
{
	return STEP_WAIT;
}

void
session_free(struct session **session)
{
	struct session *s = *session;

	if (s == NULL)
		return;
	note_close(s);
	transaction_free(&s->transaction);
	ask_free(&s->ask);
	for (int i = 0; i < FACT_SCOPES; i++)
		facts_release(&s->facts[i]);
	session_filter_close(s);
	str_release(&s->holds);
	str_release(&s->tells);
	settings_drop(&s->settings);
	str_release(&s->helo);
	str_release(&s->name);
	str_release(&s->user);
	str_release(&s->forward);
	mem_free(&s->tls);
	login_free(&s->login);
	mem_free(&s->login_place);
	s->magic = 0;
	mem_free(session);
}
