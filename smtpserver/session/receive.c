/* receive.c - a message begins to come in
 *
 * In     a session with a complete envelope
 * Out    a draft with the envelope in it; room on the disk
 * Spec   RFC 3848 (with), RFC 6531 section 4.3; doc/INTERNALS.md row S0
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>

#include "journal/event.h"
#include "smtpserver/session/receive.h"

#include "base/banned.h"

/* The protocol for Received: RFC 3848, RFC 6531 section 4.3. */
static void
receive_add_with(const struct session *session, struct str *out)
{
	if (session_is_on_stdin(session)) {
		str_adds(out, ENVELOPE_LOCAL);
		return;
	}
	if (!session->is_esmtp) {
		str_adds(out, "SMTP");
		return;
	}
	if (session->transaction->envelope.terms.is_utf8)
		str_adds(out, session_is_lmtp(session) ? "UTF8LMTP" :
		    "UTF8SMTP");
	else
		str_adds(out, session_is_lmtp(session) ? "LMTP" : "ESMTP");
	if (session->tls != NULL)
		str_addc(out, 'S');
	if (session->user.len > 0)
		str_addc(out, 'A');
}

/* router/header/received.c escapes what the client's words have in them. */
static void
receive_add_from(const struct session *session, struct str *out)
{
	str_addf(out, "%s (%s", session->helo.buf, session->client.literal);
	if (session->tls != NULL) {
		str_addc(out, ' ');
		tls_info_add(out, session->tls);
	}
	str_addc(out, ')');
}

enum content_fault
receive_begin(struct session *session, enum content_form form)
{
	struct transaction *t = session->transaction;
	struct str from = STR_INIT, with = STR_INIT;
	enum content_fault fault = CONTENT_GOOD;
	struct err err;

	(void)promise_reserve(&session->service->space, &t->promise);
	receive_add_from(session, &from);
	receive_add_with(session, &with);
	t->envelope.user = slice_copy(t->arena, str_slice(&session->user));
	/* what comes with XFORWARD may be anybody's */
	t->envelope.is_to_sign = session->forward.len == 0 &&
	    (session->trust & 1u << TRUST_SIGN) != 0;
	if (transaction_open(t, session->service->spool, str_slice(&from),
	    str_slice(&with), &err) != 0) {
		fault = errno == ENOSPC || errno == EDQUOT ?
		    CONTENT_NO_SPACE : CONTENT_IO;
		event(EV_SPOOL_TROUBLE, NULL, "call", SLICE("open"), "reason",
		    slice_of(err.text), NULL);
	}
	content_begin(&t->content, form,
	    session->settings->conf->bare_lf_ok);
	str_release(&from);
	str_release(&with);
	return fault;
}
