/* settle.c - jobs of which nothing is under way: done, or owing a report
 *
 * In     jobs with new outcomes
 * Out    jobs in the lists OWING, KEPT and REPORT, or in the group
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "scheduler/settle/settle.h"

#include "base/banned.h"

void
settle_report(struct queue *queue, struct job *job)
{
	if (!job_is_finished(job))
		job_list_add(&queue->jobs, JOB_REPORT, job);
}

/* It owes a report, but others of it may still fail soon: wait a while. */
static void
settle_owing(struct queue *queue, struct job *job)
{
	if (job_is_finished(job) || job_is_in(job, JOB_REPORT) ||
	    job_is_in(job, JOB_OWING))
		return;
	job->report_s = (uint32_t)((clock_steady_ms() + SETTLE_OWING_MS) /
	    1000);
	job_list_add(&queue->jobs, JOB_OWING, job);
}

void
settle_report_later(struct queue *queue, struct job *job)
{
	if (job_is_finished(job))
		return;
	job->report_s = (uint32_t)(clock_steady_ms() / 1000);
	job_list_add(&queue->jobs, JOB_OWING, job);
}

void
settle_keep(struct queue *queue, struct job *job, int64_t until_s)
{
	if (until_s == 0) {
		job_list_remove(&queue->jobs, JOB_KEPT, job);
		return;
	}
	job->report_s = (uint32_t)(clock_steady_ms() / 1000 + until_s -
	    clock_wall_s());
	job_list_add(&queue->jobs, JOB_KEPT, job);
}

/* From the end: what is taken out is replaced by the last one. */
static void
settle_report_list(struct queue *queue, enum job_list_name name,
    int64_t until_s)
{
	const struct job_list *list = &queue->jobs.lists[name];

	for (size_t i = list->count; i-- > 0;)
		if (list->jobs[i]->report_s <= until_s)
			settle_report(queue, list->jobs[i]);
}

void
settle_kept(struct queue *queue)
{
	settle_report_list(queue, JOB_KEPT, INT64_MAX);
}

void
settle_tick(struct queue *queue)
{
	int64_t now_s = clock_steady_ms() / 1000;

	settle_report_list(queue, JOB_OWING, now_s);
	settle_report_list(queue, JOB_KEPT, now_s);
}

void
settle_job(struct group *group, struct job *job)
{
	/* what is being told ends first, and calls again */
	if ((job->flags & (JOB_RELOAD | JOB_WRITING)) ||
	    job_is_finished(job) || job_is_in(job, JOB_REPORT))
		return;
	if (job->final_count == job->rcpt_count) {
		if ((job->flags & JOB_OWES) && (job->flags & JOB_AWAITED))
			settle_owing(group->queue, job);
		else if (job->flags & JOB_OWES)
			settle_report(group->queue, job);
		else if (job_is_in(job, JOB_KEPT))
			job_rest(job);
		else
			group_finish(group, job);
		return;
	}
	if ((job->flags & JOB_OWES) && job->flight_count == 0 &&
	    job->ready_count == 0)
		settle_report(group->queue, job);
	else if (job->flags & JOB_OWES)
		settle_owing(group->queue, job);
}
