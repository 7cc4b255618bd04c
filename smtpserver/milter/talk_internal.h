/* talk_internal.h - a conversation with one milter, for talk*.c only
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_TALK_INTERNAL_H
#define ZM_SMTPSERVER_MILTER_TALK_INTERNAL_H

#include "smtpserver/milter/talk.h"

/* Put the packets of a step into out; may set has_more. */
typedef void talk_say_fn(struct talk *talk);

struct talk_row {
	const char		*name;
	uint32_t		 no;	/* bit: it does not want the step */
	uint32_t		 nr;	/* bit: no answer comes */
	talk_say_fn		*say;
	enum talk_where		 where;	/* after it */
};

extern const struct talk_row talk_rows[TALK_STEPS];

/* Take one packet after the end of the message.  true: it was a
 * change (or talk_broken was called). */
bool talk_take_change(struct talk *talk, const struct packet *packet);

/* The milter violates the protocol; what says how. */
void talk_broken(struct talk *talk, const char *what,
    const struct err *err);

#endif
