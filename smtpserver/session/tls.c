/* tls.c - the step of a session that becomes encrypted
 *
 * In     the client's part of a handshake; the worker's certificates
 * Out    an encrypted session that knows nothing of what was said before
 * Trusts nothing that came in the clear after STARTTLS: it is dropped, and
 *        the journal has it
 * Spec   RFC 3207 sections 4 and 4.2; RFC 8314 section 3.3
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

void
session_tls_failed(struct session *session, const char *reason)
{
	session->end_reason = "tls";
	note_tls_failed(session, reason);
}

static enum step
session_tls_begin(struct session *session)
{
	struct tls_server *server = keyring_server(session->service->keyring);
	size_t dropped;
	struct err err;

	if (server == NULL)
		err_set(&err, "there is no certificate");
	if (server == NULL || stream_start_tls(session->stream, server,
	    &dropped, &err) < 0) {
		session_tls_failed(session, err.text);
		return STEP_END;
	}
	if (dropped > 0)
		note_tls_injected(session, dropped);
	session_wait_for(session,
	    session->settings->conf->timeouts.handshake_ms);
	return STEP_WAIT;
}

/* What the client said before may have been somebody else's: RFC 3207
 * section 4.2. */
static enum step
session_tls_finish(struct session *session)
{
	session->tls = mem_alloc(1, sizeof(*session->tls));
	stream_tls_info(session->stream, session->tls);
	note_tls_open(session);
	transaction_free(&session->transaction);
	str_reset(&session->helo);
	str_reset(&session->user);
	session->is_esmtp = false;
	session_wait_for(session, session_command_ms(session));
	return session->client.is_tls ? STEP_GREET : STEP_COMMAND;
}

enum step
step_tls(struct session *session)
{
	switch (stream_tls(session->stream)) {
	case STREAM_PLAIN:
		return session_tls_begin(session);
	case STREAM_SHAKING:
		return STEP_WAIT;
	case STREAM_ENCRYPTED:
		return session_tls_finish(session);
	case STREAM_TLS_FAILED:
		break;
	}
	session_tls_failed(session, stream_tls_trouble(session->stream));
	return STEP_END;
}
