/* judge_mark.h - writing the results of mail authentication into a message
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_ORIGIN_JUDGE_MARK_H
#define ZM_SMTPSERVER_ORIGIN_JUDGE_MARK_H

#include "smtpserver/origin/judge.h"

/* Another process's draft, mapped. */
struct judge_mail {
	struct slice	file;		/* the map, or copy; empty: none */
	char		*copy;		/* of a small one; or NULL */
	struct slice	envelope;	/* its lines, "env-end" included */
	struct slice	message;	/* header and body */
};
/* Map public/NAME; a small file is read.  0; or -1, and there is nothing to
 * close. */
int judge_mail_open(struct judge_mail *mail, struct spool *spool,
    const char *name, struct err *err);
/* Unmap it. */
void judge_mail_close(struct judge_mail *mail);

/* Append the lines of an envelope, "env-end" included, with what was judged: of
 * DKIM2 it may follow that nobody is sent a report (dkim2_bars_reports).
 * 0; -1: they cannot be read. */
int judge_mark_envelope(struct slice envelope, enum origin dkim2,
    struct str *out, struct err *err);

/* Append the header of a message with field, which has no LF at its end, at
 * the top, and without the fields Authentication-Results that claim to be of
 * host.  Lines that are no fields do not end it.  returns the rest: the blank
 * line and the body. */
struct slice judge_mark_header(struct slice message, struct slice field,
    const char *host, struct str *out);

/* Leave a draft that has it so, and out->dkim2 in its envelope; file, bytes and
 * crc of out are filled.  0 or -1. */
int judge_mark(const struct judge_mail *mail, struct spool *spool,
    struct slice field, const char *host, struct judge_answer *out,
    struct err *err);

#endif
