/* filter.h - what filters say about a session while it runs
 *
 * A session with milters has a conversation with them (milter/filter.h): each
 * command that they may judge asks them, and continues with the answer.  In a
 * session without milters session->filter is NULL.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_FILTER_H
#define ZM_SMTPSERVER_SESSION_FILTER_H

#include "smtpserver/milter/filter.h"
#include "smtpserver/session/session.h"

struct filter_state {
	char		key[FILTER_KEY_BYTES];	/* "": no conversation */
	unsigned	wants;		/* of the conversation */
	bool		is_off;		/* none of them wants to hear more */
	bool		is_in_mail;	/* they were told of a sender */
	bool		is_lost;	/* since then: the message is refused */
	bool		is_passed;	/* since then: it goes without them */
	bool		has_answer;	/* to the command under way */
	enum ask_state	state;
	struct str	answer;
	bool		is_discarded, is_frozen;	/* said at MAIL */
	char		because[SPOOL_REASON_BYTES];	/* it was frozen */
	char		status[12];	/* of the last refusal */
	struct str	said;		/* said.h: by the last answer */
};

struct filter_extra {		/* what a command adds to the session */
	struct slice	text;		/* HELO's name, the line */
	const struct path *path;	/* of MAIL, RCPT */
	struct slice	params;
};

/* Begin a conversation, if there are filters. */
void session_filter_open(struct session *session);
/* End it and tell the filters, because the next one is with another client. */
void session_filter_restart(struct session *session);
/* End it for good. */
void session_filter_close(struct session *session);

/* May the session continue with this step (CONNECT to DATA, UNKNOWN)?  A
 * message that they want to discard or set aside is marked.
 * returns true: yes.  false: out has the refusal; or a question was asked
 * (session->ask) whose answer calls fn, which learns it (permit_learn) and
 * tries again. */
bool session_filter_permit(struct session *session, enum talk_step step,
    const struct filter_extra *extra, answered_fn *fn,
    struct session_answer *out);

/* MAIL made a transaction: mark it as they said at MAIL. */
void session_filter_mark(struct session *session);
/* permit_learn, for an answer of the filters. */
void session_filter_learn(struct session *session, const struct ask *ask);
/* The command has ended: forget their answer. */
void session_filter_forget(struct session *session);
/* Who refused just now, as in records/record.h: "milter", or "filter" if they
 * did not say so themselves. */
const char *session_filter_by(const struct session *session);
/* We refused a recipient: tell the filters that want to know. */
void session_filter_tell_refused(struct session *session,
    struct slice args, const struct session_answer *answer);
/* At the end of a turn: tell them of a message that has ended. */
void session_filter_settle(struct session *session);

/* Append the facts of a step, with the client's when the conversation begins.
 * returns false when another question must be answered first. */
bool filter_facts_add(struct session *session, enum talk_step step,
    const struct filter_extra *extra, answered_fn *fn, struct str *out);

#endif
