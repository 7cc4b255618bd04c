/* journal.h - the event files as a tool reads them, offline
 *
 * Files are mapped, packed ones unpacked a frame at a time: a line is valid
 * until the next one is asked for.  event.c wrote the lines, but nothing in
 * them is trusted: a damaged line is skipped.
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

/* A window in time: milliseconds since 1970, without the end itself. */
struct journal_span { int64_t since_ms, until_ms; };

/* Map the files of the last `days` days, oldest first.  0 or -1. */
int journal_days_open(const char *log_dir, unsigned days, struct journal **out,
    struct err *err);
/* Map all there are.  0 or -1. */
int journal_open_all(const char *log_dir, struct journal **out,
    struct err *err);
void journal_close(struct journal **journal);

/* From now on frames that surely have none of these keys (frame.h) are left
 * out; the caller still checks each line.  keys are borrowed; NULL: all
 * frames. */
void journal_want(struct journal *journal, const struct frame_key *keys,
    size_t count);
/* From now on days and frames outside of a window are left out; the lines that
 * are left are not compared with it.  NULL: all times. */
void journal_within(struct journal *journal, const struct journal_span *span);
/* For tests: frames that were left out so far. */
size_t journal_skipped(const struct journal *journal);

/* The name of a file, by its place (a cursor's). */
const char *journal_part(const struct journal *journal, size_t file);

/* The next line without its LF; *cursor starts as zeros.  false: that was all.
 * What precedes it of an unfinished line is left out (journal_line_whole). */
struct journal_cursor { size_t file, offset, frame; };
bool journal_next(struct journal *journal, struct journal_cursor *cursor,
    struct slice *out_line);
/* The same as it is in the file: for seals, which cover every byte. */
bool journal_next_raw(struct journal *journal, struct journal_cursor *cursor,
    struct slice *out_line);

/* Replace *out's text by the value of a key, with controls escaped. */
void journal_line_word(struct slice line, const char *key, struct str *out);

/* Append "key=value ..." of a line, without t, id, ev, d and pid; values with
 * blanks or quotes are quoted, controls escaped, moments are local. */
void journal_line_values(struct slice line, struct str *out);

/* Is it a key of every line (t, id, ev, d, pid)? */
bool journal_key_is_fixed(struct slice key);

/* Replace *out's text by the event of a line for people: a sentence of
 * tellings.h, or the one of events.h and its values. */
void journal_tell(struct slice line, struct str *out);
/* For tests, which check that the keys of each row of tellings.h are the
 * event's. */
size_t journal_telling_count(void);
const char *journal_telling(size_t i, const char **out_event);
/* Append text and LF, wrapped at column 79; the first line begins at column
 * indent, and the others are indented to it. */
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

/* Find all lines of every message that has a line which answers the question,
 * with the lines of the sessions that they came by; a session that fits and has
 * no message stands for itself.  Asked for a recipient ("to:"), what became of
 * the others of its messages is left out. */
void life_find(struct journal *journal, const struct journal_ask *ask,
    struct arena *arena, struct life *out);

/* Append one message after the other: its id and the moment of its first line,
 * then a sentence for each step, with its time. */
void life_print(const struct life *life, struct str *out);

#endif
