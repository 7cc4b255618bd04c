/* mailq_show.h - the scheduler's lines of JSON in the words of ZMailer's mailq
 *
 * Pure: a line in, text out.  doc/protocol/mailq.md section 5.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_MAILQ_SHOW_H
#define ZM_GRAMMAR_MAILQ_SHOW_H

#include "base/str.h"

/* What a report counts from line to line. */
struct show {
	int64_t		 now_s;
	uint64_t	 threads, recipients;
	const char	*channel, *host;	/* SHOW THREAD; else NULL */
};

typedef void show_fn(struct show *show, struct slice line, struct str *out);

/* For lines of the request `queue`: show_thread writes one for people,
 * show_thread2 for programs; show_counters only counts it; show_totals writes
 * the last line of a report. */
show_fn show_thread, show_thread2, show_totals, show_counters;
/* A line of the request `groups`. */
show_fn show_group;
/* A line of the request `list`: a recipient. */
show_fn show_rcpt;
/* The line that begins with #, for the thread that show asks about. */
show_fn show_thread_head;

#endif
