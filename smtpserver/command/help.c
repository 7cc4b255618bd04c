/* help.c - HELP
 *
 *	help = "HELP" [ SP String ] CRLF
 *
 * RFC 5321 section 4.1.1.8.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"

#include "base/banned.h"

void
cmd_help(struct session *session, struct slice args, struct session_answer *out)
{
	const struct command_row *row;
	struct str verbs = STR_INIT;

	for (size_t i = 0; (row = command_at(i)) != NULL; i++)
		if (row->fn != NULL)
			str_addf(&verbs, "%s%s", verbs.len ? " " : "",
			    row->verb);
	answer_set(out, 214, "2.0.0", "%s\nhelp from a person: postmaster",
	    verbs.buf);
	str_release(&verbs);
}
