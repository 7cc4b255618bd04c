/* pages.h - the pages of the desk: what each asks, and what it shows
 *
 * A page does no I/O: it says its questions, and when all are answered it
 * writes.  Its JSON twin is the very lines of the answers, so it has no
 * function of its own.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_DESK_H
#define ZM_WEB_DESK_H

#include "base/str.h"
#include "web/ask/question.h"
#include "web/pages/form.h"

enum {
	VISIT_QUESTIONS_MAX = 4,
	QUEUE_PAGE_MESSAGES = 50,
	REVIEW_MESSAGES_MAX = 200,
	REASON_BYTES_MAX = 200		/* doc/protocol/control.md section 2 */
};

struct visit {			/* somebody wants a page */
	struct arena	*arena;
	const struct page_row *page;
	struct slice	 rest;		/* of the path, after the page's */
	struct form	 form;
	bool		 is_json;
	const char	*csrf;
	struct slice	 said;		/* of the last order */
	int64_t		 now_s;
	struct question	 questions[VISIT_QUESTIONS_MAX];
	size_t		 count;
	int		 status;	/* of HTTP */
	const char	*goes_to;	/* NULL; then out is what was said of an
					 * order, and the reader goes there */
	struct str	 out;
};

struct page_row {
	const char	*path;		/* with "/" at its end: takes a rest */
	const char	*title;
	int		 none_status;	/* when the first question finds
					 * nothing; 0: that is no matter */
	/* Say the questions; -1: status and out (a sentence) are why not. */
	int		(*begin)(struct visit *visit);
	/* Write what stands in <main>, below the heading. */
	void		(*show)(struct visit *visit);
};
extern const struct page_row page_overview, page_queue, page_message,
    page_destinations, page_review, page_order, page_done;

/* words.c: what pages share. */

/* Put a question to a verb; words as for question_verb. */
void visit_ask_verb(struct visit *visit, const char *name,
    const char *const *words);
/* The same to the scheduler; the caller may add members to its request. */
struct question *visit_ask_socket(struct visit *visit, const char *name,
    const char *op);
/* The answer of that name. */
const struct answer *visit_answer(const struct visit *visit,
    const char *name);
/* "status" is the first answer's. */
void visit_judge(struct visit *visit);
/* The twin of a page. */
void visit_add_json(struct visit *visit);
/* Why a question has no answer, as a paragraph that is read out; nothing when
 * it has one. */
void page_add_trouble(struct str *out, const struct answer *answer);

/* A member of a line, good as long as the arena. */
struct slice page_member(struct arena *arena, struct slice line,
    const char *key);
/* Is it the id of a message? */
bool page_is_id(struct slice id);
/* "1.2K"; "3h ago" with the moment as a title; "5m". */
void page_add_size(struct str *out, int64_t bytes);
void page_add_moment(struct str *out, int64_t at_s, int64_t now_s);
void page_add_span(struct str *out, int64_t span_s);
/* A link to the queue's mail for a destination. */
void page_add_destination(struct str *out, struct slice channel,
    struct slice host);
/* The box of selectors of a page. */
void page_add_search(struct str *out, const char *path, struct slice typed);
/* What may be typed there, at the end of the page. */
void page_add_search_words(struct str *out);
/* A button for each of "hold release": rows of order.c, with a field for the
 * reason. */
void page_add_buttons(struct str *out, const char *const *verbs);

#endif
