/* auth.c - the steps of a session that logs in
 *
 * In     responses of the client; answers of helpers
 * Out    challenges; the verdict, late when it is no
 * Holds  the exchange; how often it failed here of late (failures.h)
 * Trusts nothing: a response is base64 in a line of bounded length
 * Spec   RFC 4954 sections 4 and 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "journal/counters.h"
#include "journal/neighbours.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/auth.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/session/records/transcript.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

enum {
	LINE_BYTES_MAX = 12288,		/* RFC 4954 section 4 */
	DELAY_FIRST_MS = 1000, DELAY_MAX_MS = 8000
};

/* ---- failures --------------------------------------------------------- */

static void
auth_add_key(struct str *out, const char *what, struct slice name)
{
	str_reset(out);
	str_addf(out, "%s ", what);
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		str_addc(out, ascii_lower(c));
	}
}

/* An address; the first 64 bits of an IPv6 one: who has one has them all. */
static void
add_address_key(const struct session *session, struct str *out)
{
	struct slice host = slice_of(session->client.text);
	size_t end = host.n, colons = 0;

	while (end > 0 && host.p[end - 1] != ':')
		end--;			/* the port */
	host = slice_first(host, end > 0 ? end - 1 : 0);
	for (size_t i = 0; i < host.n && host.p[0] == '['; i++)
		if (host.p[i] == ':' && ++colons == 4)
			host.n = i;
	auth_add_key(out, "address", host);
}

bool
auth_address_is_barred(const struct session *session)
{
	const struct conf_limits *limits = &session->settings->conf->limits;
	struct str key = STR_INIT;
	bool is_barred;

	add_address_key(session, &key);
	is_barred = failures_count(session->service->failures,
	    str_slice(&key)) >= limits->auth_failures;
	str_release(&key);
	return is_barred;
}

static bool
user_is_barred(const struct session *session)
{
	const struct conf_limits *limits = &session->settings->conf->limits;
	struct str key = STR_INIT;
	bool is_barred;

	if (session->login->user.len == 0)
		return false;
	auth_add_key(&key, "user", str_slice(&session->login->user));
	is_barred = failures_count(session->service->failures,
	    str_slice(&key)) >= limits->auth_failures_user;
	str_release(&key);
	return is_barred;
}

/* Others of the cluster hear of it; nobody waits for that. */
static void
auth_tell(struct session *session, const char *verb, struct slice key)
{
	const struct conf *conf = session->settings->conf;
	char sum[FAILURES_SUM_BYTES];

	if (!conf_cluster_has_redis(&conf->cluster))
		return;
	failures_sum(key, sum);
	str_addf(&session->tells, "news %s %s\n", verb, sum);
}

/* Counts; returns how long the answer is to be held back. */
static int64_t
auth_failure_count(struct session *session)
{
	struct failures *failures = session->service->failures;
	struct str key = STR_INIT;
	int64_t delay_ms = DELAY_FIRST_MS;
	unsigned count;

	add_address_key(session, &key);
	count = failures_add(failures, str_slice(&key));
	auth_tell(session, "failed", str_slice(&key));
	if (session->login->user.len > 0) {
		auth_add_key(&key, "user", str_slice(&session->login->user));
		(void)failures_add(failures, str_slice(&key));
		auth_tell(session, "failed", str_slice(&key));
	}
	str_release(&key);
	while (--count > 0 && delay_ms < DELAY_MAX_MS)
		delay_ms *= 2;
	return delay_ms;
}

/* ---- what came of it -------------------------------------------------- */

static enum step
auth_end(struct session *session, int code, const char *status,
    const char *text)
{
	struct session_answer answer;

	login_free(&session->login);
	answer_set(&answer, code, status, "%s", text);
	return session_say(session, &answer, STEP_COMMAND);
}

static enum step
auth_succeed(struct session *session)
{
	struct str key = STR_INIT;
	const char *words;

	if (!permit_user(session, str_slice(&session->login->user), &words)) {
		note_auth_failed(session, "a rule bars this user");
		return auth_end(session, 535, "5.7.13", words);
	}
	auth_add_key(&key, "user", str_slice(&session->login->user));
	if (failures_count(session->service->failures, str_slice(&key)) > 0)
		auth_tell(session, "cleared", str_slice(&key));
	failures_clear(session->service->failures, str_slice(&key));
	str_release(&key);
	str_reset(&session->user);
	str_add_slice(&session->user, str_slice(&session->login->user));
	snprintf(session->mechanism, sizeof(session->mechanism), "%s",
	    session->login->mechanism);
	note_auth_ok(session);
	return auth_end(session, 235, "2.7.0", "you are logged in");
}

/* The helper need not wait for more. */
static void
auth_give_up(struct session *session)
{
	struct str words = STR_INIT;

	login_give_up(session->login, &words);
	if (words.len > 0)
		str_addf(&session->tells, "%s %s\n", session->login->kind,
		    words.buf);
	str_release(&words);
}

void
auth_close(struct session *session)
{
	if (session->login == NULL)
		return;
	if (session->login->is_refused && !session->login->is_given_up) {
		note_auth_failed(session, "the back end refused it");
		(void)auth_failure_count(session);
	}
	auth_give_up(session);
	login_free(&session->login);
}

static enum step
auth_fail(struct session *session, const char *reason)
{
	note_auth_failed(session, reason);
	session->login->is_refused = false;	/* it is counted */
	session_wait_for(session, auth_failure_count(session));
	return STEP_PAUSE;
}

