/* question.h - a question of the desk, and its answer
 *
 * A question goes to the scheduler's socket (doc/protocol/control.md) or to a
 * verb of zmailer(8), a child that is started with our words, without a shell:
 * what people typed is one word after "--".  All questions are rows of a table
 * (web/orders/rows.h); the process that passes them on refuses others.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_QUESTION_H
#define ZM_WEB_QUESTION_H

#include "base/str.h"

enum {
	QUESTION_WORDS_MAX = 16,
	ANSWER_BYTES_MAX = 4 << 20,	/* of standard output, of the socket */
	ANSWER_TROUBLE_BYTES_MAX = 8 << 10,
	ANSWER_MS = 60000
};

enum question_answer_kind {
	ANSWER_GOOD,
	ANSWER_NONE,		/* nothing matches; a warning */
	ANSWER_WRONG,		/* the question makes no sense */
	ANSWER_DENIED,
	ANSWER_DOWN,		/* the scheduler does not run */
	ANSWER_TROUBLE,
	ANSWER_OVER,		/* the session has ended */
	ANSWER_ABSENT,		/* the process that asks for us has ended */
	ANSWER_KINDS
};

struct question_answer {
	enum question_answer_kind kind;
	struct str	 text;		/* the answer; JSON in whole lines */
	struct str	 trouble;	/* why not, in its source's words */
	bool		 is_cut;	/* the answer was longer than allowed */
};

struct question {
	const char	*name;		/* of its answer in JSON */
	bool		 is_socket;
	bool		 is_text;	/* the answer is not lines of JSON */
	struct str	 request;	/* of the socket, a line */
	bool		 is_door;	/* about logins: words is a call of
					 * wire.h */
	bool		 is_live;	/* it does not keep a session alive */
	const char	*words[QUESTION_WORDS_MAX];	/* the verb; a NULL
							 * ends them */
	const char	*secret;	/* of the session that asks */
	void		*context;	/* the caller's own */
	struct question_answer	 answer;
};

/* Make a question to a verb: words end with NULL and must live as long as the
 * question. */
void question_verb(struct question *out, const char *name,
    const char *const *words);
/* Make one to the scheduler: begins the request; the caller adds members. */
void question_socket(struct question *out, const char *name, const char *op);
/* Make a call of the process that orders: words as for question_verb
 * (wire.h). */
void question_door(struct question *out, const char *const *words);
void question_release(struct question *question);

/* Take the next line of an answer that is an object; false: none is left.  rest
 * begins as the text of the answer. */
bool answer_line(struct slice *rest, struct slice *out_line);

/* Read what the socket sent, up to its last line.  False: that has not come
 * yet. */
bool answer_take_socket(struct question_answer *answer, struct slice sent);
/* The kind of answer by an exit status. */
enum question_answer_kind answer_of_exit(int status);

#endif
