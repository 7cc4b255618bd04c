/* recipient.h - does a recipient of ours exist?  The router's code decides
 *
 * It is asked at RCPT for our domains, unless `verify off` is set or every
 * address of the domain exists; answers are kept for RECIPIENT_*_MS.
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

/* Check a recipient.  returns true: accept it.  false: out has the refusal, or
 * a question was asked (session->ask) whose answer calls fn. */
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

/* Is the router asked about a recipient that came to this listener (or
 * NULL)? */
bool recipient_is_asked(const struct conf *conf,
    const struct conf_listen *listener, const struct path *rcpt);
/* Append the question, which is also the key of the cache:
 * "rcpt bob@example.org". */
void recipient_question_add(struct str *out, const struct conf *conf,
    const struct path *rcpt, const struct recipient_asker *asker);
/* Decide by its answer.  true: accept the recipient.  false: out has the
 * refusal, whose status may be in out_status. */
bool recipient_judge(const struct conf *conf, enum ask_state state,
    struct slice answer, char out_status[RECIPIENT_STATUS_BYTES],
    struct session_answer *out);

#endif
