/* mail.h - one message on its way through a client
 *
 * client_mail.c runs the transaction, mail_say.c puts commands into words,
 * mail_hear.c understands the replies.  With PIPELINING everything up to
 * DATA is said in one write before the first reply is heard, without it
 * each command is followed by its reply; the functions are the same.
 *
 * Invariant: when a hear_ function returns BROKEN, the connection is closed
 * and every recipient of the transaction has its verdict.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAIL_H
#define ZM_TRANSPORTS_MAIL_H

#include "transports/smtp/client.h"

/* Where a recipient of the job stands. */
enum rcpt_state {
	RCPT_WAITING,		/* for a transaction */
	RCPT_PICKED,		/* in this one */
	RCPT_ACCEPTED,		/* its RCPT got 2yz */
	RCPT_SETTLED		/* has its verdict */
};

enum progress {
	GO_ON,			/* the transaction stands */
	OVER,			/* no transaction now; connection usable */
	BROKEN,			/* connection closed, verdicts are set */
	STALE			/* a kept connection had been closed by the
				 * peer before it heard of this message */
};

struct mail {
	struct client		*client;
	const struct work_job	*job;
	int			 body_fd;
	struct verdict		*verdicts;
	unsigned char		*states;
	size_t			*picked;
	size_t			 picked_count, accepted_count;
	bool			 is_mail_ok, is_utf8;
};

/* ---- mail_say.c: queue one command line -------------------------------- */

void say_reset(struct mail *mail);
void say_mail(struct mail *mail);	/* RFC 5321 section 4.1.1.2 */
void say_rcpt(struct mail *mail, size_t index);	/* section 4.1.1.3 */
void say_data(struct mail *mail);

/* ---- mail_hear.c: send what is queued, take one reply ------------------ */

enum progress hear_reset(struct mail *mail);
/* OVER: refused, all picked recipients have the verdict. */
enum progress hear_mail(struct mail *mail);
/* GO_ON also when this recipient is refused. */
enum progress hear_rcpt(struct mail *mail, size_t index);
/* GO_ON: send the message.  OVER: there is nobody to send it to. */
enum progress hear_data(struct mail *mail);
/* The reply to the final dot: GO_ON, *out is its verdict. */
enum progress hear_end(struct mail *mail, struct verdict *out);

/* ---- mail_hear.c: verdicts --------------------------------------------- */

void mail_settle(struct mail *mail, size_t index,
    const struct verdict *verdict);
/* All of this transaction that have no verdict yet. */
void mail_settle_picked(struct mail *mail, const struct verdict *verdict);
/* All of the job that have no verdict yet. */
void mail_settle_all(struct mail *mail, const struct verdict *verdict);

#endif
