/* event.h - the journal: a line of JSON for each event, joined by the spool id
 *
 * Lines are collected in the process.  event_flush, which every loop calls once
 * a turn and every agent after each job, appends them by one write(2) to
 * LOGDIR/events-YYYY-MM-DD.jsonl (UTC).
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

/* Write lines to this directory from now on.  It is kept open, so it may become
 * unreachable later (chroot).  NULL: lines are dropped (tests, tools).
 * Returns 0, or -1 when the directory cannot be opened. */
int event_open(const char *log_dir);

/* As event_open, with the descriptor of a directory that was opened before
 * privileges were dropped; it is owned here from now on. */
void event_open_fd(int log_dir_fd);
/* Is there a journal to write to? */
bool event_is_kept(void);
/* The descriptor of its directory, for files beside it; borrowed.  -1: there is
 * none. */
int event_dir(void);

/* Note one event.  id: spool id or NULL.  Then pairs of key (const char *)
 * and value (struct slice), ended by NULL:
 *	event(EV_RCPT_OK, id, "to", addr, "code", SLICE("2.0.0"), NULL);
 * A key that the row does not name is a panic.  Warn events go to stderr
 * as well, as one human-readable line. */
void event(enum event_kind kind, const char *id, ...)
	__attribute__((sentinel));

/* A number as a value, valid until 16 more have been made. */
struct slice event_number(int64_t number);

/* Let LOGDIR/events.jsonl lead to today's file, for programs that want one
 * name; it is replaced by a rename, so it exists at any time.  The supervisor
 * calls this at the start and at midnight. */
void event_link_today(void);

/* Write what was collected.  Never fails: lines that cannot be written (disk
 * full) wait for the next flush, and stderr is told once a minute.  At most
 * 1 MiB of a process waits; further lines are lost, and the event journal.lost
 * says how many as soon as it can be written. */
void event_flush(void);

#endif
