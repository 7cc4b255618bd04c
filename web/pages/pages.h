/* pages.h - the pages of the desk: what each asks, and what it shows
 *
 * A page does no I/O: it names its questions, and when all are answered it
 * writes itself.  Its JSON twin is the lines of the answers, so it has no
 * function of its own.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_DESK_H
#define ZM_WEB_DESK_H

#include "base/str.h"
#include "conf/conf.h"
#include "web/ask/question.h"
#include "web/pages/form.h"

enum {
	VISIT_QUESTIONS_MAX = 8,
	QUEUE_PAGE_MESSAGES = 50,
	REVIEW_MESSAGES_MAX = 200,
	REASON_BYTES_MAX = 200		/* doc/protocol/control.md section 2 */
};

struct visit {			/* a request for a page */
	struct arena	*arena;
	const struct page_row *page;
	struct slice	 rest;		/* of the path, after the page's */
	struct form	 form;
	bool		 is_json;
	const char	*csrf;
	bool		 may_order;	/* about mail */
	bool		 may_change;	/* the machine; a page does not offer
					 * what its reader may not do */
	bool		 is_help;	/* the role help: nothing about all
					 * mail is shown */
	struct slice	 said;		/* of the last order */
	struct slice	 way_back;	/* the form that reverts it, as a
					 * query; empty: there is none */
	int64_t		 now_s;
	struct question	 questions[VISIT_QUESTIONS_MAX];
	size_t		 count;
	int		 status;	/* of HTTP */
	const char	*goes_to;	/* not NULL: redirect there; out is the
					 * result of an order, back the form
					 * that reverts it */
	const char	*file_name;	/* not NULL: out is a file of this
					 * name, not a page */
	struct str	 out, back;
};

struct page_row {
	const char	*path;		/* with "/" at its end: takes a rest */
	const char	*title;
	int		 none_status;	/* if the first question finds nothing;
					 * 0: that does not matter */
	bool		 is_order;	/* has no twin */
	bool		 is_data;	/* out is JSON for our script */
	/* Name the questions; -1: status and out (a sentence) say why not. */
	int		(*begin)(struct visit *visit);
	/* Write the content of <main>, below the heading. */
	void		(*show)(struct visit *visit);
};
extern const struct page_row page_overview, page_queue, page_message,
    page_destinations, page_destination, page_review, page_refused,
    page_refusal, page_limits, page_orders, page_authentication, page_health,
    page_order, page_change, page_done, page_raw, page_saved, page_complete;

/* words.c: what pages share. */

/* Add a question to a verb; words as for question_verb. */
void visit_ask_verb(struct visit *visit, const char *name,
    const char *const *words);
/* The same to a verb that answers with text for people. */
void visit_ask_text(struct visit *visit, const char *name,
    const char *const *words);
/* The same to the scheduler; the caller may add members to its request. */
struct question *visit_ask_socket(struct visit *visit, const char *name,
    const char *op);
/* The answer of that name. */
const struct question_answer *visit_answer(const struct visit *visit,
    const char *name);
/* Refuse a form that makes no sense: 400, and these words.  returns -1 */
int visit_refuse(struct visit *visit, const char *words);
/* Set the status of HTTP by the first answer. */
void visit_judge(struct visit *visit);
/* Write the twin of a page. */
void visit_add_json(struct visit *visit);
/* An element where the script says that the page's content has changed
 * (web/files/script.js); it stays empty without the script. */
void page_add_live(struct str *out);
/* Why a question has no answer, as a paragraph that screen readers announce;
 * nothing if it has one. */
void page_add_trouble(struct str *out, const struct question_answer *answer);

/* A member of a line, in the arena. */
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
/* The box of selectors of a page, with a list of what may be typed there:
 * keys, and addresses and destinations of lines, which is an answer about
 * messages. */
void page_add_search(struct visit *visit, const char *path,
    struct slice typed, struct slice lines);
/* A list of what may be typed there, for the end of the page. */
void page_add_search_words(struct str *out);
/* A form about messages, with a button for each of verbs (rows of order.c) at
 * its end, and a box that ticks a message.  For a reader who may not order,
 * these functions write nothing. */
void page_begin_orders(struct visit *visit);
void page_add_tick(struct visit *visit, struct slice id);
/* verbs NULL: there is nothing to be ordered. */
void page_end_orders(struct visit *visit, const char *const *verbs);
/* A form of one button that previews an order (a row of order.c) about every
 * message of the selector; about says for screen readers which these are.
 * Writes nothing for a reader who may not give it. */
void page_add_order(struct visit *visit, const char *order,
    struct slice selector, const char *about);
/* The selector in the box joined with one of ours, as one word of a verb.
 * NULL: the typed selector is malformed (see out). */
const char *page_narrow(struct visit *visit, const char *ours);
/* A form of one button that previews a change (a row of change.c) of value;
 * field is its name in that row.  Writes nothing for a reader who may not
 * change it. */
void page_add_change(const struct visit *visit, struct str *out,
    const char *change, const char *field, struct slice value,
    const char *button);

/* saved.c: ask for the user's saved searches; show them as links, with a form
 * that saves what is in the box. */
void saved_ask(struct visit *visit);
void saved_show(struct visit *visit, struct slice typed);
/* nodes.c: which machines of a cluster. */

enum page_where { WHERE_HERE, WHERE_NODE, WHERE_CLUSTER };
/* To be called once; borrowed.  NULL: no other node is asked. */
void pages_set_cluster(const struct conf_cluster *of);
enum page_where page_where(const struct visit *visit);
/* Refuse a node that is none of the cluster.  0 or -1. */
int visit_check_where(struct visit *visit);
/* Add the words of a verb for it: at most two, before "--". */
void visit_add_where(const struct visit *visit, const char **words, size_t *n);
/* The same as hidden fields of a form; as a part of a URL, after `before`. */
void page_add_where_hidden(struct visit *visit);
void page_add_where_query(const struct visit *visit, const char *before,
    struct str *out);
/* The choice, as links to path; nothing without a cluster. */
void page_add_places(struct visit *visit, const char *path);
/* A link to the page of a message, which that node has (empty: this one, or the
 * one that was chosen). */
void page_add_message_link(struct visit *visit, struct slice id,
    struct slice node);
/* The part of the overview: a line a node. */
void overview_ask_nodes(struct visit *visit);
void overview_show_nodes(struct visit *visit);

/* lines.c: answers as tables. */

enum line_kind { LINE_TEXT, LINE_NUMBER, LINE_MOMENT, LINE_MESSAGE,
	LINE_CLOCK, LINE_CLOCK_MS };
struct line_column {
	const char	*label, *key;
	enum line_kind	 kind;
	/* Writes the cell instead; or NULL. */
	void		(*cell)(struct visit *visit, struct slice line);
};
struct lines {
	const char	*answer, *caption, *none;	/* none: there are no
							 * lines */
	const struct line_column *columns;
	size_t		 count;
	bool		 is_newest_first;
	/* Does the line belong to this table?  NULL: all do. */
	bool		(*fits)(struct slice line);
};
/* Write the trouble, or a row for each line, or the words for none. */
void page_add_lines(struct visit *visit, const struct lines *lines);

#endif
