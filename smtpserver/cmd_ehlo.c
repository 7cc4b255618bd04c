/* cmd_ehlo.c - EHLO
 *
 *	ehlo       = "EHLO" SP ( Domain / address-literal ) CRLF
 *	ehlo-ok-rsp= "250-" Domain CRLF *( "250-" ehlo-line CRLF )
 *
 * RFC 5321 section 4.1.1.1.  Announced: PIPELINING (RFC 2920), SIZE (1870),
 * 8BITMIME (6152), ENHANCEDSTATUSCODES (2034), DSN (3461), HELP.
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "smtpserver/commands.h"

#include "base/banned.h"

void
cmd_ehlo(struct session *session, struct slice args, struct answer *out)
{
	const struct conf *conf = session->settings->conf;

	if (hello_take(session, args, true, out))
		answer_set(out, 250, NULL, "%s\nPIPELINING\nSIZE %" PRIu64
		    "\n8BITMIME\nENHANCEDSTATUSCODES\nDSN\nHELP",
		    conf->host, conf->limits.size_bytes);
}
