/* hungry.h - ZMailer's content filter protocol
 *
 * 	program		"#hungry" LF when it can take one more
 * 	to it		the path of a message file, LF
 * 	from it		NUMBER [CODE] [STATUS] TEXT LF
 *
 * NUMBER below 0 refuses the message, 0 lets it pass, above 0 sets it aside in
 * freezer/ under that number.  Other lines that begin with # are ignored.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_HUNGRY_H
#define ZM_SMTPSERVER_MILTER_HUNGRY_H

#include "daemon/skeleton.h"

/* Row "content" of helper_kinds.  The question is "ID FILE", FILE a draft
 * below public/; the answer a WORD of filter.h. */
void hungry_serve(struct process *process, int socket);

/* Append what a line of the program says, as a WORD of filter.h, to out.  0;
 * -1: it is no such line. */
int hungry_verdict(struct slice line, struct str *out);

#endif
