/* arrive.c - how long mail takes to arrive
 *
 * In     a vertex or thread; the records of arrivals
 * Out    what is said of it; a line a destination
 * Holds  nothing
 * Spec   doc/protocol/control.md section 4, why and arrivals
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/act/act.h"
#include "scheduler/control/control.h"
#include "scheduler/plan/arrivals/estimate.h"

#include "base/banned.h"

/* ---- estimates ------------------------------------------------------- */

/* How many were judged, and how many of them held. */
static void
arrive_add_honesty(const struct arrive *arrive, struct str *out)
{
	json_number(out, "estimates", arrive->judged);
	json_number(out, "estimates_held", arrive->held);
}

void
control_estimate(struct queue *queue, struct vertex *vertex, struct str *out)
{
	int64_t now_ms = clock_steady_ms();
	struct estimate estimate;

	estimate_vertex(queue, vertex, now_ms, &estimate);
	estimate_promise(queue, vertex, &estimate, now_ms);
	json_number(out, "expected", estimate.kind == ESTIMATE_KNOWN ?
	    act_wall_s(estimate.at_ms + 999) : 0);
	json_text(out, "expected_code",
	    slice_of(estimate_names[estimate.kind]));
	if (estimate.kind != ESTIMATE_KNOWN)
		return;
	json_text(out, "expected_by", estimate.is_own ?
	    SLICE("destination") : SLICE("channel"));
	arrive_add_honesty(&estimate.by->arrive, out);
}

void
control_estimate_thread(const struct queue *queue,
    const struct thread *thread, struct str *out)
{
	const struct arrival *arrival = arrivals_find(&queue->arrivals,
	    thread->channel, thread->host);
	int64_t now_ms = clock_steady_ms();
	struct estimate estimate;

	estimate_thread(queue, thread, now_ms, &estimate);
	json_number(out, "expected_s", estimate.kind == ESTIMATE_KNOWN ?
	    (estimate.at_ms - now_ms + 999) / 1000 : -1);
	if (arrival != NULL)
		arrive_add_honesty(&arrival->arrive, out);
}

/* ---- arrivals -------------------------------------------------------- */

/* In seconds; -1: not known. */
static int64_t
arrival_within_s(const struct arrival *arrival, unsigned percent)
{
	int64_t within_ms = arrive_within_ms(&arrival->arrive, percent, 0);

	return within_ms < 0 ? -1 : within_ms / 1000;
}

static void
arrivals_add_row(const struct arrival *arrival, struct str *out)
{
	json_open(out);
	json_text(out, "channel", slice_of(arrival->channel));
	json_text(out, "host", slice_of(arrival->host));
	json_number(out, "arrived", arrive_count(&arrival->arrive));
	json_number(out, "p50_s", arrival_within_s(arrival, 50));
	json_number(out, "p90_s", arrival_within_s(arrival, 90));
	json_number(out, "p99_s", arrival_within_s(arrival, 99));
	arrive_add_honesty(&arrival->arrive, out);
	json_number(out, "last", arrival->seen_s);
	json_close(out);
}

enum act_step
act_arrivals(struct act *act, struct str *out)
{
	const struct arrivals *arrivals = &act->queue->arrivals;

	for (; act->bucket < arrivals->size; act->bucket++) {
		const struct arrival *arrival = arrivals->buckets[act->bucket];

		if (out->len >= ACT_OUT_BYTES)
			return ACT_MORE;
		for (; arrival != NULL; arrival = arrival->next) {
			if (!act_is_meant(act, slice_of(arrival->channel),
			    slice_of(arrival->host)))
				continue;
			arrivals_add_row(arrival, out);
			act->count.destinations++;
		}
	}
	act_done(act, out);
	json_number(out, "destinations", (int64_t)act->count.destinations);
	json_close(out);
	return ACT_DONE;
}
