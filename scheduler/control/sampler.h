/* sampler.h - the scheduler writes the history
 *
 * Each HISTORY_SAMPLE_S, at the moments that such spans end by the wall
 * clock, what the counters of all processes have grown by and how much there
 * is goes into LOGDIR/history.  A scheduler that is stopped leaves a gap.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SAMPLER_H
#define ZM_SCHEDULER_SAMPLER_H

#include "journal/history.h"
#include "scheduler/agents/agents.h"

struct sampler {
	struct history	 history;
	const struct agents *agents;
	uint64_t	 before[HISTORY_COUNTS];
	int64_t		 before_ms;	/* steady; when that was */
	struct timer	 timer;
};

/* Open the history beside the journal (dir_fd) and begin; without it a
 * warning says why, and none is kept.  agents outlive it, their queue has the
 * history from now on. */
void sampler_open(struct sampler *sampler, const struct agents *agents,
    int dir_fd);
/* The last sample. */
void sampler_close(struct sampler *sampler);

#endif
