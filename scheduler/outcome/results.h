/* results.h - telling outcomes to the site's script (on_result)
 *
 * A process of its own calls the script, and nobody waits for it.  If it is
 * slow, outcomes are dropped (event hook.trouble says how many), never mail.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_RESULTS_H
#define ZM_SCHEDULER_RESULTS_H

#include "daemon/skeleton.h"
#include "scheduler/jobs/answer.h"
#include "scheduler/outcome/orderer.h"
#include "scheduler/plan/queue.h"

enum {
	RESULTS_WAITING_BYTES_MAX = 4 << 20,	/* not yet read by it */
	RESULTS_LOOK_MS = 1000,		/* it looks at the script's file */
	RESULTS_ANSWER_MS = 10000,	/* and the time of a call: then an
					 * answer is late */
	RESULTS_AGAIN_MS = 60000	/* late wait: asked again */
};

struct results;

/* Start the process, if a script is configured; NULL: there is none.  Its
 * orders go through connect. */
struct results *results_new(struct process *process, struct queue *queue,
    orderer_connect_fn *connect);
/* The configuration was replaced. */
void results_renew(struct results **results, struct process *process,
    struct queue *queue, orderer_connect_fn *connect);
void results_free(struct results **results);

/* Tell one outcome, with the tries up to this one.  Does nothing unless the
 * script has on_result. */
void results_tell(struct results *results, const struct vertex *vertex,
    uint32_t offset, const struct answer *answer);

/* A vertex was taken to be given to an agent: it waits for the answer of the
 * script's before_attempt instead (PARK_ASKED), for a bounded time.  After
 * leave to go it is ready and allowed; other answers are orders, after which
 * its message is read again. */
void results_ask(struct results *results, struct queue *queue,
    struct vertex *vertex);
/* That time is over: the vertex, which is IDLE, goes on, or waits to be asked
 * about again, as the statement hooks says. */
void results_late(struct results *results, struct queue *queue,
    struct vertex *vertex);

#endif
