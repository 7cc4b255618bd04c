/* journal.h - the event files as a tool reads them, offline
 *
 * Files are mapped, lines borrow from the maps until journal_close.  A line
 * is what event.c wrote, yet nothing in it is trusted: a damaged line is
 * skipped.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_H
#define ZM_TOOLS_JOURNAL_H

#include "base/err.h"
#include "base/str.h"

enum {
	JOURNAL_DAYS = 14,		/* looked back */
	JOURNAL_IDS_MAX = 1000		/* messages of one question */
};

struct journal;

/* Map the files of the last `days` days, oldest first.  0 or -1. */
int journal_open(const char *log_dir, unsigned days, struct journal **out,
    struct err *err);
void journal_close(struct journal **journal);

/* Next line without its LF; *cursor starts at 0. */
struct journal_cursor { size_t file, offset; };
bool journal_next(const struct journal *journal,
    struct journal_cursor *cursor, struct slice *out_line);

/* The spool id of a line, unescaped; empty when it has none.  Quick: looks
 * where event.c puts it. */
struct slice journal_line_id(struct slice line);
/* Milliseconds since 1970 of a line; -1: it says no time. */
int64_t journal_line_ms(struct slice line);

/* ---- the life of messages ---------------------------------------------- */

struct life_line {
	struct slice	id, line;
	int64_t		at_ms;
	size_t		order;		/* in the files */
};

struct life {			/* in the arena; lines borrow */
	struct life_line *lines;
	size_t		 count;		/* sorted by id, time, order */
	size_t		 id_count;
	bool		 is_cut;	/* over JOURNAL_IDS_MAX: the newest */
};

/* what: a spool id; "<...>": a message id; anything with "@": an address
 * that a line of the message names (from, to, orcpt), case folded.
 * Returns 0, or -1: what is none of these. */
int life_find(const struct journal *journal, const char *what,
    struct arena *arena, struct life *out, struct err *err);

/* One table a message: absolute time of the first line, then relative. */
void life_print(const struct life *life, struct str *out);

/* The value of a key with controls escaped, in place of *out's text. */
void journal_line_word(struct slice line, const char *key, struct str *out);

/* "key=value ..." of a line but t, id, ev, d and pid; values with blanks or
 * quotes are quoted, controls escaped. */
void journal_line_values(struct slice line, struct str *out);

/* "2026-11-20 21:04:00.123  scheduler  ID  rcpt.ok  to=..." and LF. */
void journal_line_print(struct slice line, struct str *out);

#endif
