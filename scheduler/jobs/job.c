/* job.c - jobs: their one block of memory, and what can be asked of it
 *
 * In     counts that the control file's parser has bounded
 * Out    jobs; which of their outcomes somebody wants to hear of
 * Holds  two descriptors a job, while somebody needs them
 *
 * SPDX-License-Identifier: ISC
 */
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "scheduler/jobs/job.h"
#include "scheduler/jobs/pending.h"

#include "base/banned.h"

unsigned
rcpt_notify(const struct control_file *control, const struct control_rcpt *rcpt)
{
	unsigned notify = rcpt->notify;

	if (control->terms.by_s == 0 || (notify & DSN_NOTIFY_NEVER))
		return notify;
	if (notify == DSN_NOTIFY_DEFAULT)
		notify = DSN_NOTIFY_FAILURE | DSN_NOTIFY_DELAY;
	if (!control->terms.by_returns)
		notify |= DSN_NOTIFY_DELAY;
	if (control->terms.by_traces)
		notify |= NOTIFY_TRACE;
	return notify;
}

bool
rcpt_owes(const struct control_file *control, const struct control_rcpt *rcpt)
{
	return !rcpt->is_cancelled && !rcpt->is_reported &&
	    job_owes(rcpt_notify(control, rcpt), rcpt->last->verdict.kind);
}

bool
job_owes(unsigned notify, enum verdict_kind kind)
{
	switch (kind) {
	case VERDICT_FAILED:
		return dsn_wants(notify, DSN_NOTIFY_FAILURE);
	case VERDICT_DELIVERED:
	case VERDICT_EXPANDED:
		return dsn_wants(notify, DSN_NOTIFY_SUCCESS) ||
		    (notify & NOTIFY_TRACE) != 0;
	case VERDICT_DEFERRED:
		return dsn_wants(notify, DSN_NOTIFY_DELAY);
	case VERDICT_RELAYED:
		return (notify & NOTIFY_TRACE) != 0;
	default:
		return false;
	}
}

struct job *
job_new(size_t vertex_count, size_t rcpt_count)
{
	size_t vertex_bytes = vertex_count * sizeof(struct vertex);
	struct job *job = mem_alloc(1, sizeof(*job) + vertex_bytes +
	    rcpt_count * sizeof(struct rcpt));

	job->rcpts = (struct rcpt *)&job->vertices[vertex_count];
	job->vertex_count = (uint32_t)vertex_count;
	job->rcpt_count = (uint32_t)rcpt_count;
	job->control_fd = job->body_fd = -1;
	for (size_t i = 0; i < vertex_count; i++) {
		job->vertices[i].job = job;
		job->vertices[i].heap_index = HEAP_NONE;
	}
	return job;
}

void
job_close(struct job *job)
{
	if (job->control_fd >= 0)
		close(job->control_fd);
	if (job->body_fd >= 0)
		close(job->body_fd);
	job->control_fd = job->body_fd = -1;
}

void
job_rest(struct job *job)
{
	if (job->flight_count > 0 || job->unsent > 0 ||
	    (job->flags & JOB_WRITING))
		return;
	for (enum job_list_name name = 0; name < JOB_LISTS; name++)
		if (name != JOB_OWING && name != JOB_KEPT &&
		    job_is_in(job, name))
			return;
	job_close(job);
}

/* Nobody may know it any more. */
static void
job_check_free(const struct job *job)
{
	for (enum job_list_name name = 0; name < JOB_LISTS; name++)
		if (job_is_in(job, name))
			panic("job %s is freed in list %d", job->id,
			    (int)name);
	if (job->flags & JOB_WRITING)
		panic("job %s is freed while its report is written",
		    job->id);
	for (uint32_t i = 0; i < job->vertex_count; i++)
		if (job->vertices[i].state != VERTEX_IDLE &&
		    job->vertices[i].state != VERTEX_DONE)
			panic("job %s is freed with a vertex in state %d",
			    job->id, job->vertices[i].state);
}

void
job_free(struct job **pjob)
{
	if (*pjob == NULL)
		return;
	job_check_free(*pjob);
	job_close(*pjob);
	pending_release(*pjob);
	mem_free(pjob);
}

/* The recipients stand in the order of the file: offsets rise. */
struct rcpt *
vertex_rcpt(const struct vertex *vertex, uint32_t offset)
{
	struct rcpt *rcpts = vertex_rcpts(vertex);
	size_t low = 0, high = vertex->rcpt_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rcpts[middle].offset == offset)
			return &rcpts[middle];
		if (rcpts[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
