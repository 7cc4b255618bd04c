/* session.c - the steps of one SMTP session; the only writer of replies
 *
 * In     bytes of a stream, in pieces of any size; "stored", "time is up"
 * Out    replies; a draft to be made durable (want == WANT_STORE); events
 * Holds  a transaction at the most
 * Trusts nothing the client says: lines, errors, commands without a
 *        message, unread output and time are bounded
 * Spec   RFC 5321 sections 3, 4.1.4, 4.2, 4.5.3.2; RFC 2920; RFC 2034
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "base/mem.h"
#include "grammar/command.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/session/filter.h"
#include "smtpserver/session/notes.h"
#include "smtpserver/session/internal.h"
#include "smtpserver/session/permit.h"
#include "smtpserver/session/said.h"

#include "base/banned.h"

enum { DATA_READS_MAX = 8 };

static const struct step_row {
	const char	*name;
	step_fn		*fn;
} steps[STEP_COUNT] = {
#define STEP(symbol, name, next, text) { #name, step_##name },
#include "smtpserver/session/steps.h"
#undef STEP
};

/* ---- answers ---------------------------------------------------------- */

void
session_write(struct session *session, const struct answer *answer)
{
	struct slice rest = slice_of(answer->text), line;
	char wire[ANSWER_TEXT_BYTES + 32];

	while (slice_cut(&rest, '\n', &line)) {
		int n = snprintf(wire, sizeof(wire), "%d%c%s%s" SLICE_FMT
		    "\r\n", answer->code, rest.p == NULL ? ' ' : '-',
		    answer->status ? answer->status : "",
		    answer->status ? " " : "", SLICE_ARG(line));

		stream_say(session->stream, (struct slice){ wire, (size_t)n });
		said_reply(session, (struct slice){ wire, (size_t)n });
	}
}

void
session_write_challenge(struct session *session, struct slice letters)
{
	stream_say(session->stream, SLICE("334 "));
	stream_say(session->stream, letters);
	stream_say(session->stream, SLICE("\r\n"));
	said_reply(session, SLICE("334 ***"));
}

enum step
session_say(struct session *session, const struct answer *answer,
    enum step next)
{
	struct answer enough;

	session_write(session, answer);
	if (answer->code == 421)
		return STEP_LAST;
	if (answer->code < 500 ||
	    ++session->errors < session->settings->conf->limits.errors ||
	    session->settings->conf->limits.errors == 0)
		return session_hold(session, answer, next);
	session->end_reason = "errors";
	counters_limit("errors");
	answer_set(&enough, 421, "4.7.0", "%s too many errors",
	    session->settings->conf->host);
	session_write(session, &enough);
	return STEP_LAST;
}

enum step
session_say_end(struct session *session, const char *status,
    const char *reason, const char *text)
{
	struct answer answer;

	session->end_reason = reason;
	answer_set(&answer, 421, status, "%s %s",
	    session->settings->conf->host, text);
	session_write(session, &answer);
	transaction_free(&session->transaction);
	return STEP_LAST;
}

enum step
session_count_idle(struct session *session)
{
	if (++session->idle_commands <= IDLE_COMMANDS_MAX)
		return STEP_COMMAND;
	return session_say_end(session, "4.7.0", "commands",
	    "too many commands without a message");
}

void
session_wait_for(struct session *session, int64_t span_ms)
{
	session->deadline_at_ms = clock_steady_ms() + span_ms;
}

/* ---- steps ------------------------------------------------------------ */

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

/* A browser, or a page that makes one talk to us. */
static bool
is_http(struct slice verb)
{
	static const char *const verbs[] = { "GET", "POST", "HEAD", "PUT",
	    "OPTIONS", "CONNECT", "PRI" };

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (slice_is_nocase(verb, verbs[i]))
			return true;
	return false;
}

/* A command that asked goes on with the answer. */
static void
command_resume(struct session *session, struct slice args,
    struct answer *out)
{
	struct ask *ask = session->ask;

