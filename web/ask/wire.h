/* wire.h - what the two processes of the desk say to each other
 *
 * The process that serves (web/serve) calls; the one that orders (web/orders)
 * answers each call once, in any order; over a stream socket pair:
 *
 *	call     SERIAL .WORD .WORD...		a line; words in base64
 *	answer   SERIAL KIND CUT TEXT TROUBLE	a line; then TEXT bytes of text
 *						and TROUBLE bytes of trouble
 *
 * The first word says what is called:
 *
 *	ask SECRET page|live verb|socket WORD...   words of question.h
 *	open TOKEN			the link of the start
 *	login CLIENT USER PASSWORD SECRET	SECRET: a session that ends
 *	unlock CLIENT SECRET PASSWORD
 *	leave SECRET
 *	renew				text: certificate, trouble: key, in PEM
 *	ready				the caller has confined itself
 *	trace SINCE UNTIL WHAT		zmailer trace, for POST /send
 *
 * open and login are answered by "SECRET ROLE USER"; a refusal has the status
 * of HTTP as text, and words as trouble.  An answer with the serial 0 belongs
 * to no call: the session whose secret is its text has ended.
 *
 * With POST /send there is a second pair, for connections to our own submission
 * listener and nowhere else.  Answers come in the order of the calls:
 *
 *	connect
 *	there				with the descriptor
 *	not WHY
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_WIRE_H
#define ZM_WEB_WIRE_H

#include "web/ask/question.h"

#define WIRE_CONNECT "connect"
#define WIRE_THERE "there"
#define WIRE_NOT "not"

enum {
	WIRE_WORDS_MAX = QUESTION_WORDS_MAX + 4,	/* with a NULL */
	WIRE_LINE_BYTES_MAX = 512 << 10,	/* a form has 64 KiB; its ids
						 * become a selector three
						 * times as long, in base64 */
	WIRE_HEAD_BYTES_MAX = 80,
	WIRE_PUSHED = 0				/* the serial of no call */
};

struct wire_answer {
	unsigned	 serial;
	enum question_answer_kind kind;
	bool		 is_cut;
	size_t		 text_bytes, trouble_bytes;
};

/* Append a call with its line end.  words end with NULL. */
void wire_add_call(struct str *out, unsigned serial,
    const char *const *words);
/* Parse a call of an untrusted peer: words are in the arena, end with NULL, and
 * have no NUL in them.  0; -1: it is malformed. */
int wire_read_call(struct slice line, struct arena *arena,
    unsigned *out_serial, const char *out_words[WIRE_WORDS_MAX]);

/* Append the line before an answer. */
void wire_add_answer(struct str *out, unsigned serial,
    const struct question_answer *answer);
/* Parse it.  0; -1: it is malformed, or announces more than an answer may
 * have. */
int wire_read_answer(struct slice line, struct wire_answer *out);

#endif
