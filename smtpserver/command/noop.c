/* noop.c - NOOP
 *
 *	noop = "NOOP" [ SP String ] CRLF
 *
 * RFC 5321 section 4.1.1.9.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"

#include "base/banned.h"

void
cmd_noop(struct session *session, struct slice args, struct session_answer *out)
{
	answer_set(out, 250, "2.0.0", "ok");
}
