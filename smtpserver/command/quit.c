/* quit.c - QUIT
 *
 *	quit = "QUIT" CRLF
 *
 * RFC 5321 section 4.1.1.10.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"

#include "base/banned.h"

void
cmd_quit(struct session *session, struct slice args, struct session_answer *out)
{
	if (args.n > 0) {
		answer_set(out, 501, "5.5.4", "QUIT takes no argument");
		return;
	}
	transaction_free(&session->transaction);
	session->end_reason = "quit";
	answer_set(out, 221, "2.0.0", "%s bye",
	    session->settings->conf->host);
}
