/* event.h - the journal: one JSON line an event, joined by the spool id
 *
 * Lines are collected in the process and written by one write(2) on an
 * O_APPEND descriptor by event_flush, which every loop calls once a turn
 * and every agent after each job: LOGDIR/events-YYYY-MM-DD.jsonl (UTC).
 * The keeper of the journal renames a file that grew too large; writers
 * notice within a second, at their next line (doc/INTERNALS.md section 9).
 * A line: {"t":"...Z","id":"...","ev":"rcpt.ok","d":"scheduler","pid":1,
 * ...}.  A process that dies loses at most the lines of one turn, and those
 * that wait for a full disk; the spool, not the journal, is the truth.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_EVENT_H
#define ZM_BASE_EVENT_H

#include <stdint.h>

#include "base/str.h"

enum event_kind {
#define EVENT(symbol, name, level, keys, text) EV_##symbol,
#include "journal/events.h"
#undef EVENT
	EV_COUNT
};

enum event_level { EVENT_INFO, EVENT_WARN };

struct event_row {
	const char		*name;
	enum event_level	 level;
	const char		*keys;	/* blank separated */
	const char		*text;
};

extern const struct event_row event_rows[EV_COUNT];

/* Where lines go from now on.  dir is kept by descriptor, so it may vanish
 * from view (chroot) later.  NULL: lines go nowhere (tests, tools).
 * Returns 0, or -1 when the directory cannot be opened. */
int event_open(const char *log_dir);

/* As event_open with a directory descriptor opened by somebody else
 * (before privileges were dropped); takes the descriptor. */
void event_open_fd(int log_dir_fd);
/* Is there a journal to write to? */
bool event_is_kept(void);
/* Its directory, for what lies beside it; stays ours.  -1: there is none. */
int event_dir(void);

/* Note one event.  id: spool id or NULL.  Then pairs of key (const char *)
 * and value (struct slice), ended by NULL:
 *	event(EV_RCPT_OK, id, "to", addr, "code", SLICE("2.0.0"), NULL);
 * A key that the row does not name is a panic.  Warn events go to stderr
 * as well, as one human-readable line. */
void event(enum event_kind kind, const char *id, ...)
	__attribute__((sentinel));

/* A number as a value; good until 16 more were made. */
struct slice event_number(int64_t number);

/* Have LOGDIR/events.jsonl lead to today's file, for programs that want one
 * name: by a rename, so that it is there at any time.  For the supervisor, at
 * the start and at midnight. */
void event_link_today(void);

/* Write what was collected.  Never fails: what cannot be written (disk full)
 * waits for the next flush, which is said once a minute on stderr; of a
 * process at most 1 MiB, beyond that lines are lost, and journal.lost tells
 * how many as soon as it can. */
void event_flush(void);

#endif