static enum step
auth_challenge(struct session *session, struct slice bytes)
{
	struct str letters = STR_INIT;

	base64_add(&letters, bytes);
	session_write_challenge(session, str_slice(&letters));
	str_release(&letters);
	session_wait_for(session,
	    session->settings->conf->timeouts.command_ms);
	return STEP_AUTH;
}

static enum step
auth_barred(struct session *session)
{
	counters_limit("auth-failures-user");
	note_auth_failed(session, "too many failures of this user");
	return auth_end(session, 454, "4.7.0", "too many failures, try later");
}

static enum step
auth_ask(struct session *session, struct slice question)
{
	if (user_is_barred(session))
		return auth_barred(session);
	session_ask(session, session->login->kind, question, 0, NULL);
	session_wait_for(session, session->ask->for_ms);
	return STEP_ASK;
}

static enum step
auth_act(struct session *session, enum login_next next, struct str *out)
{
	switch (next) {
	case LOGIN_CHALLENGE:
		return auth_challenge(session, str_slice(out));
	case LOGIN_ASK:
		return auth_ask(session, str_slice(out));
	case LOGIN_GOOD:	/* a back end has just told who it is */
		return user_is_barred(session) ? auth_barred(session) :
		    auth_succeed(session);
	case LOGIN_BAD:
		return auth_fail(session, out->buf);
	case LOGIN_MALFORMED:
		return auth_end(session, 501, "5.5.2", out->buf);
	case LOGIN_TROUBLE:
		break;
	}
	note_auth_failed(session, out->buf);
	return auth_end(session, 454, "4.7.0", "this cannot be checked now, "
	    "try later");
}

/* ---- the client's lines ----------------------------------------------- */

/* A token that was refused stays refused: who takes the refusal for a reason
 * to give up has guessed all the same. */
static enum step
auth_giving_up(struct session *session)
{
	session->login->is_given_up = true;
	auth_give_up(session);
	if (session->login->is_refused)
		return auth_fail(session, "the back end refused it");
	return auth_end(session, 501, "5.7.0", "AUTH was given up");
}

static enum step
auth_response_take(struct session *session, struct slice line, struct str *out)
{
	struct str response = STR_INIT;
	enum login_next next;
	struct err err;

	if (slice_is(line, "*"))
		return auth_giving_up(session);
	if (base64_decode(line, &response, &err) == 0)
		next = login_take(session->login, str_slice(&response), out);
	else
		next = login_say_malformed(out, err.text);
	explicit_bzero(response.buf, response.len);
	str_release(&response);
	return auth_act(session, next, out);
}

/* What AUTH had after the mechanism, or an empty challenge for it. */
static enum step
auth_begin(struct session *session, struct str *out)
{
	struct slice initial = str_slice(&session->login->initial);
	enum step step;

	session->login->is_begun = true;
	if (!session->login->has_initial)
		return auth_act(session, login_begin(session->login, out), out);
	if (slice_is(initial, "="))	/* RFC 4954 section 4: of no bytes */
		initial.n = 0;
	step = auth_response_take(session, initial, out);
	if (session->login != NULL)
		explicit_bzero(session->login->initial.buf,
		    session->login->initial.len);
	return step;
}

static enum step
auth_line_take(struct session *session, struct str *out)
{
	struct slice in = stream_input(session->stream), line;
	size_t end_at = slice_find(slice_first(in, LINE_BYTES_MAX), '\n');
	enum step next;

	if (session->service->is_stopping)
		return session_say_end(session, "4.3.2", "stopping",
		    "is stopping");
	if (end_at == LINE_BYTES_MAX) {
		(void)auth_end(session, 500, "5.5.6", "line too long");
		return STEP_SKIP;
	}
	if (end_at == in.n)
		return session->is_eof ? STEP_LAST : STEP_WAIT;
	line = slice_first(in, end_at);
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	transcript_secret(session);
	next = auth_response_take(session, line, out);
	stream_consume(session->stream, end_at + 1);
	return next;
}

/* The program behind the socket answered, or did not. */
static void
auth_note_neighbour(const struct session *session, enum login_next next,
    const char *words)
{
	const char *name = session->settings->conf->auth.socket;

	if (name == NULL)
		return;
	if (next != LOGIN_TROUBLE) {
		neighbour_works("auth", name);
		return;
	}
	neighbour_fails("auth", name, words);
	neighbour_told("auth", name);
}

static enum step
auth_answer_take(struct session *session, struct str *out)
{
	struct ask *asked = session->ask;
	enum login_next next = login_answered(session->login, asked->state,
	    str_slice(&asked->answer), out);

	auth_note_neighbour(session, next, out->buf);
	session->ask = NULL;
	ask_free(&asked);
	return auth_act(session, next, out);
}

enum step
step_auth(struct session *session)
{
	struct str out = STR_INIT;
	enum step next;

	if (session->ask != NULL)
		next = auth_answer_take(session, &out);
	else if (!session->login->is_begun)
		next = auth_begin(session, &out);
	else
		next = auth_line_take(session, &out);
	explicit_bzero(out.buf, out.len);
	str_release(&out);
	return next;
}

/* It was wrong, and that has been held back for long enough. */
enum step
step_pause(struct session *session)
{
	if (clock_steady_ms() < session->deadline_at_ms)
		return STEP_WAIT;
	session_wait_for(session,
	    session->settings->conf->timeouts.command_ms);
	if (auth_address_is_barred(session)) {
		counters_limit("auth-failures");
		login_free(&session->login);
		return session_say_end(session, "4.7.0", "auth failures",
		    "too many failed logins");
	}
	if (session->login->is_given_up)
		return auth_end(session, 501, "5.7.0", "AUTH was given up");
	return auth_end(session, 535, "5.7.8", "wrong user or password");
}
