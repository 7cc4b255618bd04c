/* visit_open.c - a message that a request means is opened
 *
 * In     a job
 * Out    what its control file says, and its recipients in memory
 * Holds  one message; what was read of it, when it stays open over steps
 * Trusts control files as far as control_file_parse does
 * Spec   visit.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "scheduler/control/visit.h"

#include "base/banned.h"

/* ---- one message ------------------------------------------------- */

static void
visit_fill_rcpts(struct control_visit *visit, struct job *job)
{
	if (visit->rcpt_capacity < job->rcpt_count) {
		visit->rcpt_capacity = job->rcpt_count;
		visit->rcpts = mem_grow(visit->rcpts, visit->rcpt_capacity,
		    sizeof(*visit->rcpts));
	}
	visit->rcpt_count = job->rcpt_count;
	visit->vertex_count = job->vertex_count;
	if (!visit_rcpts_list(job, visit->rcpts))
		visit_rcpts_sort(visit->rcpts, visit->rcpt_count);
}

static int
visit_file_open(struct intake *intake, const struct job *job)
{
	char name[SPOOL_NAME_BYTES];

	if (job->control_fd >= 0)
		return job->control_fd;
	spool_hashed_name(intake->queue->spool, job->inode, name);
	return openat(spool_dir_fd(intake->queue->spool, AREA_TRANSPORT, 0),
	    name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static void
visit_file_close(const struct job *job, int fd)
{
	if (fd >= 0 && fd != job->control_fd)
		close(fd);
}

/* Only look: one descriptor, no lock.  True: control is filled. */
static bool
visit_look_at_file(struct intake *intake, const struct job *job,
    struct control_file *control)
{
	int fd = visit_file_open(intake, job);
	enum intake_read got;
	struct err err;

	if (fd < 0)
		return false;
	got = intake_read(intake, fd, control, &err);
	visit_file_close(job, fd);
	return got == INTAKE_READ && strcmp(control->id, job->id) == 0;
}

static bool
visit_read(struct control_visit *visit, struct job *job, bool is_change)
{
	struct err err;

	if (!is_change)
		return visit_look_at_file(visit->intake, job, &visit->control);
	/* what is another's is not opened for a change */
	if (visit->user != NULL && (!visit_look_at_file(visit->intake, job,
	    &visit->control) || !slice_is(visit->control.user, visit->user)))
		return false;
	return intake_job_read(visit->intake, job, &visit->control, &err) ==
	    INTAKE_READ;
}

/* ---- a large one -------------------------------------------------- */

bool
visit_is_reading(const struct control_visit *visit)
{
	return visit->opening != NULL && !opening_is_ready(visit->opening);
}

/* True: it is being opened beside the loop. */
static bool
visit_open_later(struct control_visit *visit, struct job *job)
{
	int fd = visit->may_wait && job->rcpt_total >= JOB_LARGE_RCPTS ?
	    visit_file_open(visit->intake, job) : -1;

	if (fd >= 0 && opening_is_due(job, fd))
		visit->opening = opening_new(visit->intake, job, fd,
		    visit->wake, visit->wake_context);
	visit_file_close(job, fd);
	return visit->opening != NULL;
}

/* Where its recipients are in memory now.  False: that is being found out. */
static bool
visit_take_rcpts(struct control_visit *visit, struct job *job)
{
	struct opening *opening = visit->opening;

	if (opening->serial != visit->queue->jobs.serial) {
		opening_again(opening, job, visit->queue->jobs.serial);
		return false;
	}
	if (opening->rcpts != NULL) {
		mem_free(&visit->rcpts);
		visit->rcpts = opening->rcpts;
		visit->rcpt_count = opening->rcpt_count;
		visit->rcpt_capacity = opening->rcpt_count + 1;
		opening->rcpts = NULL;
	}
	visit->job = job;
	visit->vertex_count = job->vertex_count;
	return true;
}

/* What was being opened is ready. */
static bool
visit_take_opening(struct control_visit *visit, struct job *job,
    bool is_change)
{
	const struct intake_reading *reading = visit->opening->reading;
	struct err err;

	if (reading->got != INTAKE_READ ||
	    strcmp(reading->control.id, job->id) != 0 ||
	    (visit->user != NULL && !slice_is(reading->control.user,
	    visit->user)) || (is_change && !intake_job_open(visit->intake, job,
	    &err))) {
		opening_leave(&visit->opening);
		return false;
	}
	if (!visit_take_rcpts(visit, job))
		return false;
	visit->control = reading->control;
	visit->number = visit->opening->number;
	visit->opening->is_taken = visit->is_kept = true;
	visit->is_change = is_change;
	return true;
}

/* Others ordered or told while it was being read. */
static bool
visit_opening_is_past(const struct control_visit *visit, const struct job *job)
{
	return visit->opening->number !=
	    job_table_number(&visit->queue->jobs, job);
}

struct job *
visit_opened_job(struct control_visit *visit)
{
	const struct opening *opening = visit->opening;
	struct job *job;

	if (opening == NULL || opening->is_taken || !opening_is_ready(opening))
		return NULL;
	job = job_table_find(&visit->queue->jobs, opening->inode);
	if (job != NULL && !visit_job_is_over(job))
		return job;
	visit->busy += job == NULL && intake_reads_again(visit->intake,
	    opening->inode);
	opening_leave(&visit->opening);
	visit->is_kept = false;
	return NULL;
}

bool
visit_open(struct control_visit *visit, struct job *job, bool is_change)
{
	visit->now_s = clock_wall_s();
	visit->now_ms = clock_steady_ms();
	if (visit->opening != NULL && !(is_change &&
	    visit_opening_is_past(visit, job)))
		return visit_take_opening(visit, job, is_change);
	opening_leave(&visit->opening);
	if (visit_open_later(visit, job))
		return false;
	if (!visit_read(visit, job, is_change))
		return false;
	visit->job = job;
	visit->is_change = is_change;
	visit->number = job_table_number(&visit->queue->jobs, job);
	if (visit->user != NULL && !slice_is(visit->control.user, visit->user))
		return false;
	visit_fill_rcpts(visit, job);
	return true;
}

/* ---- over several steps ------------------------------------------ */

void
visit_keep(struct control_visit *visit)
{
	struct intake *intake = visit->intake;

	if (visit->is_kept)
		return;
	visit->is_kept = true;
	visit->arena = intake->arena;
	visit->text = intake->text;
	intake->arena = arena_new();
	str_init(&intake->text);
}

struct job *
visit_job(const struct control_visit *visit)
{
	struct job *job = job_table_find(&visit->queue->jobs,
	    visit->last.inode);

	return job == NULL || visit_job_is_over(job) ||
	    strcmp(job->id, visit->control.id) != 0 ? NULL : job;
}

void
visit_written(struct control_visit *visit)
{
	job_written(&visit->queue->jobs, visit->job);
	visit->number = job_table_number(&visit->queue->jobs, visit->job);
}

/* The recipients stand where they stood, so who has it open goes on from
 * there. */
static bool
visit_read_anew(struct control_visit *visit, struct job *job)
{
	visit_leave(visit);
	visit->job = job;
	return visit_open(visit, job, true) || visit->opening != NULL;
}

/* The job may have gone, or been read anew and be another block; it may even
 * lie where the old one lay, which matters to those who change it. */
bool
visit_resume(struct control_visit *visit)
{
	struct job *job = visit_job(visit);

	visit->now_s = clock_wall_s();
	visit->now_ms = clock_steady_ms();
	if (job == NULL || visit_is_reading(visit))
		return job != NULL;
	if (visit->opening != NULL && !visit->opening->is_taken)
		return visit_open(visit, job, visit->is_change) ||
		    visit->opening != NULL;
	if (visit->is_change &&
	    visit->number != job_table_number(&visit->queue->jobs, job))
		return visit_read_anew(visit, job);
	if (visit->opening != NULL) {
		visit->job = job;	/* also while it is being found out */
		(void)visit_take_rcpts(visit, job);
		return true;
	}
	if (visit->is_change || job != visit->job ||
	    job->vertex_count != visit->vertex_count) {
		visit->job = job;
		visit_fill_rcpts(visit, job);
	}
	return true;
}

void
visit_leave(struct control_visit *visit)
{
	if (visit->opening != NULL) {
		opening_leave(&visit->opening);
	} else if (visit->is_kept) {
		arena_free(&visit->arena);
		str_release(&visit->text);
	}
	visit->is_kept = false;
}
