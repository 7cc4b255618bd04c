/* transcript.h - the dialogue in the journal, if log-level says debug
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_TRANSCRIPT_H
#define ZM_SMTPSERVER_SESSION_TRANSCRIPT_H

#include "smtpserver/session/session.h"

enum { SAID_LINES_MAX = 500, SAID_LINE_BYTES_MAX = 512 };

/* Decide for the client that the session has now. */
void transcript_begin(struct session *session);

/* Note a command line, without its end; what may be a secret is left out.
 * verb: of the command; empty: it is unknown. */
void transcript_command(struct session *session, struct slice line,
    struct slice verb);
/* Note that a line of a login came. */
void transcript_secret(struct session *session);
/* Note a line of ours, with or without its end. */
void transcript_reply(struct session *session, struct slice line);

#endif
