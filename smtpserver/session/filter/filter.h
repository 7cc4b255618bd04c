/* filter.h - what filters say about a session as it goes on
 *
 * A session with milters keeps a conversation with them (milter/filter.h):
 * each command that they may judge asks, and goes on with the answer.  A
 * session without has none of this: session->filter is NULL.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_FILTER_H
#define ZM_SMTPSERVER_SESSION_FILTER_H

#include "smtpserver/milter/filter.h"
#include "smtpserver/session/session.h"

struct filter_state {
	char		key[FILTER_KEY_BYTES];	/* "": no conversation */
	unsigned	wants;		/* when there is one */
	bool		is_off;		/* none has anything more to say */
	bool		is_in_mail;	/* they heard of a sender */
	bool		is_lost;	/* since then: the message cannot go */
	bool		is_passed;	/* ... goes without them */
	bool		has_answer;	/* to the command under way */
	enum ask_state	state;
	struct str	answer;
	bool		is_discarded, is_frozen;	/* said at MAIL */
	char		because[SPOOL_REASON_BYTES];	/* it was frozen */
	char		status[12];	/* of the last refusal */
	struct str	said;		/* said.h: by the last answer */
};

struct filter_extra {		/* what a command has beside the session */
	struct slice	text;		/* HELO's name, the line */
	const struct path *path;	/* of MAIL, RCPT */
	struct slice	params;
};

/* Begin a conversation, if there are filters. */
void session_filter_open(struct session *session);
/* It is over, and the next is with another client: tells the filters. */
void session_filter_restart(struct session *session);
/* It is over for good. */
void session_filter_close(struct session *session);

/* May the session go on with this step (CONNECT to DATA, UNKNOWN)?  A
 * message that they want to have discarded or set aside is marked.
 * returns true: yes.  false: out has the refusal; or a question is out
 * (session->ask) whose answer calls fn, which learns it (permit_learn) and
 * tries again. */
bool session_filter_permit(struct session *session, enum talk_step step,
    const struct filter_extra *extra, answered_fn *fn,
    struct session_answer *out);

/* MAIL made a transaction: what they said of it holds for it. */
void session_filter_mark(struct session *session);
/* permit_learn, for an answer of the filters. */
void session_filter_learn(struct session *session, const struct ask *ask);
/* The command is over. */
void session_filter_forget(struct session *session);
/* Who refused just now, as in records/record.h: "milter", or "filter" when it
 * was no word of theirs. */
const char *session_filter_by(const struct session *session);
/* A recipient was refused by us: those who want to know are told. */
void session_filter_tell_refused(struct session *session,
    struct slice args, const struct session_answer *answer);
/* At the end of a turn: tell them of a message that is over. */
void session_filter_settle(struct session *session);

/* Append the facts of a step, with the client's when the
 * conversation begins.  returns false when a question is out that comes
 * first. */
bool filter_facts_add(struct session *session, enum talk_step step,
    const struct filter_extra *extra, answered_fn *fn, struct str *out);

#endif
