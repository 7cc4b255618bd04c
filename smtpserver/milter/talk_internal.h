/* talk_internal.h - a conversation with one milter, for talk*.c only
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_MILTER_TALK_INTERNAL_H
#define ZM_SMTPSERVER_MILTER_TALK_INTERNAL_H

#include "io/peer.h"
#include "smtpserver/milter/packet.h"
#include "smtpserver/milter/talk.h"

struct talk {
	const struct conf_milter	*milter;
	const struct filter_facts	*facts;
	struct filter_mail		*mail;
	struct filter_result		*result;
	struct peer			 peer;
	int64_t				 deadline_ms;
	uint32_t			 protocol;	/* as it wants it */
	struct str			 body;		/* that replaces */
	bool				 has_body;
	bool				 is_over;	/* it has decided */
};

/* ---- talk.c ---------------------------------------------------------- */

/* It did not do its work: "what: err".  returns false. */
bool talk_trouble(struct talk *talk, const char *what,
    const struct err *err);
/* Send what is collected.  step is for messages.  false: trouble. */
bool talk_send(struct talk *talk, const char *step);
/* One packet, good until the next read.  false: trouble. */
bool talk_receive(struct talk *talk, const char *step, struct packet *out);
/* Send, and take the answer of this step.  false: it has decided. */
bool talk_answer(struct talk *talk, const char *step, struct packet *out);
/* The same, unless bit nr says that no answer comes. */
bool talk_step(struct talk *talk, uint32_t nr, const char *step);

/* ---- talk_steps.c: each in its turn; false: it has decided ------------- */

bool talk_negotiate(struct talk *talk);
bool talk_connect(struct talk *talk);
bool talk_helo(struct talk *talk);
bool talk_mail(struct talk *talk);
bool talk_rcpts(struct talk *talk);
bool talk_data(struct talk *talk);
bool talk_header(struct talk *talk);
bool talk_body(struct talk *talk);
/* Begin a packet of macros for a command; add one unless it is empty. */
size_t talk_macros(struct talk *talk, enum milter_command command);
void talk_macro(struct str *out, const char *name, struct slice value);

#endif
