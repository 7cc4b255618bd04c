/* reply.h - replies of an SMTP or LMTP server, as they come in
 *
 * RFC 5321 section 4.2: "250-text" CRLF ... "250 text" CRLF.  The peer is
 * hostile: lines, their number and their bytes are bounded, the code must
 * be the same on every line.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_REPLY_H
#define ZM_GRAMMAR_REPLY_H

#include "base/err.h"
#include "base/str.h"

enum {
	REPLY_LINE_BYTES_MAX = 2048,	/* longer: the reply is nonsense */
	REPLY_LINES_MAX = 100,
	REPLY_BYTES_MAX = 16384
};

struct reply {
	int		code;		/* 200..599 */
	char		status[12];	/* RFC 2034 "4.2.1", or "" */
	struct slice	text;		/* all bytes of the reply as received,
					 * without the last CRLF; borrows */
	size_t		bytes;		/* consumed from in */
};

enum reply_answer {
	REPLY_BAD = -1,
	REPLY_MORE = 0,
	REPLY_DONE = 1
};

/* Parse one whole reply from the front of in (unread bytes).
 * A bare LF ends a line, too: what the peer meant is clear.
 * returns REPLY_MORE when more bytes are needed; REPLY_BAD when this is not
 * a reply (err says why). */
enum reply_answer reply_parse(struct slice in, struct reply *out,
    struct err *err);

/* The text of the next line (after "250-") of a parsed reply; *cursor starts
 * at 0.  false: there are no more. */
bool reply_line(const struct reply *reply, size_t *cursor,
    struct slice *out_text);

/* Append one line for log, record and DSN: the code once, then the texts of
 * the lines joined by blanks, with controls and bytes that are not UTF-8 as
 * \xHH, cut at 500 bytes.  The words themselves are not changed. */
void reply_add_text(struct str *out, const struct reply *reply);

/* If text (which begins after the code) starts with a status like "4.7.1" of
 * the code's class, copy it; otherwise write "x.0.0" by the code (3yz, which is
 * no final reply, gives 4.0.0). */
void reply_status(int code, struct slice text, char out_status[12]);

#endif
