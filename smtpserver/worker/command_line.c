/* command_line.c - reads a command line, finds its command, says the answer
 *
 * In     bytes of a stream, in pieces of any size
 * Out    replies; the step that follows
 * Trusts nothing the client says: the length of lines, the number of errors
 *        and of commands without a message, and unread output are bounded
 * Spec   RFC 5321 sections 4.1.4, 4.5.3.1.4; RFC 2920
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "grammar/smtp/command.h"
#include "journal/counters.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/session/step.h"
#include "smtpserver/session/records/transcript.h"

#include "base/banned.h"

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
    struct session_answer *out)
{
	struct ask *ask = session->ask;

	session->ask = NULL;
	ask->answered_fn(session, args, ask, out);
	ask_free(&ask);
}

/* Filters may have words for it. */
static void command_answer_unknown(struct session *session, struct slice line,
    struct session_answer *out);

static void
command_unknown_answered(struct session *session, struct slice line,
    const struct ask *ask, struct session_answer *out)
{
	permit_learn(session, ask);
	command_answer_unknown(session, line, out);
}

static void
command_answer_unknown(struct session *session, struct slice line,
    struct session_answer *out)
{
	const struct filter_extra extra = { .text = line };

	if (session_filter_permit(session, TALK_UNKNOWN, &extra,
	    command_unknown_answered, out))
		answer_set(out, 500, "5.5.2", "command not recognised");
}

static void
command_answer(struct session *session, const struct command_row *row,
    struct slice args, struct slice line, struct session_answer *out)
{
	if (session->ask != NULL)
		command_resume(session, row != NULL ? args : line, out);
	else if (row == NULL)
		command_answer_unknown(session, line, out);
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
session_rcpt_count(const struct session *session)
{
	return session->transaction ? session->transaction->rcpt_count : 0;
}

static void
command_refused(struct session *session, const struct command_row *row,
    const struct command *command, struct slice line,
    const struct session_answer *answer)
{
	note_command_refused(session, line, answer);
	if (row != NULL && row->fn == cmd_rcpt)
		session_filter_tell_refused(session, command->args, answer);
}

static enum step
command_run(struct session *session, struct slice line)
{
	const struct command_row *row = NULL;
	unsigned rcpts = session_rcpt_count(session);
	bool is_command;
	enum step next = STEP_COMMAND;
	struct command command;
	struct session_answer answer;
	struct err err;

	is_command = command_parse(line, &command, &err) == 0;
	if (is_command)
		row = command_find(command.verb);
	if (session->ask == NULL) {
		session->commands++;
		transcript_command(session, line, row != NULL ?
		    command.verb : (struct slice){ NULL, 0 });
	}
	answer.rule = NULL;
	if (!is_command) {
		answer_set(&answer, 500, "5.5.2", "%s", err.text);
	} else if (session->commands == 1 && is_http(command.verb)) {
		return session_say_end(session, "4.7.0", "http",
		    "speaks SMTP only");
	} else {
		command_answer(session, row, command.args, line, &answer);
	}
	if (session->ask != NULL)
		return STEP_ASK;	/* the line stays where it is */
	facts_release(&session->facts[FACT_TURN]);
	session_filter_forget(session);
	if (answer.code == 0)
		return row->next;
	if (answer.code >= 400)
		command_refused(session, row, &command, line, &answer);
	else if (row != NULL)
		next = row->next;
	next = session_say(session, &answer, next);
	if (session->is_out_of_step && next != STEP_LAST)
		return session_say_end(session, "4.7.0", "size of BDAT",
		    "cannot tell commands from content");
	/* A recipient that was taken is progress, and has its own limit. */
	if ((next == STEP_COMMAND || next == STEP_HOLD) &&
	    session_rcpt_count(session) <= rcpts &&
	    session_count_idle(session) == STEP_LAST)
		next = STEP_LAST;
	return next;
}

/* A line that ends in LF alone: another program may see another end, so
 * what follows cannot be trusted to be a command. */
static enum step
command_refuse_bare_lf(struct session *session, struct slice line)
{
	struct session_answer answer;

	answer_set(&answer, 500, "5.5.2", "lines end in CR LF");
	note_command_refused(session, line, &answer);
	session_write(session, &answer);
	return session_say_end(session, "4.7.0", "bare CR or LF",
	    "cannot tell commands from content");
}

static enum step
command_refuse_long_line(struct session *session)
{
	struct session_answer answer;

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

/* Who logged in has been barred since. */
bool
session_is_barred(struct session *session, enum step *out_next)
{
	const char *words;

	if (permit_user(session, str_slice(&session->user), &words))
		return false;
	*out_next = session_say_end(session, "4.7.0", "user barred", words);
	return true;
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
		return command_refuse_long_line(session);
	if (end == in.n)
		return session->is_eof ? STEP_LAST : STEP_WAIT;
	line = slice_first(in, end);
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	else if (!conf->bare_lf_ok)
		return command_refuse_bare_lf(session, line);
	if (session->ask == NULL && session_is_barred(session, &next))
		return next;
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
