/* rset.c - RSET
 *
 *	rset = "RSET" CRLF
 *
 * RFC 5321 section 4.1.1.5.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"

#include "base/banned.h"

void
cmd_rset(struct session *session, struct slice args, struct session_answer *out)
{
	if (args.n > 0) {
		answer_set(out, 501, "5.5.4", "RSET takes no argument");
		return;
	}
	transaction_free(&session->transaction);
	answer_set(out, 250, "2.0.0", "forgotten");
}
