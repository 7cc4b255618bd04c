/* reply.c - what is said to a client, and counted
 *
 * In     an answer
 * Out    lines in the stream; the step that follows
 * Holds  nothing: the session has the counts
 * Trusts no client: errors, and commands that bring no message nearer, are
 *        bounded
 * Spec   RFC 5321 section 4.2; RFC 2034
 *
 * SPDX-License-Identifier: ISC
 */
#include "journal/counters.h"
#include "smtpserver/session/copy.h"
#include "smtpserver/session/step.h"
#include "smtpserver/session/records/transcript.h"

#include "base/banned.h"

void
session_write(struct session *session, const struct session_answer *answer)
{
	struct slice rest = slice_of(answer->text), line;
	struct str wire = STR_INIT;
	char room[DECIMAL_BYTES];

	while (slice_cut(&rest, '\n', &line)) {
		str_reset(&wire);
		str_add_slice(&wire, slice_decimal((unsigned)answer->code,
		    room));
		str_addc(&wire, rest.p == NULL ? ' ' : '-');
		if (answer->status != NULL) {
			str_adds(&wire, answer->status);
			str_addc(&wire, ' ');
		}
		str_add_slice(&wire, line);
		str_adds(&wire, "\r\n");
		stream_say(session->stream, str_slice(&wire));
		transcript_reply(session, str_slice(&wire));
	}
	str_release(&wire);
}

void
session_write_challenge(struct session *session, struct slice letters)
{
	stream_say(session->stream, SLICE("334 "));
	stream_say(session->stream, letters);
	stream_say(session->stream, SLICE("\r\n"));
	transcript_reply(session, SLICE("334 ***"));
}

enum step
session_say(struct session *session, const struct session_answer *answer,
    enum step next)
{
	struct session_answer enough;

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
	struct session_answer answer;

	session->end_reason = reason;
	answer_set(&answer, 421, status, "%s %s",
	    session->settings->conf->host, text);
	session_write(session, &answer);
	copy_drop(session);
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
