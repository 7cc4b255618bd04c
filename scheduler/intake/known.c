/* known.c - a job is known from now on
 *
 * In     a job that was built; what other nodes have taken over
 * Out    the job in the table and the lists; or its files in trash/
 * Holds  nothing
 * Spec   intake.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/intake/intake.h"
#include "scheduler/sharing/sharing.h"

#include "base/banned.h"

/* Its file was read again (scan_again), and nobody but agents wrote into it
 * meanwhile. */
static void
again_known(struct intake *intake, const struct job *job)
{
	for (size_t i = 0; i < intake->again_count; i++) {
		if (intake->again[i].inode != job->inode)
			continue;
		job_table_number_set(&intake->queue->jobs, job,
		    intake->again[i].number);
		intake->again[i] = intake->again[--intake->again_count];
		return;
	}
}

bool
intake_job_begin(struct intake *intake, struct job *job, int64_t kept_s)
{
	const char *node;

	job_table_add(&intake->queue->jobs, job);
	again_known(intake, job);
	intake->queue->total.jobs++;
	intake->queue->total.rcpts += job->rcpt_count;
	switch (sharing_fate_of(intake->queue->sharing, job->inode, job->id)) {
	case SHARING_THEIRS:
		node = sharing_taken_by(intake->queue->sharing, job->id);
		group_take_away(intake->group, job, node);
		return false;
	case SHARING_UNKNOWN:		/* read again when it is known */
		queue_drop(intake->queue, job);
		return false;
	case SHARING_OURS:
		break;
	}
	if (job->control_fd >= 0 && job->rcpt_count > 0)
		job_list_add(&intake->queue->jobs, JOB_FRESH, job);
	settle_keep(intake->queue, job, kept_s);
	return true;
}

void
intake_job_end(struct intake *intake, struct job *job)
{
	if (job->rcpt_count == 0 || (job->flags & JOB_OWES))
		settle_job(intake->group, job);
}
