/* policyd.h - the Postfix policy protocol, our side of it
 *
 * A request is lines "name=value" and an empty one; an answer is a line
 * "action=ACTION [TEXT]" and an empty one.  Pure: bytes in, structs out.
 * Postfix's SMTPD_POLICY_README has the names and their meaning.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_POLICYD_H
#define ZM_SMTPSERVER_POLICY_POLICYD_H

#include "base/err.h"
#include "base/str.h"

enum {
	POLICYD_ANSWER_BYTES_MAX = 8192,
	POLICYD_TEXT_BYTES_MAX = 500	/* of a reply or a field */
};

enum policyd_action {
	POLICYD_DUNNO,			/* no opinion */
	POLICYD_ACCEPT,
	POLICYD_REJECT,
	POLICYD_DEFER,
	POLICYD_DEFER_IF_PERMIT,	/* unless something else refuses */
	POLICYD_FREEZE,			/* HOLD; also DISCARD: no mail is
					 * dropped */
	POLICYD_PREPEND,		/* text: a header field */
	POLICYD_WARN			/* text: for the journal */
};

struct policyd_answer {
	enum policyd_action	action;
	int			code;	/* of the reply; 0: the usual one */
	struct slice		text;	/* without enhanced status */
};

/* Parse "ACTION [TEXT]".  0; -1: the action is not known, or the field of
 * PREPEND is malformed (err). */
int policyd_action_parse(struct slice text, struct policyd_answer *out,
    struct err *err);

/* Find the action in an answer; *out_action borrows from bytes.  Returns the
 * bytes of the answer with its empty line; 0: it is not complete yet; -1: it is
 * not an answer. */
int policyd_answer_find(struct slice bytes, struct slice *out_action,
    struct err *err);

/* Append "name=value\t" to a question; bytes that are not allowed in a value
 * become "?". */
void policyd_add(struct str *out, const char *name, struct slice value);

/* The question's attributes as a request: tabs become line ends. */
void policyd_request(struct str *out, struct slice attributes);

#endif