	session->ask = NULL;
	ask->answered_fn(session, args, ask, out);
	ask_free(&ask);
}

/* Filters may have words for it. */
static void answer_unknown(struct session *session, struct slice line,
    struct answer *out);

static void
unknown_answered(struct session *session, struct slice line,
    const struct ask *ask, struct answer *out)
{
	permit_learn(session, ask);
	answer_unknown(session, line, out);
}

static void
answer_unknown(struct session *session, struct slice line,
    struct answer *out)
{
	const struct filter_extra extra = { .text = line };

	if (session_filter_permit(session, TALK_UNKNOWN, &extra,
	    unknown_answered, out))
		answer_set(out, 500, "5.5.2", "command not recognised");
}

static void
command_answer(struct session *session, const struct command_row *row,
    struct slice args, struct slice line, struct answer *out)
{
	if (session->ask != NULL)
		command_resume(session, row != NULL ? args : line, out);
	else if (row == NULL)
		answer_unknown(session, line, out);
	else if (row->fn == NULL)
		answer_set(out, 502, "5.5.1", "%s is not implemented",
		    row->verb);
	else if (session_phase(session) & row->phases)
		row->fn(session, args, out);
	else if (session_phase(session) == PHASE_START)
		answer_set(out, 503, "5.5.1", session_is_lmtp(session) ?
		    "say LHLO first" : "say EHLO or HELO first");
	else if (session->transaction == NULL)
		answer_set(out, 503, "5.5.1", "say MAIL first");
	else
		answer_set(out, 503, "5.5.1", "a message is under way");
}

static unsigned
rcpt_count(const struct session *session)
{
	return session->transaction ? session->transaction->rcpt_count : 0;
}

static void
refused(struct session *session, const struct command_row *row,
    const struct command *command, struct slice line,
    const struct answer *answer)
{
	note_command_refused(session, line, answer);
	if (row != NULL && row->fn == cmd_rcpt)
		session_filter_tell_refused(session, command->args, answer);
}

static enum step
command_run(struct session *session, struct slice line)
{
	const struct command_row *row = NULL;
	unsigned rcpts = rcpt_count(session);
	enum step next = STEP_COMMAND;
	struct command command;
	struct answer answer;
	struct err err;

	if (session->ask == NULL) {
		session->commands++;
		said_command(session, line);
	}
	answer.rule = NULL;
	if (command_parse(line, &command, &err) != 1) {
		answer_set(&answer, 500, "5.5.2", "%s", err.text);
	} else if (session->commands == 1 && is_http(command.verb)) {
		return session_say_end(session, "4.7.0", "http",
		    "speaks SMTP only");
	} else {
		row = command_find(command.verb);
		command_answer(session, row, command.args, line, &answer);
	}
	if (session->ask != NULL)
		return STEP_ASK;	/* the line stays where it is */
	facts_release(&session->facts[FACT_TURN]);
	session_filter_forget(session);
	if (answer.code == 0)
		return row->next;
	if (answer.code >= 400)
		refused(session, row, &command, line, &answer);
	else if (row != NULL)
		next = row->next;
	next = session_say(session, &answer, next);
	if (session->is_out_of_step && next != STEP_LAST)
		return session_say_end(session, "4.7.0", "size of BDAT",
		    "cannot tell commands from content");
	/* A recipient that was taken is progress, and has its own limit. */
	if ((next == STEP_COMMAND || next == STEP_HOLD) &&
	    rcpt_count(session) <= rcpts &&
	    session_count_idle(session) == STEP_LAST)
		next = STEP_LAST;
	return next;
}

/* A line that ends in LF alone: another program may see another end, so
 * what follows cannot be trusted to be a command. */
static enum step
refuse_bare_lf(struct session *session, struct slice line)
{
	struct answer answer;

	answer_set(&answer, 500, "5.5.2", "lines end in CR LF");
	note_command_refused(session, line, &answer);
	session_write(session, &answer);
	return session_say_end(session, "4.7.0", "bare CR or LF",
	    "cannot tell commands from content");
}

