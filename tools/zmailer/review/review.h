/* review.h - what waits for a person: freezer/, postman/, deferred/
 *
 * The screen as data: a list above, the chosen message below.  Keys change
 * it and may ask for an act; drawing is a function of it.  The loop with a
 * terminal is review.c.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REVIEW_H
#define ZM_TOOLS_REVIEW_H

#include "tools/selection/selection.h"
#include "tools/screen/canvas.h"

enum { REVIEW_TEXT_BYTES_MAX = 256 * 1024 };	/* read of a message */

struct review_row {
	const struct selection_item	*item;
	bool			 is_marked, is_gone;
	size_t			 alike;	/* in its group, with this one */
	const char		*note;	/* the newest; NULL */
	const char		*reason;	/* the router's words; NULL */
};

enum review_act { REVIEW_NO_ACT, REVIEW_RELEASE, REVIEW_ALLOW, REVIEW_DELETE,
	REVIEW_BOUNCE, REVIEW_FORWARD, REVIEW_NOTE, REVIEW_FILTER,
	REVIEW_QUIT, REVIEW_RELOAD };

struct review {
	struct selection_choice	*choice;
	struct review_row	*rows;		/* groups together, old first */
	size_t			 total;		/* rows */
	size_t			 count;		/* of these the first are
						 * shown: the filter's */
	size_t			 cursor, top;
	struct str		 filter;	/* part of a row, or nothing */
	size_t			 text_top;	/* first line shown of it */
	bool			 is_whole;	/* no list */
	struct str		 text;		/* of the row at the cursor */
	const struct selection_item	*text_of;
	enum review_act		 asked;		/* waits for a word */
	struct str		 typed;		/* the words of an act, too */
	char			 said[200];	/* one line at the bottom */
};

/* Rows of the choice, similar ones (area, cause, sender's domain) together. */
void review_init(struct review *review, struct selection_choice *choice);
void review_release(struct review *review);

/* Read the message at the cursor: envelope's facts, header, text with
 * controls made visible. */
void review_read(struct review *review);

/* Handle a key (character or enum terminal_key).  Returns what is to be done
 * now, with the marked rows or, if there are none, the one at the cursor.  To
 * delete an only copy, its id must be typed; the words of a bounce or a note,
 * and the address of a forward, are in `typed`. */
enum review_act review_key(struct review *review, int key, unsigned rows);

/* Draw the page that is shown. */
void review_draw(struct review *review, struct canvas *canvas);

/* notes.c: the notes that the journal has about the rows, and why the router
 * set them aside. */
void review_notes(struct review *review, const char *log_dir);

/* Append the list as lines (line mode). */
void review_list(const struct review *review, bool is_json,
    struct str *out);

#endif
