/* talk.h - the conversation with one milter, as a machine without a socket
 *
 * Bytes of the milter in, bytes for it out; no descriptor, no clock.  It goes
 * from goal to goal as its session goes on: connected, greeted, a sender,
 * recipients, a message.  What comes before a goal and was not sent yet is sent
 * on the way, so that a milter that was away for a while gets all that it
 * needs.
 *
 * 	talk_begin(talk, goal)
 * 	while talk->state:  TALK_SHUT     connect, then talk_opened
 * 	                    TALK_BUSY     send out, talk_hear what comes
 * 	                    TALK_DONE     talk->result
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_TALK_H
#define ZM_SMTPSERVER_MILTER_TALK_H

#include "smtpserver/milter/macros.h"
#include "smtpserver/milter/mail.h"

enum talk_step {		/* in the order of the protocol */
	TALK_CONNECT, TALK_HELO, TALK_MAIL, TALK_RCPT, TALK_DATA,
	TALK_HEADER, TALK_EOH, TALK_BODY, TALK_EOB,
	TALK_UNKNOWN,			/* at any time */
	TALK_STEPS
};

enum talk_state {
	TALK_SHUT,		/* it has no connection and needs one */
	TALK_BUSY,
	TALK_DONE
};

enum filter_word {
	FILTER_PASS,		/* go on */
	FILTER_REFUSE,		/* code, status, text */
	FILTER_DISCARD,		/* 250, and nobody gets it */
	FILTER_TROUBLE		/* the milter did not do its work: err */
};

struct filter_result {
	enum filter_word	word;
	unsigned		code;
	char			status[12];
	struct str		text;		/* of the reply */
	struct str		freeze;		/* why to set it aside; "" */
	bool			is_signed;	/* ... with who says so */
	struct err		err;
};

/* FILTER_PASS, with empty texts. */
void filter_result_init(struct filter_result *result);
/* Free its texts. */
void filter_result_release(struct filter_result *result);
/* FILTER_REFUSE. */
void filter_result_refuse(struct filter_result *result, unsigned code,
    const char *status, const char *text);

enum talk_where {		/* what it has heard and accepted so far */
	TALK_NOWHERE,		/* not connected */
	TALK_ASKED,		/* what it wants was asked */
	TALK_OPEN, TALK_CONNECTED, TALK_GREETED,
	TALK_IN_MAIL, TALK_IN_DATA
};

struct talk {
	const struct filter_facts *facts;
	struct filter_mail	*mail;		/* goal TALK_EOB: changed */
	struct filter_result	*result;
	enum talk_state		 state;
	enum talk_where		 where;
	enum talk_step		 step, goal;
	bool			 is_waiting;	/* for the answer to step */
	bool			 has_more;	/* of this step to say */
	bool			 is_off;	/* has no more to say to this
						 * session */
	bool			 is_off_message;	/* ... message */
	bool			 is_off_rcpt;	/* skipped recipients */
	uint32_t		 protocol;	/* as it wants it */
	struct str		 wanted[MACRO_STAGES];
	struct str		 in, out;
	size_t			 field;		/* cursor of TALK_HEADER */
	struct slice		 body_left;	/* of TALK_BODY */
	struct str		 body;		/* that replaces */
	bool			 has_body;
};

enum { TALK_OUT_BYTES = 65536 };	/* more is said when these are sent */

/* A talk that has not begun; facts are borrowed. */
void talk_init(struct talk *talk, const struct filter_facts *facts);
/* Free what it holds. */
void talk_release(struct talk *talk);

/* Go to the goal.  mail: for TALK_EOB, else NULL.  Fills result, which the
 * caller owns. */
void talk_begin(struct talk *talk, enum talk_step goal,
    struct filter_mail *mail, struct filter_result *result);
/* The connection is open. */
void talk_opened(struct talk *talk);
/* Take bytes from the milter.  If `where` is TALK_NOWHERE afterwards, close the
 * connection. */
void talk_hear(struct talk *talk, struct slice bytes);
/* The bytes of out were sent (and removed from it). */
void talk_sent(struct talk *talk);
/* The milter failed: no connection, or silence. */
void talk_fail(struct talk *talk, const char *why);
/* The milter closed the connection. */
void talk_lose(struct talk *talk);
/* The message is given up: send ABORT, if the milter knows of one. */
void talk_abort(struct talk *talk);

/* Does the milter want this step? */
bool talk_wants(const struct talk *talk, enum talk_step step);

#endif
