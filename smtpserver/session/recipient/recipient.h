/* recipient.h - does a recipient of ours exist?  The router's code decides
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
    answered_fn *fn, struct session_answer *out);

/* The kind of its questions. */
extern const char recipient_kind[];

/* ---- its parts, which know no session ------------------------------------ */

enum { RECIPIENT_STATUS_BYTES = 12 };

struct recipient_asker {	/* what a script may know */
	const struct path	*sender;
	struct slice		 client;	/* "[192.0.2.1]:4711" */
	struct slice		 user;
};

/* Is the router asked for a recipient that came to this listener (or
 * NULL)? */
bool recipient_is_asked(const struct conf *conf,
    const struct conf_listen *listener, const struct path *rcpt);
/* Append what is asked, which is the key of the cache, too:
 * "rcpt bob@example.org". */
void recipient_question_add(struct str *out, const struct conf *conf,
    const struct path *rcpt, const struct recipient_asker *asker);
/* What its answer means.  true: take it.  false: out has the refusal, whose
 * status may lie in out_status. */
bool recipient_judge(const struct conf *conf, enum ask_state state,
    struct slice answer, char out_status[RECIPIENT_STATUS_BYTES],
    struct session_answer *out);

#endif
