/* tarpit.c - refusals that are held back (`tarpit`, `delay` of a rule)
 *
 * In     an answer that was said
 * Out    step_hold for a while, then what would have followed
 * Holds  nothing: a reply that waits is in the stream already
 * Trusts nobody: who waits costs a slot, so nothing is late under load
 * Spec   shed.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

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
session_hold(struct session *session, const struct session_answer *answer,
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
