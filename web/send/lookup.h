/* lookup.h - was a message taken that nobody saw the end of?
 *
 * The journal is asked (zmailer trace): for its Message-ID, which stands
 * there when the message was routed; and for messages of its sender that were
 * accepted in those moments and are not routed yet, of which it could be one.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_LOOKUP_H
#define ZM_WEB_LOOKUP_H

#include "mail/spool_id.h"
#include "web/ask/ask.h"

enum lookup_answer {
	LOOKUP_TAKEN,
	LOOKUP_NOT_TAKEN,
	LOOKUP_LATER,		/* ask again: it may still be on its way */
	LOOKUP_OPEN		/* the journal cannot say */
};

struct lookup {
	const struct asker *asker;
	int64_t		 at_s;		/* when it was begun */
	struct slice	 message_id;	/* with its brackets */
	struct slice	 from;
	enum lookup_answer answer;
	char		 id[SPOOL_ID_BYTES];	/* LOOKUP_TAKEN */
	/* its own */
	struct question	 question;
	char		*what;
	char		 since[32], until[32];
	ask_fn		*fn;
	void		*context;
};

/* Is it a Message-ID that can be asked for? */
bool lookup_can(struct slice message_id);
/* Ask for one that can; fn is called once, from the loop.  The members above are the caller's,
 * and live until then. */
void lookup_begin(struct lookup *lookup, ask_fn *fn, void *context);

/* What the lines of the first and of the second answer say; for tests. */
void lookup_read_ids(struct lookup *lookup, struct slice lines);
void lookup_read_sender(struct lookup *lookup, struct slice lines);

#endif
