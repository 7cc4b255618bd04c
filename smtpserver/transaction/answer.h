/* answer.h - the answer to a command; only reply.c writes it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_TRANSACTION_ANSWER_H
#define ZM_SMTPSERVER_TRANSACTION_ANSWER_H

#include "smtpserver/transaction/content.h"

struct conf_rule;

enum { ANSWER_TEXT_BYTES = 4096 };

struct session_answer {
	int		code;		/* RFC 5321 section 4.2 */
	const char	*status;	/* RFC 3463, static; NULL: has none */
	char		text[ANSWER_TEXT_BYTES];	/* lines, LF between */
	const struct conf_rule *rule;	/* that decided; NULL: none did */
	bool		is_set_aside;	/* accepted by it, to freezer/ */
};

/* Fill in an answer.  Text that does not fit is cut. */
void answer_set(struct session_answer *answer, int code, const char *status,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The usual reply when a helper had trouble: 451 4.3.0 and words that reveal
 * nothing. */
void answer_trouble(struct session_answer *out);

/* The answer to the end of data when there was this fault (not
 * CONTENT_GOOD). */
void answer_fault(struct session_answer *answer, enum content_fault fault);

#endif
