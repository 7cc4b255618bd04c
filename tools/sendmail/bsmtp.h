/* bsmtp.h - batch SMTP: a dialogue whose answers nobody hears
 *
 * What a client would do with the answers is done here: a recipient or a
 * message that is refused is reported to its sender.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_BSMTP_H
#define ZM_TOOLS_BSMTP_H

#include "base/str.h"
#include "conf/conf.h"

enum {
	BSMTP_LINE_BYTES_MAX = 4096,	/* a command; a line of text is cut
					 * into pieces */
	BSMTP_HEADER_BYTES_MAX = 32 * 1024,	/* kept of a message, for
						 * the report */
	BSMTP_REFUSED_MAX = 10000	/* recipients in one report */
};

struct bsmtp_refused {		/* a recipient that did not get the mail */
	struct slice		 rcpt;		/* without < > */
	struct slice		 reply;		/* "550 5.1.1 no such user" */
};

struct bsmtp_transaction {
	struct arena		*arena;		/* for what is below */
	struct slice		 sender;	/* empty: null */
	bool			 is_open;	/* MAIL was said */
	bool			 is_mail_refused;
	struct slice		 mail_reply;	/* when it was */
	struct slice		*accepted;	/* recipients */
	size_t			 accepted_count;
	struct bsmtp_refused	*refused;
	size_t			 refused_count;
	struct str		 header;	/* as far as it is kept */
	bool			 is_header_over;
};

/* Send the transactions on descriptor in through a server that is started
 * as path -bs.  Returns an exit status: EX_OK each message is on disk or its
 * sender has a report; EX_TEMPFAIL nothing was taken, the batch may come
 * again; EX_DATAERR something is neither (stderr says what). */
int bsmtp_run(const struct conf *conf, const char *path, int in);

/* Report the refused recipients of a transaction to its sender.  EX_OK; else
 * an exit status (stderr has said why). */
int bsmtp_report(const struct conf *conf,
    const struct bsmtp_transaction *transaction);

#endif
