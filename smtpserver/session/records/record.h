/* record.h - what a session said and what was decided, for zmailer replay
 *
 * With `record for SPAN` a line of JSON for each answered RCPT, for what was
 * refused before one, and for each message of which it was judged whose it is
 * (or which rules about that waited for): all that the decision depended on,
 * so that a line can be decided again by itself.  No byte of a message, no
 * password.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_RECORD_H
#define ZM_SMTPSERVER_SESSION_RECORD_H

#include "smtpserver/session/session.h"

struct decided {
	const char		*stage;	/* "connect" "helo" "mail" "rcpt"
					 * "data" */
	const char		*by;	/* who decided: "policy" "login" "owner"
					 * "size" "room" "router"; "filter":
					 * what cannot be decided again */
	const struct path	*sender;	/* of MAIL; or NULL */
	const struct path	*rcpt;		/* or NULL */
	struct slice		 rcpt_text;	/* in its place; or empty */
	const struct late_origin *origin;	/* or NULL */
	struct slice		 helo;		/* just said; or empty */
	uint64_t		 size_bytes;	/* announced */
	const struct conf_rule	*rule;		/* or NULL */
	bool			 is_set_aside;	/* accepted, to freezer/ */
};

/* The end of a message: whose it was judged to be (NULL: nobody could), after
 * the rules that waited for that were tried. */
void record_judged(const struct session *session,
    const struct late_origin *origin);

/* Nothing, unless the configuration wants it. */
void record_decided(const struct session *session,
    const struct decided *decided, const struct session_answer *answer);

#endif
