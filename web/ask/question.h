/* question.h - what the desk wants to know, and what came of it
 *
 * A question goes to the scheduler's socket (doc/protocol/control.md) or to a
 * verb of zmailer(8), which is a child with words of ours: what people typed
 * is one word after "--", and no shell sees it.  Which ones there are is a
 * table (web/orders/rows.h): another one is refused by who carries it on.
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
	ANSWER_OVER,		/* the session is */
	ANSWER_ABSENT,		/* the process that asks for us has ended */
	ANSWER_KINDS
};

struct question_answer {
	enum question_answer_kind kind;
	struct str	 text;		/* what was said; of JSON whole lines */
	struct str	 trouble;	/* why not, in the refuser's words */
	bool		 is_cut;	/* there was more than fits */
};

struct question {
	const char	*name;		/* of its answer in JSON */
	bool		 is_socket;
	bool		 is_text;	/* the answer is no lines of JSON */
	struct str	 request;	/* of the socket, a line */
	bool		 is_door;	/* of who comes and goes: words is a
					 * call of wire.h */
	bool		 is_live;	/* it keeps no session alive */
	const char	*words[QUESTION_WORDS_MAX];	/* the verb; a NULL
							 * ends them */
	const char	*secret;	/* of the session that asks */
	void		*context;	/* the caller's own */
	struct question_answer	 answer;
};

/* Ask a verb: words end with NULL and live as long as the question. */
void question_verb(struct question *out, const char *name,
    const char *const *words);
/* Ask the scheduler: begins the request, the caller adds members. */
void question_socket(struct question *out, const char *name, const char *op);
/* Call the process that orders: words as for question_verb (wire.h). */
void question_door(struct question *out, const char *const *words);
void question_release(struct question *question);

/* The next line of an answer that is an object; false: none is left.  rest
 * begins as the text of the answer. */
bool answer_line(struct slice *rest, struct slice *out_line);

/* Read what the socket sent, its lines and the last one.  False: it is not
 * whole yet. */
bool answer_take_socket(struct question_answer *answer, struct slice sent);
/* What an exit status means. */
enum question_answer_kind answer_of_exit(int status);

#endif
