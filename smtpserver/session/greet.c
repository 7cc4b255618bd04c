/* greet.c - the greeting, after `greet-pause`
 *
 * In     a new session
 * Out    220, or 554 for a client that speaks first
 * Trusts nobody: who waits costs a slot, so nothing is late under load
 * Spec   RFC 5321 sections 3.1, 4.3.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

static int64_t
greet_pause_ms(const struct session *session)
{
	const struct settings *settings = session->settings;

	if (settings->conf->greet_pause_ms == 0 ||
	    session->service->pressure > 0 ||
	    session->service->is_submission ||
	    policy_knows(settings->policy, &session->client.net))
		return 0;
	return settings->conf->greet_pause_ms;
}

static enum step
greet_refuse_early(struct session *session)
{
	struct session_answer answer;

	note_early(session);
	session->end_reason = "spoke first";
	answer_set(&answer, 554, "5.5.1",
	    "%s speaks first (ref %s)", session->settings->conf->host,
	    session->id);
	session_write(session, &answer);
	return STEP_LAST;
}

enum step
session_greet(struct session *session)
{
	struct session_answer answer;

	answer_set(&answer, 220, NULL, "%s %s zmailer",
	    session->settings->conf->host,
	    session_is_lmtp(session) ? "LMTP" : "ESMTP");
	session_write(session, &answer);
	session_wait_for(session, session_command_ms(session));
	return STEP_COMMAND;
}

enum step
step_greet(struct session *session)
{
	session_wait_for(session, session_command_ms(session));
	if (session->service->is_stopping)
		return session_say_end(session, "4.3.2", "stopping",
		    "is stopping");
	if (session->greet_at_ms == 0)
		session->greet_at_ms = clock_steady_ms() +
		    greet_pause_ms(session);
	else if (stream_input(session->stream).n > 0)
		return greet_refuse_early(session);
	if (session->is_eof)
		return STEP_LAST;
	if (clock_steady_ms() >= session->greet_at_ms) {
		enum step next = session_filter_knock(session);

		return next == STEP_GREET ? session_greet(session) : next;
	}
	session->deadline_at_ms = session->greet_at_ms;
	return STEP_WAIT;
}
