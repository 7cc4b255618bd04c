/* cmd_ehlo.c - EHLO
 *
 *	ehlo       = "EHLO" SP ( Domain / address-literal ) CRLF
 *	ehlo-ok-rsp= "250-" Domain CRLF *( "250-" ehlo-line CRLF )
 *
 * RFC 5321 section 4.1.1.1.  What is announced: keywords.c.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/commands.h"
#include "smtpserver/keywords.h"

#include "base/banned.h"

void
cmd_ehlo(struct session *session, struct slice args, struct answer *out)
{
	struct str lines = STR_INIT;

	if (!hello_take(session, args, true, out))
		return;
	keywords_add(session, &lines);
	answer_set(out, 250, NULL, "%s%s", session->settings->conf->host,
	    lines.buf);
	str_release(&lines);
}
