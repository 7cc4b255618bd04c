/* edit.h - change the text of a configuration, and keep the rest of it
 *
 * Each edit makes earlier pieces stale: read them again.
 * Comments, order and layout belong to a person: an edit touches only the
 * bytes of the statements that it is about.  The result must pass the same
 * checks as any file before it becomes one (conf_load_drafts).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_EDIT_H
#define ZM_CONF_EDIT_H

#include "conf/conf.h"

struct conf_word {
	size_t		begin, end;	/* bytes in the text */
	struct slice	text;		/* decoded; <name> without < > */
	bool		is_table;
};

struct conf_piece {		/* a statement at the top of a file */
	struct conf_word *words;	/* [0] is its name; without its block */
	size_t		 word_count;
	size_t		 begin, end;	/* block included, line end not */
	bool		 has_block;
};

/* The statements of a text that parses; those of a text that does not are
 * as good as can be.  Pieces and words live in the arena; their texts borrow
 * from it and from text. */
size_t conf_pieces(struct arena *arena, struct slice text,
    struct conf_piece **out);

/* Does the word say this (case folded)?  index over the end: no. */
bool conf_piece_is(const struct conf_piece *piece, size_t index,
    const char *word);

/* Put lines (which end in LF) in front of the line on which the statement
 * begins, or after the one on which it ends; what is commented directly
 * above a statement stays above it. */
void conf_put_before(struct str *text, const struct conf_piece *piece,
    const char *lines);
void conf_put_after(struct str *text, const struct conf_piece *piece,
    const char *lines);
/* At the end of the file, on a line of their own. */
void conf_put_last(struct str *text, const char *lines);

/* Take a statement out, with its line when nothing else stands there. */
void conf_take_piece(struct str *text, const struct conf_piece *piece);
/* Take one word out, with the blanks in front of it. */
void conf_take_word(struct str *text, const struct conf_word *word);

/* The files a configuration was read from, in order; the first is the main
 * one.  Returns how many; at most max are put into out. */
size_t conf_sources(const struct conf *conf, const char **out, size_t max);
/* Do its files say nothing, comments aside? */
bool conf_is_empty(const struct conf *conf);

#endif
