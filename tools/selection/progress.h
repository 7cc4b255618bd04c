/* progress.h - a line on a terminal while an order takes its time
 *
 * In a pipe there is nothing.  From progress_begin to progress_end an
 * interrupt (ctrl-C) does not end the program: it asks the work to stop after
 * the step at hand, so that it can say what was done.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SELECTION_PROGRESS_H
#define ZM_SELECTION_PROGRESS_H

#include <signal.h>

#include "base/str.h"

struct selection_progress {
	const char	*verb, *done;	/* "hold", "held" */
	uint64_t	 total;		/* messages */
	int64_t		 begun_us, shown_us;
	bool		 is_terminal, is_shown;
	struct sigaction before;
};

/* Begin; verb and done are borrowed until the end. */
void progress_begin(struct selection_progress *progress, const char *verb,
    const char *done, uint64_t total);
/* So many are done.  A second after the beginning the line appears.
 * returns false: somebody interrupted, stop now */
bool progress_step(struct selection_progress *progress, uint64_t count);
/* Before something else is printed: take the line away until the next step. */
void progress_hide(struct selection_progress *progress);
/* Take the line away; who interrupted is told what was done.
 * returns true: it was interrupted */
bool progress_end(struct selection_progress *progress, uint64_t count);
/* The line, without its CR (pure): "1200 of 5000 messages held, 800 a second,
 * 5s left". */
void progress_add(struct str *out, const struct selection_progress *progress,
    uint64_t count, int64_t span_us);

#endif
