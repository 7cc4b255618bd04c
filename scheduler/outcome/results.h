/* results.h - outcomes are told to the site's script (on_result)
 *
 * A process of its own asks the script; nobody waits for it.  When it is
 * slow, outcomes are left out (event hook.trouble says how many), never
 * mail.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_RESULTS_H
#define ZM_SCHEDULER_RESULTS_H

#include "daemon/skeleton.h"
#include "scheduler/jobs/answer.h"
#include "scheduler/plan/ring.h"

enum {
	RESULTS_WAITING_BYTES_MAX = 4 << 20,	/* not yet read by it */
	RESULTS_LOOK_MS = 1000		/* it looks at the script's file */
};

struct results;

/* Start the process where a script is configured; NULL: there is none. */
struct results *results_new(struct process *process);
/* The configuration is another. */
void results_renew(struct results **results, struct process *process);
void results_free(struct results **results);

/* Tell one outcome: tries, this one included.  Costs nothing unless the
 * script has on_result. */
void results_tell(struct results *results, const struct vertex *vertex,
    uint32_t offset, const struct answer *answer);

#endif
