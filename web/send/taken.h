/* taken.h - was a message accepted whose dialogue was cut off?
 *
 * The journal is asked (zmailer trace): for its Message-ID, which is there once
 * the message was routed; and for messages of its sender that were accepted at
 * that time and are not routed yet, one of which it could be.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_TAKEN_H
#define ZM_WEB_TAKEN_H

#include "mail/spool_id.h"
#include "web/ask/ask.h"

enum taken_answer {
	TAKEN_YES,
	TAKEN_NO,
	TAKEN_LATER,		/* ask again: it may still be on its way */
	TAKEN_OPEN		/* the journal cannot say */
};

struct taken_question {
	int64_t		 at_s;		/* when the dialogue began */
	struct slice	 message_id;	/* with its brackets */
	struct slice	 from;
	enum taken_answer answer;
	char		 id[SPOOL_ID_BYTES];	/* TAKEN_YES */
	/* its own */
	struct question	 question;
	char		*what;
	char		 since[32], until[32];
	ask_fn		*fn;
	void		*context;
};

/* Can the journal be asked for this Message-ID? */
bool taken_can(struct slice message_id);
/* Ask for one that taken_can allows; fn is called once, from the loop.  The
 * caller fills in the first members, which must stay until then. */
void taken_begin(struct taken_question *taken, ask_fn *fn, void *context);

/* Read the lines of the first answer (by Message-ID), and of the second (by
 * sender); public for tests. */
void taken_read_ids(struct taken_question *taken, struct slice lines);
void taken_read_sender(struct taken_question *taken, struct slice lines);

#endif
