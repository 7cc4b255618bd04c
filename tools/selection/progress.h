/* progress.h - a line on a terminal while an order runs
 *
 * Nothing is shown in a pipe.  From progress_begin to progress_end an interrupt
 * (ctrl-C) does not end the program, but asks it to stop after the present
 * step, so that it can say what was done.
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
/* count messages are done.  The line appears a second after the beginning.
 * returns false: interrupted, stop now */
bool progress_step(struct selection_progress *progress, uint64_t count);
/* Remove the line until the next step, before something else is printed. */
void progress_hide(struct selection_progress *progress);
/* Remove the line; after an interrupt say what was done.  returns true: it was
 * interrupted */
bool progress_end(struct selection_progress *progress, uint64_t count);
/* Append the line, without its CR (pure): "1200 of 5000 messages held, 800 a
 * second, 5s left". */
void progress_add(struct str *out, const struct selection_progress *progress,
    uint64_t count, int64_t span_us);

#endif
