/* deadline.c - how long a client may be silent (`timeout command`)
 *
 * In     `timeout command`, whose default stands in statements/site.h; the
 *        pressure of too many sessions
 * Out    session->deadline_at_ms
 * Spec   RFC 5321 section 4.5.3.2.7; shed.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "smtpserver/policy/shed.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

void
session_wait_for(struct session *session, int64_t span_ms)
{
	session->deadline_at_ms = clock_steady_ms() + span_ms;
}

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
