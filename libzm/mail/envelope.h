/* envelope.h - the envelope lines at the head of a message file
 *
 * Reference: doc/man/zmailer-message.5.  Each line has a keyword; env-end is
 * the last.  Then come the header, a blank line and the body.  There is one
 * encoder (no NUL, CR or LF can get into a line) and one strict reader: unknown
 * keywords, repeated ones where one is allowed, overlong lines and control
 * characters are errors.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_ENVELOPE_H
#define ZM_MAIL_ENVELOPE_H

#include "base/err.h"
#include "base/str.h"
#include "grammar/smtp/dsn.h"
#include "grammar/smtp/path.h"
#include "mail/spool_id.h"
#include "mail/terms.h"

enum {
	ENVELOPE_LINE_BYTES_MAX = 4096,
	ENVELOPE_RCPTS_MAX = 1000000
};

#define ENVELOPE_LOCAL "local"		/* with: handed in by sendmail(1) */

struct envelope_rcpt {
	struct path	path;
	unsigned	notify;		/* enum dsn_notify bits */
	struct slice	orcpt;		/* "rfc822;xtext" or empty */
};

struct envelope {
	char		id[SPOOL_ID_BYTES];
	bool		is_external;	/* came from outside: no privileges */
	bool		is_to_sign;	/* from outside, but from a client of
					 * `trust NET sign`: signed as ours */
	bool		is_error;	/* "channel error": null sender */
	struct path	from;		/* when not is_error; may be bare for
					 * a local user's submission */
	struct slice	rcvdfrom;	/* "name ([addr]:port helo=x)" */
	struct slice	with;		/* "ESMTP" "ESMTPSA" "LMTP" ... */
	struct slice	bodytype;	/* "7BIT" "8BITMIME" "" */
	struct slice	user;		/* authenticated or submitting user */
	struct slice	envid;		/* xtext */
	enum dsn_ret	ret;
	struct terms	terms;		/* what else was asked for */
	bool		header_rcpts;	/* sendmail -t: take To/Cc/Bcc too */
	struct slice	dsn_of;		/* this is a report about that id */
	struct slice	aside;		/* "FILE:LINE: RULE" that put it into
					 * freezer/, as written then */
	struct slice	milters;	/* for mail from sendmail(1): "passed",
					 * or "refused 5.7.1 WORDS"; empty:
					 * they have not seen it */
	struct envelope_rcpt *rcpts;
	size_t		rcpt_count;
	size_t		header_offset;	/* in the file: first header byte */
};

/* Append the lines "id" to "env-end"; draft_* writes the first line (length,
 * checksum).  Values are checked: returns 0; -1 when one cannot be written as a
 * line. */
int envelope_add(struct str *out, const struct envelope *envelope,
    struct err *err);
/* The same in pieces, for senders with very many recipients: everything up
 * to the first recipient / one recipient / the end. */
int envelope_add_head(struct str *out, const struct envelope *envelope,
    struct err *err);
int envelope_add_rcpt(struct str *out, const struct envelope_rcpt *rcpt,
    struct err *err);
void envelope_add_end(struct str *out);

/* Read from the front of a whole message file (with or without the
 * "complete" line).  Slices borrow from file; arrays are in the arena.
 * returns 0; -1 (err: "line 4: unknown keyword 'frm'"). */
int envelope_parse(struct arena *arena, struct slice file,
    struct envelope *out, struct err *err);

/* Read only the lines before the first recipient, which say who sent it and
 * how it came.  front is as much of the file as the caller has.  0 or -1. */
int envelope_peek(struct slice front, struct envelope *out,
    struct err *err);

/* The source, of which several take turns at an agent: the user that submitted
 * it, else the client's address, else the sender's domain.  Borrows from it. */
struct slice envelope_source(const struct envelope *envelope);

#endif
