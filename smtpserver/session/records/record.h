/* record.h - what a session said and what was decided, for zmailer replay
 *
 * With `record for SPAN` there is a line of JSON for each answered RCPT, for
 * each refusal before one, and for the end of each message.  It has all that
 * the decision depended on, so that the decision can be repeated from the line
 * alone: about a message its size, what limits count, and what filters and mail
 * authentication said.  It has no password and no byte of a message; with
 * `bodies` the message's file has a name in SPOOL/record.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_RECORD_H
#define ZM_SMTPSERVER_SESSION_RECORD_H

#include "smtpserver/session/session.h"

struct decided {
	const char		*stage;	/* "connect" "helo" "mail" "rcpt"
					 * "data" */
	const char		*by;	/* what decided: "policy" "login"
					 * "owner" "size" "room" "router";
					 * "milter": also a content filter;
					 * "content": the bytes; "next-hop";
					 * "filter": cannot be repeated */
	const struct path	*sender;	/* of MAIL; or NULL */
	const struct path	*rcpt;		/* or NULL */
	struct slice		 rcpt_text;	/* in its place; or empty */
	const struct late_origin *origin;	/* or NULL */
	struct slice		 helo;		/* just said; or empty */
	uint64_t		 size_bytes;	/* announced */
	const struct conf_rule	*rule;		/* or NULL */
	bool			 is_set_aside;	/* accepted, to freezer/ */
	bool			 is_discarded;	/* accepted, nobody gets it */
	struct slice		 said;		/* filter/said.h; or empty */
	const struct content	*content;	/* received; or NULL */
	const char		*id;		/* of the message */
	bool			 is_kept;	/* its bytes are, by that id */
};

/* All bytes of a message have come and are good: keep them, if the record has
 * bodies, before a filter's draft replaces this one. */
void record_body(const struct session *session);
/* A message has ended with this answer, maybe because the bytes of a chunk were
 * refused. */
void record_end(const struct session *session,
    const struct session_answer *answer);
/* A filter refused DATA.  Does nothing while it is still asked. */
void record_refused_data(const struct session *session,
    const struct session_answer *answer);
/* A filter refused what decided has.  Does nothing while it is still asked. */
void record_filtered(const struct session *session, struct decided *decided,
    const struct session_answer *answer);

/* Write a line, if the configuration wants one. */
void record_decided(const struct session *session,
    const struct decided *decided, const struct session_answer *answer);

#endif