static enum step
refuse_long_line(struct session *session)
{
	struct answer answer;

	counters_limit("command");
	answer_set(&answer, 500, "5.5.2", "line too long");
	note_command_refused(session,
	    slice_first(stream_input(session->stream), 80), &answer);
	return session_say(session, &answer, STEP_SKIP);
}

static size_t
command_bytes_max(const struct conf *conf)
{
	size_t max = conf->limits.command_bytes;

	if (max == 0)
		max = COMMAND_LINE_BYTES_MAX;
	return max < STREAM_INPUT_BYTES_MAX ? max : STREAM_INPUT_BYTES_MAX;
}

enum step
step_command(struct session *session)
{
	const struct conf *conf = session->settings->conf;
	struct slice in = stream_input(session->stream), line;
	size_t max = command_bytes_max(conf);
	size_t end = slice_find(slice_first(in, max), '\n');
	enum step next;

	session->is_blocked =
	    stream_unsent_bytes(session->stream) > OUTPUT_BYTES_MAX;
	if (session->is_blocked)
		return STEP_WAIT;
	if (session->service->is_stopping)
		return session_say_end(session, "4.3.2", "stopping",
		    "is stopping");
	if (end == max)
		return refuse_long_line(session);
	if (end == in.n)
		return session->is_eof ? STEP_LAST : STEP_WAIT;
	line = slice_first(in, end);
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	else if (!conf->bare_lf_ok)
		return refuse_bare_lf(session, line);
	if (session->ask == NULL)
		session->asked_at_us = clock_steady_us();
	next = command_run(session, line);
	if (next == STEP_ASK) {
		session_wait_for(session, session->ask->for_ms);
		return next;
	}
	note_answered(session);
	stream_consume(session->stream, end + 1);
	session_wait_for(session, next == STEP_DATA || next == STEP_CHUNK ?
	    conf->timeouts.data_ms : session_command_ms(session));
	return next;
}

enum step
step_ask(struct session *session)
{
	if (session->ask->state == ASK_WAITING)
		return STEP_WAIT;
	return session->login != NULL ? STEP_AUTH : STEP_COMMAND;
}

enum step
step_skip(struct session *session)
{
	struct slice in = stream_input(session->stream);
	size_t end = slice_find(in, '\n');

	if (end == in.n) {
		stream_consume(session->stream, in.n);
		return session->is_eof ? STEP_LAST : STEP_WAIT;
	}
	stream_consume(session->stream, end + 1);
	return STEP_COMMAND;
}

/* ---- what the worker calls -------------------------------------------- */

static bool
is_asking_now(const struct session *session)
{
	return session->step == STEP_ASK || session->step == STEP_FILTER ||
	    session->step == STEP_KNOCK;
}

static void
invariants_check(const struct session *session)
{
	const struct transaction *t = session->transaction;
	bool is_in_data = session->step == STEP_DATA ||
	    session->step == STEP_FILTER || session->step == STEP_STORE ||
	    session->step == STEP_STORED;
	bool is_asking = is_asking_now(session);

	if (session->magic != SESSION_MAGIC)
		panic("session: not a session");
	if (is_asking && session->ask == NULL)
		panic("session in step ask without a question");
	if (is_in_data && (t == NULL || !t->is_receiving))
		panic("session in step %s without a message",
		    steps[session->step].name);
	if (!is_in_data && session->step < STEP_LAST && t != NULL &&
	    t->is_receiving && !t->is_chunked)
		panic("session in step %s with an open message",
		    steps[session->step].name);
}

static bool
is_receiving(const struct session *session)
{
	return session->step == STEP_DATA || session->step == STEP_CHUNK;
}

