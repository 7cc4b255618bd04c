/* turns.c - how long the scheduler is unresponsive at a time, and how
 * much it has read
 *
 * In     what the loop counts of its turns; what waits to be read
 * Out    one line
 * Holds  nothing
 * Spec   doc/protocol/control.md section 4; io/loop.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/act/act.h"
#include "scheduler/intake/intake.h"
#include "scheduler/sharing/sharing.h"

#include "base/banned.h"

static const char *const within_names[LOOP_TURN_BOUNDS] = {
	"within_1ms", "within_10ms", "within_100ms", "within_1s",
	"within_10s"
};

enum act_step
act_turns(struct act *act, struct str *out)
{
	const struct queue *queue = act->queue;
	const struct loop_turns *turns = loop_turns(queue->loop);

	act_done(act, out);
	json_number(out, "up_s", (clock_steady_ms() -
	    queue->started_ms) / 1000);
	json_number(out, "turns", (int64_t)turns->count);
	json_number(out, "busy_us", (int64_t)turns->sum_us);
	json_number(out, "longest_us", turns->longest_us);
	json_number(out, "longest_cpu_us", queue->longest_cpu_us);
	for (int i = 0; i < LOOP_TURN_BOUNDS; i++)
		json_number(out, within_names[i], (int64_t)turns->within[i]);
	json_number(out, "read", (int64_t)queue->jobs.count);
	json_number(out, "unread", (int64_t)intake_unread(act->intake));
	if (!sharing_may_deliver(queue->sharing))
		json_text(out, "lease", slice_of(sharing_why(
		    queue->sharing)));
	json_close(out);
	return ACT_DONE;
}
