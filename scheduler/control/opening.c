/* opening.c - a large control file is opened for a request beside the loop
 *
 * In     a job and its control file
 * Out    what stands in it, and where its recipients are in memory
 * Holds  both, as long as the request has the message open
 * Trusts control files as far as control_file_parse does
 * Spec   io/sync.h: a thread touches nothing that others have
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "base/mem.h"
#include "scheduler/control/opening.h"

#include "base/banned.h"

/* ---- recipients in memory ---------------------------------------- */

static int
visit_rcpt_compare(const void *pa, const void *pb)
{
	const struct visit_rcpt *a = pa, *b = pb;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

bool
visit_rcpts_list(const struct job *job, struct visit_rcpt *out)
{
	bool is_sorted = true;
	size_t count = 0;

	for (size_t i = 0; i < job->vertex_count; i++) {
		const struct vertex *vertex = &job->vertices[i];

		for (size_t k = 0; k < vertex->rcpt_count; k++) {
			uint32_t offset = vertex_rcpts(vertex)[k].offset;

			is_sorted = is_sorted && (count == 0 ||
			    out[count - 1].offset < offset);
			out[count++] = (struct visit_rcpt){ offset,
			    (uint32_t)i };
		}
	}
	return is_sorted;
}

void
visit_rcpts_sort(struct visit_rcpt *rcpts, size_t count)
{
	qsort(rcpts, count, sizeof(*rcpts), visit_rcpt_compare);
}

/* ---- a large file ------------------------------------------------ */

static void
opening_free(struct opening *opening)
{
	reading_free(&opening->reading);
	mem_free(&opening->rcpts);
	mem_free(&opening);
}

static void
opening_work_sort(void *context)
{
	struct opening *opening = context;

	visit_rcpts_sort(opening->rcpts, opening->rcpt_count);
}

static void
opening_on_ready(void *context)
{
	struct opening *opening = context;

	if (opening->is_left)
		opening_free(opening);
	else if (opening->wake != NULL)
		opening->wake(opening->wake_context);
}

/* 8 bytes a recipient, in the loop, because the job is nobody else's. */
static void
opening_list(struct opening *opening, const struct job *job, uint32_t serial)
{
	opening->serial = serial;
	opening->rcpt_count = job->rcpt_count;
	opening->rcpts = mem_grow(opening->rcpts, job->rcpt_count + 1,
	    sizeof(*opening->rcpts));
	(void)visit_rcpts_list(job, opening->rcpts);
}

bool
opening_is_due(const struct job *job, int control_fd)
{
	return job->rcpt_total >= JOB_LARGE_RCPTS &&
	    reading_is_large(control_fd);
}

struct opening *
opening_new(struct intake *intake, const struct job *job, int control_fd,
    loop_fn *wake, void *wake_context)
{
	struct opening *opening = mem_alloc(1, sizeof(*opening));

	opening->inode = job->inode;
	opening->number = job_table_number(&intake->queue->jobs, job);
	opening->wake = wake;
	opening->wake_context = wake_context;
	opening_list(opening, job, intake->queue->jobs.serial);
	reading_begin(intake, control_fd, READING_WHOLE,
	    &(struct reading_steps){ opening_work_sort, opening_on_ready,
	    opening }, &opening->reading);
	return opening;
}

void
opening_again(struct opening *opening, const struct job *job, uint32_t serial)
{
	opening_list(opening, job, serial);
	reading_go_on(opening->reading, false, opening_work_sort,
	    opening_on_ready);
}

bool
opening_is_ready(const struct opening *opening)
{
	return opening->reading->is_done;
}

void
opening_leave(struct opening **popening)
{
	struct opening *opening = *popening;

	*popening = NULL;
	if (opening == NULL)
		return;
	opening->is_left = true;
	if (opening->reading->is_done)
		opening_free(opening);
}
