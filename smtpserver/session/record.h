/* record.h - what a session said and what was decided, for zmailer replay
 *
 * With `record for SPAN` a line of JSON for each answered RCPT, and for what
 * was refused before one: all that the decision depended on, so that a line
 * can be decided again by itself.  No byte of a message, no password.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_RECORD_H
#define ZM_SMTPSERVER_SESSION_RECORD_H

#include "smtpserver/session/session.h"

struct decided {
	const char		*stage;	/* "connect" "helo" "mail" "rcpt" */
	const char		*by;	/* who decided: "policy" "login" "owner"
					 * "size" "room" "router"; "filter":
					 * what cannot be decided again */
	const struct path	*sender;	/* of MAIL; or NULL */
	const struct path	*rcpt;		/* or NULL */
	struct slice		 helo;		/* just said; or empty */
	uint64_t		 size_bytes;	/* announced */
	const struct conf_rule	*rule;		/* or NULL */
	bool			 is_set_aside;	/* accepted, to freezer/ */
};

/* Nothing, unless the configuration wants it. */
void record_decided(const struct session *session,
    const struct decided *decided, const struct answer *answer);

#endif
