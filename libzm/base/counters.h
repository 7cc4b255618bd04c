/* counters.h - what the processes count, in memory that they share
 *
 * A small file beside the journal is mapped by every process that writes
 * events; adding to a number of it is one atomic instruction and no system
 * call.  Numbers only grow, over restarts too; the file's name changes with
 * the rows of metrics.h, so another version never adds to other rows.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_COUNTERS_H
#define ZM_BASE_COUNTERS_H

#include <stdint.h>

#include "base/event.h"

/* Map the file in that directory, which is made if it must be.  Without it
 * counting does nothing.  Called by event_open_fd; -1 unmaps. */
void counters_open(int log_dir_fd);
/* Map it for reading alone.  0; -1: there is none (nobody counted yet). */
int counters_read(int log_dir_fd);

/* An event happened: its kind, then each of its pairs. */
void counters_event(enum event_kind kind);
void counters_pair(enum event_kind kind, const char *key,
    struct slice value);

/* What happens too often for an event of its own. */
enum counters_tally { TALLY_LOOKUP_FOUND, TALLY_LOOKUP_NONE,
	TALLY_LOOKUP_TROUBLE, TALLY_COUNT };
void counters_tally(enum counters_tally tally);

/* The number of a metric (without prefix and suffix) with these labels; over
 * all channels where it has them.  0: nothing is mapped, or no such row. */
uint64_t counters_sum(const char *metric, const char *labels);

/* All of it as OpenMetrics text, without the final "# EOF". */
void counters_print(struct str *out);

#endif
