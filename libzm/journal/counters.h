/* counters.h - what the processes count, in memory that they share
 *
 * Every process that writes events maps a small file beside the journal; adding
 * to one of its numbers is an atomic instruction and no system call.  (The sum
 * of a histogram is collected in the process and added once a turn.)  Numbers
 * only grow, also over restarts.  The file's name depends on the rows of
 * metrics.h, so that another version never adds to the wrong rows.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_COUNTERS_H
#define ZM_BASE_COUNTERS_H

#include <stdint.h>

#include "journal/event.h"

/* Map the file in that directory, and create it if it is missing.  Without it
 * counting does nothing.  Called by event_open_fd; -1 unmaps. */
void counters_open(int log_dir_fd);
/* Map it for reading only.  0; -1: there is none (nobody counted yet). */
int counters_read(int log_dir_fd);

struct counters_pair {
	const char	*key;
	struct slice	 value;
};

/* An event happened, with these pairs. */
void counters_event(enum event_kind kind, const struct counters_pair *pairs,
    size_t count);

/* Count what happens too often for an event of its own, or is not one. */
enum counters_tally { TALLY_LOOKUP_FOUND, TALLY_LOOKUP_NONE,
	TALLY_LOOKUP_TROUBLE, TALLY_LIMIT_HIT, TALLY_SESSIONS, TALLY_COMMAND,
	TALLY_MILTER, TALLY_NOTIFY_SENT, TALLY_NOTIFY_BEHIND,
	TALLY_NOTIFY_FAILED, TALLY_CONFIG_DRIFT,
	TALLY_COPIES_MADE, TALLY_COPIES_FAILED, TALLY_COUNT };
void counters_tally(enum counters_tally tally);
/* The same with a label and a number: microseconds of a span, a level. */
void counters_tell(enum counters_tally tally, struct slice label,
    int64_t number);
/* Count that a limit (the NAME of `limit NAME`) stopped something. */
void counters_limit(const char *name);

/* Add what was collected; event_flush calls this. */
void counters_flush(void);

/* The number of a metric (without prefix and suffix) with these labels, summed
 * over all channels (or whatever else distinguishes its rows).  0: nothing is
 * mapped, or there is no such row. */
uint64_t counters_sum(const char *metric, const char *labels);
/* The name of a channel in metrics: its own, or "other". */
const char *counters_channel(struct slice channel);
/* The i-th of these names; NULL after the last. */
const char *counters_channel_name(unsigned i);

/* ---- text ------------------------------------------------------------- */

/* Append all counters as OpenMetrics text, without the final "# EOF". */
void counters_print(struct str *out);
/* Append TYPE and HELP of a metric that is looked up; it must have a row. */
void counters_print_head(struct str *out, const char *metric);
/* Append NAME="value", escaped as necessary. */
void counters_print_label(struct str *out, const char *name,
    struct slice value);
/* Append a histogram that is looked up: its head, and how many of the count
 * spans (in seconds) were at most each bound of delivery_delay_seconds. */
void counters_print_ages(struct str *out, const char *metric,
    const int64_t *ages_s, size_t count);

struct counters_about {
	char		 name[80];	/* as in the text, with its suffix */
	const char	*type, *labels, *text;
};

/* Metric i, in the order of the text; false after the last.  labels: their
 * names, separated by commas; "" none. */
bool counters_about(unsigned i, struct counters_about *out);

#endif
