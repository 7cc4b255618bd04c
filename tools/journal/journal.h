/* journal.h - the event files as a tool reads them, offline
 *
 * Files are mapped, packed ones unpacked a frame at a time: a line lasts
 * until the next one is asked for.  A line is what event.c wrote, yet
 * nothing in it is trusted: a damaged line is skipped.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_H
#define ZM_TOOLS_JOURNAL_H

#include "base/err.h"
#include "base/str.h"
#include "past/line.h"

enum {
	JOURNAL_DAYS = 14,		/* looked back */
	JOURNAL_IDS_MAX = 1000		/* messages of one question */
};

struct journal;
struct frame_key;

/* A window in time: milliseconds since 1970, the end not in it. */
struct journal_span { int64_t since_ms, until_ms; };

/* Map the files of the last `days` days, oldest first.  0 or -1. */
int journal_days_open(const char *log_dir, unsigned days, struct journal **out,
    struct err *err);
/* Map all there are.  0 or -1. */
int journal_open_all(const char *log_dir, struct journal **out,
    struct err *err);
void journal_close(struct journal **journal);

/* From now on frames that surely have none of these keys (frame.h) are left
 * out; the caller still looks at each line.  keys stay the caller's; NULL:
 * all frames. */
void journal_want(struct journal *journal, const struct frame_key *keys,
    size_t count);
/* From now on days and frames outside of a window are left out; what is left
 * is not held against it line by line.  NULL: all times. */
void journal_within(struct journal *journal, const struct journal_span *span);
/* For tests: frames that were left out so far. */
size_t journal_skipped(const struct journal *journal);

/* The name of a file, by its place (a cursor's). */
const char *journal_part(const struct journal *journal, size_t file);

/* Next line without its LF; *cursor starts as zeros.  false: that was all.
 * Without what a writer could not end before it (journal_line_whole). */
struct journal_cursor { size_t file, offset, frame; };
bool journal_next(struct journal *journal, struct journal_cursor *cursor,
    struct slice *out_line);
/* As it stands in the file: for seals, which are of every byte. */
bool journal_next_raw(struct journal *journal, struct journal_cursor *cursor,
    struct slice *out_line);

/* The value of a key with controls escaped, in place of *out's text. */
void journal_line_word(struct slice line, const char *key, struct str *out);

/* "key=value ..." of a line but t, id, ev, d and pid; values with blanks or
 * quotes are quoted, controls escaped, moments are local. */
void journal_line_values(struct slice line, struct str *out);

/* Is it one of every line (t, id, ev, d, pid)? */
bool journal_key_is_fixed(struct slice key);

/* What the event of a line says to people, in place of *out's text: a
 * sentence of tellings.h, or what events.h says and its values. */
void journal_tell(struct slice line, struct str *out);
/* For tests, which look whether the keys of each row of tellings.h are the
 * event's. */
size_t journal_telling_count(void);
const char *journal_telling(size_t i, const char **out_event);
/* Append words up to column 79, what is left below them, and LF; the cursor
 * stands at column indent. */
void journal_wrap(struct slice text, unsigned indent, struct str *out);

/* "2026-11-20 21:04:00.123 CET  scheduler  ID  rcpt.ok  to=..." and LF. */
void journal_line_print(struct slice line, struct str *out);

/* ---- the life of messages ---------------------------------------------- */

struct journal_ask;

struct life_line {
	struct slice	id;		/* of the message, or the session */
	struct slice	line;
	int64_t		at_ms;
	struct journal_cursor at;	/* after it, in the files */
};

struct life {			/* in the arena */
	struct life_line *lines;
	size_t		 count;		/* sorted by id, time, order */
	size_t		 id_count;	/* messages */
	bool		 is_cut;	/* over JOURNAL_IDS_MAX: the newest */
};

/* All lines of every message that a line which fits the question belongs
 * to, with those of the sessions they came in by; sessions that fit and
 * brought no message stand for themselves. */
void life_find(struct journal *journal, const struct journal_ask *ask,
    struct arena *arena, struct life *out);

/* A message after the other: its id and the moment of the first line, then a
 * sentence a step with its time. */
void life_print(const struct life *life, struct str *out);

#endif
