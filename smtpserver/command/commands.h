/* commands.h - the verbs of the server, one row each
 *
 * A verb is a row in commands.c and a file cmd_<verb>.c with its ABNF.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_COMMAND_COMMANDS_H
#define ZM_SMTPSERVER_COMMAND_COMMANDS_H

#include "smtpserver/session/session.h"

/* args: after the verb and its blank.  Fills the answer, always; code 0
 * when row->next will say it. */
typedef void command_fn(struct session *session, struct slice args,
    struct session_answer *out);

struct command_row {
	const char	*verb;
	const char	*rfc;		/* where it is defined */
	unsigned	 phases;	/* enum phase bits; else 503 */
	command_fn	*fn;		/* NULL: known, not offered: 502 */
	enum step	 next;		/* after an answer below 400 */
};

/* NULL: no such verb. */
const struct command_row *command_find(struct slice verb);
/* The row with this number, from 0; NULL after the last. */
const struct command_row *command_at(size_t number);

command_fn cmd_helo, cmd_ehlo, cmd_mail, cmd_rcpt, cmd_data, cmd_bdat,
    cmd_rset, cmd_noop, cmd_vrfy, cmd_help, cmd_quit,
    cmd_xclient, cmd_xforward, cmd_auth, cmd_starttls, cmd_lhlo,
    cmd_expn, cmd_etrn;

enum hello { HELLO_HELO, HELLO_EHLO, HELLO_LHLO };

/* HELO, EHLO and LHLO: check and keep the name.  fn: goes on with the answer
 * when filters are asked.  false: out has the refusal, or they are. */
bool hello_take(struct session *session, struct slice args, enum hello hello,
    answered_fn *fn, struct session_answer *out);

#endif
