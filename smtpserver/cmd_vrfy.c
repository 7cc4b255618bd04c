/* cmd_vrfy.c - VRFY
 *
 *	vrfy = "VRFY" SP String CRLF
 *
 * RFC 5321 sections 4.1.1.6 and 7.3: 252, whoever is asked for.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/commands.h"

#include "base/banned.h"

void
cmd_vrfy(struct session *session, struct slice args, struct answer *out)
{
	if (args.n == 0)
		answer_set(out, 501, "5.5.4", "VRFY needs an address");
	else
		answer_set(out, 252, "2.5.0",
		    "send the message and we shall see");
}
