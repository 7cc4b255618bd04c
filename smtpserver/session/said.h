/* said.h - the dialogue in the journal, where log-level says debug
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_SAID_H
#define ZM_SMTPSERVER_SESSION_SAID_H

#include "smtpserver/session/session.h"

enum { SAID_LINES_MAX = 500, SAID_LINE_BYTES_MAX = 512 };

/* Decide for the client that the session has now. */
void said_begin(struct session *session);

/* A command line, without its end; what may be a secret is left out. */
void said_command(struct session *session, struct slice line);
/* A line of a login. */
void said_secret(struct session *session);
/* A line of ours, with or without its end. */
void said_reply(struct session *session, struct slice line);

#endif
