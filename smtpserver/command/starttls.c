/* starttls.c - STARTTLS
 *
 *	starttls = "STARTTLS" CRLF
 *
 * RFC 3207 section 4.  After EHLO and outside of a transaction.  The
 * handshake is step_tls's.  STARTTLS that we say to other servers is in
 * transports/smtp.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"
#include "smtpserver/command/keywords.h"

#include "base/banned.h"

static void
starttls_go_ahead(const struct session *session, struct session_answer *out)
{
	enum phase phase = session_phase(session);

	if (phase == PHASE_READY)
		answer_set(out, 220, "2.0.0", "go ahead");
	else if (phase == PHASE_START)
		answer_set(out, 503, "5.5.1", "say EHLO first");
	else
		answer_set(out, 503, "5.5.1", "a message is under way");
}

void
cmd_starttls(struct session *session, struct slice args,
    struct session_answer *out)
{
	const struct conf *conf = session->settings->conf;

	if (args.n > 0)
		answer_set(out, 501, "5.5.4", "STARTTLS takes no argument");
	else if (session->tls != NULL)
		answer_set(out, 503, "5.5.1", "TLS is in use already");
	else if (keyword_is_on(session, EHLO_STARTTLS))
		starttls_go_ahead(session, out);
	else if (conf_has_certificate(conf))
		answer_set(out, 454, "4.7.0",
		    "TLS is not available now, try later");
	else
		answer_set(out, 502, "5.5.1", "STARTTLS is not implemented");
}
