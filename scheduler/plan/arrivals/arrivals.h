/* arrivals.h - how long mail to each destination took to arrive
 *
 * A record a destination, by channel and host, whatever its zone; and one a
 * channel, host "*", for destinations of which too little is known.  They
 * outlive threads: a record is kept for a week after its last delivery, and
 * in RUN/scheduler.arrivals over a restart.  When there are ARRIVALS_MAX, a
 * new destination counts for its channel only.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ARRIVALS_H
#define ZM_SCHEDULER_ARRIVALS_H

#include "scheduler/plan/arrivals/arrive.h"
#include "scheduler/plan/ring.h"
#include "scheduler/plan/runfile.h"

enum {
	ARRIVALS_MAX = 8192,
	ARRIVALS_KEPT_S = 7 * 86400
};

struct arrival {
	struct arrival	*next;
	struct arrive	 arrive;
	int64_t		 seen_s;	/* wall, last delivery */
	int64_t		 last_ms;	/* the same, steady; 0: not since the
					 * start, or none was in line then */
	int64_t		 gap_us;	/* mean, between two while more are in
					 * line; 0: not known */
	const char	*host;		/* after the struct; "*": the channel */
	char		 channel[];
};

struct arrivals {
	struct arrival	**buckets;	/* NULL: not open, nothing is known */
	size_t		 size, count;
	struct runfile	 file;
};

/* Read the file, if there is one; malformed lines are skipped.  An empty
 * run_dir: there is no file. */
void arrivals_open(struct arrivals *arrivals, const char *run_dir);
void arrivals_release(struct arrivals *arrivals);

/* What is known about a destination, or a channel (host "*"); NULL: nothing. */
const struct arrival *arrivals_find(const struct arrivals *arrivals,
    const char *channel, const char *host);

/* A recipient of the thread has its mail.  span_ms: since acceptance; -1: not
 * to be counted, because somebody wanted it later. */
void arrivals_took(struct arrivals *arrivals, const struct thread *thread,
    int64_t span_ms, int64_t now_ms, int64_t now_s);
/* An estimate for a recipient of the thread held, or did not. */
void arrivals_judge(struct arrivals *arrivals, const struct thread *thread,
    bool has_held, int64_t now_s);

/* Forget those without a delivery for ARRIVALS_KEPT_S. */
void arrivals_sweep(struct arrivals *arrivals, int64_t now_s);

/* Lines "CHANNEL TAB HOST TAB SEEN_S TAB" and arrive_add_text; and back. */
void arrivals_add_lines(const struct arrivals *arrivals, struct str *out);
void arrivals_read(struct arrivals *arrivals, struct slice text,
    int64_t now_s);
/* Write text to its file, if it has changed. */
void arrivals_write(struct arrivals *arrivals, const struct str *text);

#endif
