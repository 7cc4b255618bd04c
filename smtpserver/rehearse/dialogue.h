/* dialogue.h - a rehearsed SMTP session on standard input
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_REHEARSE_DIALOGUE_H
#define ZM_SMTPSERVER_REHEARSE_DIALOGUE_H

#include "smtpserver/rehearse/rehearsal.h"

/* Speak SMTP with whoever types, as with a client at ip: HELO and MAIL are
 * remembered, each RCPT is a rehearsal (its rules are traced), DATA is read
 * and thrown away.  0 at QUIT or the end of input; -1: ip is none (err). */
int dialogue_run(const struct rehearsal *rehearsal, const char *ip,
    struct err *err);

#endif
