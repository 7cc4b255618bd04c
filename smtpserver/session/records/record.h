/* record.h - what a session said and what was decided, for zmailer replay
 *
 * With `record for SPAN` a line of JSON for each answered RCPT, for what was
 * refused before one, and for the end of each message: all that the decision
 * depended on, so that a line can be decided again by itself.  Of a message
 * its size, what its limits count and what filters and the judging of its
 * origin said; no password, and no byte of it: with `bodies` its file has a
 * name in SPOOL/record.
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
					 * "size" "room" "router"; "milter":
					 * it or a content filter; "content":
					 * its bytes; "next-hop"; "filter":
					 * what cannot be decided again */
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
	const struct content	*content;	/* it came; or NULL */
	const char		*id;		/* of the message */
	bool			 is_kept;	/* its bytes, under that */
};

/* All bytes of a message are there and good: keep them, when the record has
 * bodies, before anybody puts another draft in the place of this one. */
void record_body(const struct session *session);
/* The end of a message: what it was answered with.  Also of one that the bytes
 * of a chunk refuse. */
void record_end(const struct session *session,
    const struct session_answer *answer);
/* DATA was refused by a filter, unless a question is out. */
void record_refused_data(const struct session *session,
    const struct session_answer *answer);
/* A filter refused what decided has; nothing when a question is out. */
void record_filtered(const struct session *session, struct decided *decided,
    const struct session_answer *answer);

/* Nothing, unless the configuration wants it. */
void record_decided(const struct session *session,
    const struct decided *decided, const struct session_answer *answer);

#endif
