/* transcript.h - the dialogue in the journal, where log-level says debug
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_TRANSCRIPT_H
#define ZM_SMTPSERVER_SESSION_TRANSCRIPT_H

#include "smtpserver/session/session.h"

enum { SAID_LINES_MAX = 500, SAID_LINE_BYTES_MAX = 512 };

/* Decide for the client that the session has now. */
void transcript_begin(struct session *session);

/* A command line, without its end; what may be a secret is left out.
 * verb: of the command that it is; empty: none that we know. */
void transcript_command(struct session *session, struct slice line,
    struct slice verb);
/* A line of a login. */
void transcript_secret(struct session *session);
/* A line of ours, with or without its end. */
void transcript_reply(struct session *session, struct slice line);

#endif
