/* recipient.h - does a recipient of ours exist?  The router's code says
 *
 * Asked at RCPT for domains of ours, unless `verify off` says otherwise or
 * everybody exists there; answers count for a while (RECIPIENT_*_MS).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_RECIPIENT_H
#define ZM_SMTPSERVER_SESSION_RECIPIENT_H

#include "grammar/smtp/path.h"
#include "smtpserver/session/session.h"

enum {
	RECIPIENT_SERVED_MS = 30000,
	RECIPIENT_REFUSED_MS = 2000	/* the next mail after adduser must
					 * find the account */
};

/* Check one.  returns true: it may be taken.  false: out has the refusal, or
 * a question is out (session->ask) whose answer calls fn. */
bool recipient_check(struct session *session, const struct path *rcpt,
    answered_fn *fn, struct answer *out);

/* The kind of its questions. */
extern const char recipient_kind[];

#endif
