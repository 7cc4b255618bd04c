/* greet.c - the greeting and what is said late on purpose
 *
 * In     a new session; a refusal
 * Out    220, or 554 for who speaks first; a reply that waits
 * Holds  nothing: a reply that waits is in the stream already
 * Trusts nobody: who waits costs a slot, so nothing is late under load
 * Spec   RFC 5321 sections 3.1, 4.3.1; shed.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "smtpserver/session/notes.h"
#include "smtpserver/session/internal.h"
#include "smtpserver/listener/shed.h"

#include "base/banned.h"

int64_t
session_command_ms(const struct session *session)
{
	int64_t span_ms = session->settings->conf->timeouts.command_ms;

	return session->service->pressure > 0 && span_ms > SHED_SILENCE_MS ?
	    SHED_SILENCE_MS : span_ms;
}

void
session_hurry(struct session *session)
{
	int64_t at_ms = clock_steady_ms() + SHED_SILENCE_MS;

	if (session->step == STEP_COMMAND && session->deadline_at_ms > at_ms)
		session->deadline_at_ms = at_ms;
}

/* ---- the greeting ----------------------------------------------------- */

static int64_t
pause_of(const struct session *session)
{
	const struct settings *settings = session->settings;

	if (settings->conf->greet_pause_ms == 0 ||
	    session->service->pressure > 0 ||
	    policy_knows(settings->policy, &session->client.net))
		return 0;
	return settings->conf->greet_pause_ms;
}

static enum step
refuse_early(struct session *session)
{
	struct answer answer;

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
	struct answer answer;

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
		session->greet_at_ms = clock_steady_ms() + pause_of(session);
	else if (stream_input(session->stream).n > 0)
		return refuse_early(session);
	if (session->is_eof)
		return STEP_LAST;
	if (clock_steady_ms() >= session->greet_at_ms) {
		enum step next = session_filter_knock(session);

		return next == STEP_GREET ? session_greet(session) : next;
	}
	session->deadline_at_ms = session->greet_at_ms;
	return STEP_WAIT;
}

/* ---- the tarpit ------------------------------------------------------- */

/* For the nth refusal of a session: first, twice that, four times ... */
static int64_t
tarpit_ms(const struct conf *conf, unsigned refusals)
{
	int64_t delay_ms = conf->tarpit_first_ms;

	for (unsigned i = 1; i < refusals && delay_ms < conf->tarpit_max_ms;
	    i++)
		delay_ms *= 2;
	return delay_ms < conf->tarpit_max_ms ? delay_ms :
	    conf->tarpit_max_ms;
}

enum step
session_hold(struct session *session, const struct answer *answer,
    enum step next)
{
	const struct conf *conf = session->settings->conf;
	int64_t delay_ms = 0;

	if (answer->code < 400)
		return next;
	session->refusals++;
	if (session->service->pressure > 0)
		return next;
	if (conf->tarpit_first_ms > 0)
		delay_ms = tarpit_ms(conf, session->refusals);
	if (answer->rule != NULL && answer->rule->delay_ms > delay_ms)
		delay_ms = answer->rule->delay_ms;
	if (delay_ms == 0)
		return next;
	session->hold_until_ms = clock_steady_ms() + delay_ms;
	session->hold_next = next;
	return STEP_HOLD;
}

enum step
step_hold(struct session *session)
{
	if (clock_steady_ms() < session->hold_until_ms) {
		session->deadline_at_ms = session->hold_until_ms;
		return STEP_WAIT;
	}
	session_wait_for(session, session_command_ms(session));
	return session->hold_next;
}
