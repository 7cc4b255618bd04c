/* macros.h - what a milter is told beside each command
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_MACROS_H
#define ZM_SMTPSERVER_MILTER_MACROS_H

#include "smtpserver/milter/facts.h"
#include "smtpserver/milter/packet.h"

enum macro_stage {		/* numbers of the protocol (SMFIM_...) */
	MACRO_CONNECT, MACRO_HELO, MACRO_MAIL, MACRO_RCPT, MACRO_DATA,
	MACRO_EOB, MACRO_EOH, MACRO_STAGES
};

/* The stage of a command; MACRO_STAGES: it has none. */
enum macro_stage macro_stage_of(enum milter_command command);

/* Append the packet of macros that goes before command, when there is one.
 * wanted  names that this milter asked for at that stage, with blanks
 *         between; empty: those that everybody gets */
void macros_add(struct str *out, enum milter_command command,
    struct slice wanted, const struct filter_facts *facts);

#endif
