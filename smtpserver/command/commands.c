/* commands.c - the verbs of the server
 *
 * In     a verb as the client wrote it
 * Out    its row
 * Spec   RFC 5321 section 4.1.1; the RFC of each extension
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"

#include "base/banned.h"

enum {
	HELLOED = PHASE_READY | PHASE_MAIL | PHASE_RCPT,
	SENDING = PHASE_MAIL | PHASE_RCPT
};

static const struct command_row rows[] = {
	{ "HELO", "5321/4.1.1.1", PHASE_ANY, cmd_helo, STEP_COMMAND },
	{ "EHLO", "5321/4.1.1.1", PHASE_ANY, cmd_ehlo, STEP_COMMAND },
	{ "LHLO", "2033/4.1", PHASE_ANY, cmd_lhlo, STEP_COMMAND },
	{ "MAIL", "5321/4.1.1.2", PHASE_READY, cmd_mail, STEP_COMMAND },
	{ "RCPT", "5321/4.1.1.3", SENDING, cmd_rcpt, STEP_COMMAND },
	{ "DATA", "5321/4.1.1.4", SENDING, cmd_data, STEP_DATA },
	{ "BDAT", "3030/2", PHASE_ANY, cmd_bdat, STEP_CHUNK },
	{ "RSET", "5321/4.1.1.5", PHASE_ANY, cmd_rset, STEP_COMMAND },
	{ "NOOP", "5321/4.1.1.9", PHASE_ANY, cmd_noop, STEP_COMMAND },
	{ "VRFY", "5321/4.1.1.6", PHASE_ANY, cmd_vrfy, STEP_COMMAND },
	{ "HELP", "5321/4.1.1.8", PHASE_ANY, cmd_help, STEP_COMMAND },
	{ "QUIT", "5321/4.1.1.10", PHASE_ANY, cmd_quit, STEP_LAST },
	{ "EXPN", "5321/4.1.1.7", PHASE_ANY, cmd_expn, STEP_COMMAND },
	{ "STARTTLS", "3207/4", PHASE_ANY, cmd_starttls, STEP_TLS },
	{ "AUTH", "4954/4", PHASE_ANY, cmd_auth, STEP_AUTH },
	{ "ETRN", "1985/5", PHASE_READY, cmd_etrn, STEP_COMMAND },
	{ "XCLIENT", "", PHASE_START | PHASE_READY, cmd_xclient,
	    STEP_COMMAND },
	{ "XFORWARD", "", PHASE_READY, cmd_xforward, STEP_COMMAND },
	{ "SEND", "821/3.4", PHASE_ANY, NULL, STEP_COMMAND },
	{ "SOML", "821/3.4", PHASE_ANY, NULL, STEP_COMMAND },
	{ "SAML", "821/3.4", PHASE_ANY, NULL, STEP_COMMAND },
	{ "TURN", "821/3.8", PHASE_ANY, NULL, STEP_COMMAND },
};

const struct command_row *
command_at(size_t number)
{
	return number < sizeof(rows) / sizeof(rows[0]) ? &rows[number] : NULL;
}

const struct command_row *
command_find(struct slice verb)
{
	const struct command_row *row;

	for (size_t i = 0; (row = command_at(i)) != NULL; i++)
		if (slice_is_nocase(verb, row->verb))
			return row;
	return NULL;
}
