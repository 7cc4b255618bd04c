/* job.c - the parts of one message, as memory has them
 *
 * In     the inode of its control file
 * Out    a line a vertex: where it goes, its state, when it is due
 * Holds  nothing; the message may go, or come anew, between the steps
 * Trusts nobody: the file is read when only its owner may see it
 * Spec   doc/protocol/control.md sections 1.1 and 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

static void
job_add_vertex(const struct vertex *vertex, struct str *out)
{
	static const char *const states[] = {
		[VERTEX_IDLE] = "idle", [VERTEX_WAIT] = "waiting",
		[VERTEX_READY] = "ready", [VERTEX_FLIGHT] = "active",
		[VERTEX_DONE] = "done", [VERTEX_PARKED] = "parked"
	};
	int64_t next_ms = vertex->state == VERTEX_WAIT ? vertex->moment_ms :
	    vertex->state == VERTEX_READY ? vertex->thread->wake_ms : 0;

	json_open(out);
	json_text(out, "id", slice_of(vertex->job->id));
	json_text(out, "channel", slice_of(vertex->thread->channel));
	json_text(out, "host", slice_of(vertex->thread->host));
	json_text(out, "state", slice_of(states[vertex->state]));
	json_number(out, "offset", vertex->rcpt_count > 0 ?
	    vertex_rcpts(vertex)->offset : 0);
	json_number(out, "rcpts", vertex->rcpt_count - vertex->final_count);
	json_number(out, "tries", vertex->tries);
	json_number(out, "next", act_wall_s(next_ms));
	json_close(out);
}

/* May the asker know that it is here?  A large file is read beside the loop:
 * not before visit_is_reading is false. */
static bool
job_is_seen(struct act *act, struct job *job)
{
	struct control_visit *visit = &act->visit;
	bool is_own;

	if (act_user(act) == NULL)
		return true;
	visit->queue = act->queue;
	visit->intake = act->intake;
	visit->user = act_user(act);
	act_may_wait(act);
	is_own = visit_open(visit, job, false);
	if (!visit_is_reading(visit))
		visit_leave(visit);
	return is_own;
}

/* The message; NULL: it is not here, or not any more. */
static struct job *
job_look_up(struct act *act)
{
	bool is_busy;
	struct job *job = intake_find(act->intake, (ino_t)act->request.file,
	    &is_busy);

	if (job == NULL || (act->is_begun && strcmp(job->id, act->last_id)))
		return NULL;
	if (!act->is_begun && !job_is_seen(act, job))
		return NULL;
	return job;
}

enum act_step
act_job(struct act *act, struct str *out)
{
	const struct job *job = visit_is_reading(&act->visit) ? NULL :
	    job_look_up(act);
	size_t *at = &act->page.rcpt;

	if (visit_is_reading(&act->visit))
		return ACT_SYNC;
	if (job == NULL && !act->is_begun) {
		act_refuse(out, act->request.tag, "no-such",
		    "no such message here");
		return ACT_DONE;
	}
	if (!act->is_begun)
		strlcpy(act->last_id, job->id, sizeof(act->last_id));
	act->is_begun = true;
	while (job != NULL && *at < job->vertex_count) {
		if (out->len >= ACT_OUT_BYTES)
			return ACT_MORE;
		job_add_vertex(&job->vertices[(*at)++], out);
	}
	if (!act->request.is_brief) {
		act_done(act, out);
		json_number(out, "vertices", (int64_t)*at);
		json_close(out);
	}
	return ACT_DONE;
}
