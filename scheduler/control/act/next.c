/* next.c - when everything that waits is tried next
 *
 * In     the table of jobs
 * Out    a line a vertex with a moment of its own
 * Holds  the walk
 * Spec   doc/protocol/control.md sections 1.1 and 4
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

static void
next_add_vertex(const struct vertex *vertex, struct str *out)
{
	if (vertex->state != VERTEX_WAIT || vertex->rcpt_count == 0)
		return;
	json_open(out);
	json_number(out, "file", (int64_t)vertex->job->inode);
	json_number(out, "offset", vertex_rcpts(vertex)->offset);
	json_number(out, "next", act_wall_s(vertex->next_ms > 0 ?
	    vertex->next_ms : vertex->moment_ms));
	json_close(out);
}

/* The vertices of a message from where the step before stopped.  False: the
 * step is over. */
static bool
next_add_job(struct act *act, const struct job *job, struct str *out)
{
	size_t *at = &act->page.rcpt;

	while (*at < job->vertex_count) {
		if (out->len >= ACT_OUT_BYTES) {
			act->page.inode = job->inode;
			return false;
		}
		next_add_vertex(&job->vertices[(*at)++], out);
	}
	act->page.inode = 0;
	*at = 0;
	return true;
}

enum act_step
act_next(struct act *act, struct str *out)
{
	const struct job_table *jobs = &act->queue->jobs;
	struct job_walk *walk = &act->visit.walk;
	unsigned slots = ACT_LOOKS;
	const struct job *job;

	if (!act->is_begun)
		job_walk_init(walk, jobs);
	act->is_begun = true;
	job = act->page.inode == 0 ? NULL : job_table_find(jobs,
	    act->page.inode);
	if (job == NULL)
		act->page.rcpt = 0;
	do
		if (job != NULL && !next_add_job(act, job, out))
			return ACT_MORE;
	while (out->len < ACT_OUT_BYTES &&
	    (job = job_walk_next(walk, jobs, &slots)) != NULL);
	if (!walk->is_over)
		return ACT_MORE;
	if (!act->request.is_brief) {
		act_done(act, out);
		json_close(out);
	}
	return ACT_DONE;
}
