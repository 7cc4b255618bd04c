/* edit.h - change the text of a configuration, and keep the rest of it
 *
 * Each edit makes earlier pieces invalid: read them again.
 * Comments, order and layout belong to a person: an edit changes only the
 * bytes of the statements that it is about.  The result must pass the same
 * checks as any file before it is written (conf_load_drafts).
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

/* The statements of a text; if it does not parse, as far as they can be told.
 * Pieces and words are in the arena; their texts borrow from it and from text.
 * Returns how many. */
size_t conf_pieces(struct arena *arena, struct slice text,
    struct conf_piece **out);

/* Is the word with this index equal to word (case folded)?  false also if there
 * is none. */
bool conf_piece_is(const struct conf_piece *piece, size_t index,
    const char *word);

/* Put lines (which end in LF) before the line on which the statement begins, or
 * after the one on which it ends; a comment directly above a statement stays
 * above it. */
void conf_put_before(struct str *text, const struct conf_piece *piece,
    const char *lines);
void conf_put_after(struct str *text, const struct conf_piece *piece,
    const char *lines);
/* At the end of the file, on a line of their own. */
void conf_put_last(struct str *text, const char *lines);
/* Before the first statement that is one of these words (NULL is their end),
 * or after the last such one; where there is none, at the end of the file. */
void conf_put_before_first(struct arena *arena, struct str *text,
    const char *const *words, const char *lines);
void conf_put_after_last(struct arena *arena, struct str *text,
    const char *const *words, const char *lines);

/* Remove a statement, with its line if nothing else is on it. */
void conf_take_piece(struct str *text, const struct conf_piece *piece);
/* Remove one word, with the blanks before it. */
void conf_take_word(struct str *text, const struct conf_word *word);

/* The files a configuration was read from, in order; the first is the main
 * one.  Returns how many; at most max are put into out. */
size_t conf_sources(const struct conf *conf, const char **out, size_t max);
/* Are its files empty except for comments? */
bool conf_is_empty(const struct conf *conf);

#endif
