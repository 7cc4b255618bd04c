/* ehlo.c - EHLO, and LHLO where LMTP is spoken
 *
 *	ehlo       = "EHLO" SP ( Domain / address-literal ) CRLF
 *	ehlo-ok-rsp= "250-" Domain CRLF *( "250-" ehlo-line CRLF )
 *
 * RFC 5321 section 4.1.1.1, RFC 2033 section 4.1.  What is announced:
 * keywords.c.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"
#include "smtpserver/command/keywords.h"
#include "smtpserver/session/recipient/permit.h"

#include "base/banned.h"

static void
greet_back(struct session *session, struct slice args, enum hello hello,
    answered_fn *fn, struct session_answer *out)
{
	struct str lines = STR_INIT;

	if (!hello_take(session, args, hello, fn, out))
		return;
	keywords_add(session, &lines);
	answer_set(out, 250, NULL, "%s%s", session->settings->conf->host,
	    lines.buf);
	str_release(&lines);
}

static void
ehlo_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	permit_learn(session, ask);
	cmd_ehlo(session, args, out);
}

static void
lhlo_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	permit_learn(session, ask);
	cmd_lhlo(session, args, out);
}

void
cmd_ehlo(struct session *session, struct slice args, struct session_answer *out)
{
	greet_back(session, args, HELLO_EHLO, ehlo_answered, out);
}

void
cmd_lhlo(struct session *session, struct slice args, struct session_answer *out)
{
	greet_back(session, args, HELLO_LHLO, lhlo_answered, out);
}