void
session_run(struct session *session)
{
	for (;;) {
		enum step next;

		invariants_check(session);
		next = steps[session->step].fn(session);
		if (next == STEP_WAIT)
			break;
		session->step = next;
	}
	switch (session->step) {
	case STEP_ASK:
	case STEP_FILTER:
	case STEP_KNOCK:
		session->want = WANT_ANSWER;
		break;
	case STEP_HOLD:
		session->want = WANT_HOLD;
		break;
	case STEP_STORE:
		session->want = WANT_STORE;
		break;
	case STEP_END:
		session->want = WANT_END;
		break;
	default:
		session->want = session->is_eof || session->is_blocked ||
		    session->step == STEP_LAST ||
		    session->step == STEP_PAUSE ? WANT_OUTPUT : WANT_INPUT;
	}
}

void
session_read(struct session *session)
{
	int left = DATA_READS_MAX;

	if (stream_unsent_bytes(session->stream) > 0 &&
	    stream_flush(session->stream) < 0) {
		session_broken(session);
		return;
	}
	do {
		switch (session->is_eof ? STREAM_NOTHING :
		    stream_fill(session->stream)) {
		case STREAM_EOF:
			session->is_eof = true;
			break;
		case STREAM_BROKEN:
			session_broken(session);
			return;
		case STREAM_GOT:
		case STREAM_NOTHING:
			break;
		}
		session_run(session);
	} while (is_receiving(session) && --left > 0 &&
	    stream_was_full(session->stream));
}

void
session_broken(struct session *session)
{
	if (session->step == STEP_TLS && session->end_reason == NULL)
		session_tls_failed(session,
		    stream_tls(session->stream) == STREAM_TLS_FAILED ?
		    stream_tls_trouble(session->stream) : "lost");
	if (session->end_reason == NULL)
		session->end_reason = is_receiving(session) ?
		    "lost in data" : "lost";
	session->step = STEP_END;
	session->want = WANT_END;
}

int64_t
session_deadline(const struct session *session)
{
	return session->deadline_at_ms < session->end_at_ms ||
	    is_asking_now(session) || session->step == STEP_LAST ||
	    session->step == STEP_LINGER ?
	    session->deadline_at_ms : session->end_at_ms;
}

void
session_expire(struct session *session)
{
	if (session->step == STEP_STORE)
		return;		/* its turn is about to end */
	if (is_asking_now(session)) {
		session_answered(session, ASK_TROUBLE,
		    SLICE("no answer in time"));
		return;
	}
	if ((session->step == STEP_PAUSE || session->step == STEP_HOLD ||
	    session->step == STEP_GREET) &&
	    clock_steady_ms() < session->end_at_ms) {
		session_run(session);
		return;
	}
	if (session->step == STEP_TLS)
		session_tls_failed(session, "it took too long");
	if (session->step == STEP_TLS || session->step >= STEP_LAST) {
		session_broken(session);
		return;
	}
	session->step = clock_steady_ms() >= session->end_at_ms ?
	    session_say_end(session, "4.4.2", "session timeout",
	    "the session took too long") :
	    session_say_end(session, "4.4.2", "timeout", "waited too long");
	session_wait_for(session, LINGER_FOR_MS);
	session_run(session);
}

void
session_stop(struct session *session, bool is_final)
{
	if (session->step >= STEP_LAST)
		return;
	if (session->step == STEP_TLS) {	/* nothing can be said */
		session_tls_failed(session, "we stop");
		session_broken(session);
		return;
	}
	/* step_command will say it behind the message. */
	if (session->step == STEP_STORE ||
	    ((is_receiving(session) || is_asking_now(session)) &&
	    !is_final))
		return;
	session->step = session_say_end(session, "4.3.2", "stopping",
	    "is stopping");
	session_wait_for(session, LINGER_FOR_MS);
	session_run(session);
}

void
session_answered(struct session *session, enum ask_state state,
    struct slice answer)
{
	if (!is_asking_now(session))
		return;
	session->ask->state = state;
	str_reset(&session->ask->answer);
	str_add_slice(&session->ask->answer, answer);
	session_run(session);
}

void
session_stored(struct session *session, bool is_done)
{
	session->store = is_done ? STORE_DONE : STORE_FAILED;
	session_run(session);
}

const char *
session_step_name(const struct session *session)
{
	return steps[session->step].name;
}
