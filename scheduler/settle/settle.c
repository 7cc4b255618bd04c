/* settle.c - jobs of which nothing is under way: done, or owing a report
 *
 * In     jobs with new outcomes
 * Out    jobs in the lists OWING and REPORT, or in the group
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

void
settle_owing(struct queue *queue, struct job *job)
{
	if (job_is_finished(job) || job_is_in(job, JOB_REPORT) ||
	    job_is_in(job, JOB_OWING))
		return;
	job->owing_s = (uint32_t)(clock_steady_ms() / 1000);
	job_list_add(&queue->jobs, JOB_OWING, job);
}

void
settle_tick(struct queue *queue)
{
	const struct job_list *owing = &queue->jobs.lists[JOB_OWING];
	int64_t before_s = (clock_steady_ms() - SETTLE_OWING_MS) / 1000;

	/* From the end: what is taken out is replaced by the last one. */
	for (size_t i = owing->count; i-- > 0;) {
		struct job *job = owing->jobs[i];

		if (job->owing_s <= before_s)
			settle_report(queue, job);
	}
}

void
settle_job(struct group *group, struct job *job)
{
	if ((job->flags & JOB_RELOAD) || job_is_finished(job) ||
	    job_is_in(job, JOB_REPORT))
		return;
	if (job->final_count == job->rcpt_count) {
		if ((job->flags & JOB_OWES) && (job->flags & JOB_AWAITED))
			settle_owing(group->queue, job);
		else if (job->flags & JOB_OWES)
			settle_report(group->queue, job);
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
