/* again_internal.h - one row on its way: again.c, again_end.c
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_REHEARSE_AGAIN_INTERNAL_H
#define ZM_SMTPSERVER_REHEARSE_AGAIN_INTERNAL_H

#include "smtpserver/rehearse/again.h"
#include "smtpserver/session/client.h"
#include "smtpserver/transaction/answer.h"

enum { INSTANCE_BYTES = 64 };

struct replayed {
	struct again		*again;
	const struct again_row	*row;
	struct rehearsal_outcome *out;
	const struct conf	*conf;
	const struct conf_listen *listener;
	struct client		 client;
	struct facts		 facts[FACT_SCOPES];
	struct policy_question	 question;
	struct policy_verdict	 verdict;	/* of RCPT, taken so far */
	const char		*by;
	char			 instance[INSTANCE_BYTES];
};

/* A text of the row, in place. */
struct slice again_slice(const struct again_row *row, enum again_text which);

/* This is the answer, in place of what was concluded before. */
void again_conclude(struct replayed *replayed, const char *by,
    enum rehearsal_result result, const struct session_answer *answer);

/* What filters said then, of those that there are now; is_end: of the whole
 * message, so that one that was not asked is a need.
 * returns true: they let it pass. */
bool again_filters(struct replayed *replayed, bool is_end);

/* The end of a message, whose recipient is taken.  0; -1 with err: the row has
 * results that are none. */
int again_end(struct replayed *replayed, struct err *err);

#endif
