/* mail.h - one message on its way through a client
 *
 * mail.c runs the transaction, mail_commands.c writes the commands,
 * mail_replies.c reads the replies.  With PIPELINING everything up to DATA is
 * sent in one write before the first reply is read, without it the reply to
 * each command is read first; the functions are the same.
 *
 * Invariant: when a mail_hear_ function returns BROKEN, the connection is
 * closed and every recipient of the transaction has its verdict.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAIL_H
#define ZM_TRANSPORTS_MAIL_H

#include "grammar/message/mime_down.h"
#include "transports/smtp/client.h"

/* Where a recipient of the job stands. */
enum rcpt_state {
	RCPT_WAITING,		/* for a transaction */
	RCPT_PICKED,		/* in this one */
	RCPT_ACCEPTED,		/* its RCPT got 2yz */
	RCPT_SETTLED		/* has its verdict */
};

enum mail_progress {
	GO_ON,			/* the transaction stands */
	OVER,			/* no transaction now; connection usable */
	BROKEN,			/* connection closed, verdicts are set */
	STALE			/* a kept connection had been closed by the
				 * peer before it heard of this message */
};

struct mail {
	struct smtp_client		*client;
	const struct control_job	*job;
	int			 body_fd;
	struct verdict		*verdicts;
	unsigned char		*states;
	size_t			*picked;
	size_t			 picked_count, accepted_count;
	bool			 is_mail_ok, is_utf8;
	bool			 is_closing;	/* 421 instead of a verdict */
	/* how the content goes over this connection: mail_form.c */
	const char		*body;		/* BODY=; NULL: not said */
	bool			 is_binary;	/* lines mean nothing */
	bool			 is_chunked;	/* BDAT instead of DATA */
	bool			 is_in_one;	/* in the write of MAIL */
	struct mime_down	*down;		/* to be converted by it */
};

/* ---- mail_form.c: may it go there, and in which form ------------------ */

enum {
	FORM_SMALL_BYTES = 48 * 1024,	/* one write: envelope and message */
	FORM_CHUNK_BYTES = 1024 * 1024
};

/* Compare message and peer, and give verdicts to recipients that cannot be
 * served. */
void mail_form_choose(struct mail *mail);
void mail_form_release(struct mail *mail);
/* May all of it be sent together with MAIL? */
bool mail_form_is_small(const struct mail *mail);

/* ---- mail_content.c: the content -------------------------------------- */

/* Send the content, after the 354 or as chunks.  GO_ON: the last reply is still
 * to be read; OVER: a chunk was refused; BROKEN. */
enum mail_progress mail_content(struct mail *mail);
/* Queue it as one chunk after the envelope.  GO_ON or BROKEN. */
enum mail_progress mail_content_in_one(struct mail *mail);

/* ---- mail_commands.c: queue one command line -------------------------- */

/* RSET, which the last message left open. */
void mail_say_reset(struct mail *mail);
void mail_say_mail(struct mail *mail);	/* RFC 5321 section 4.1.1.2 */
void mail_say_rcpt(struct mail *mail, size_t index);	/* section 4.1.1.3 */
void mail_say_data(struct mail *mail);	/* section 4.1.1.4 */

/* ---- mail_replies.c: send what is queued, take one reply -------------- */

/* The reply to RSET: GO_ON, STALE or BROKEN. */
enum mail_progress mail_hear_reset(struct mail *mail);
/* OVER: refused, all picked recipients have the verdict. */
enum mail_progress mail_hear_mail(struct mail *mail);
/* GO_ON also when this recipient is refused. */
enum mail_progress mail_hear_rcpt(struct mail *mail, size_t index);
/* GO_ON: send the message.  OVER: no recipient was accepted. */
enum mail_progress mail_hear_data(struct mail *mail);
/* The reply to BDAT LAST when no recipient was accepted.  OVER or BROKEN. */
enum mail_progress mail_hear_nobody(struct mail *mail);
/* The reply to a chunk before the last one: GO_ON; OVER: refused. */
enum mail_progress mail_hear_chunk(struct mail *mail);
/* The reply to the final dot: GO_ON, *out is its verdict. */
enum mail_progress mail_hear_end(struct mail *mail, struct verdict *out);

/* ---- mail_replies.c: verdicts ----------------------------------------- */

/* This recipient has its verdict. */
void mail_settle(struct mail *mail, size_t index,
    const struct verdict *verdict);
/* All of this transaction that have no verdict yet. */
void mail_settle_picked(struct mail *mail, const struct verdict *verdict);
/* All of the job that have no verdict yet. */
void mail_settle_all(struct mail *mail, const struct verdict *verdict);

#endif
