/* read.c - control files into memory
 *
 * In     descriptors of control files
 * Out    what stands in them, in the intake's arena until the next read
 * Holds  one reused buffer and arena
 * Trusts a control file only if control_file_parse does
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "scheduler/intake/intake.h"
#include "scheduler/intake/reading.h"

#include "base/banned.h"

enum intake_read
intake_read_into(struct arena *arena, struct str *text, int fd,
    struct control_file *control, struct err *err)
{
	if (control_file_read(fd, CONTROL_BYTES_MAX, text, err) < 0)
		return INTAKE_NOT_NOW;
	return control_file_parse(arena, str_slice(text), control, err) < 0 ?
	    INTAKE_DAMAGED : INTAKE_READ;
}

enum intake_read
intake_read(struct intake *intake, int fd, struct control_file *control,
    struct err *err)
{
	arena_reset(intake->arena);
	str_reset(&intake->text);
	return intake_read_into(intake->arena, &intake->text, fd, control,
	    err);
}

enum intake_read
intake_read_small(struct intake *intake, int fd, struct control_file *control,
    struct err *err)
{
	bool is_all;

	arena_reset(intake->arena);
	if (control_file_read_front(fd, &intake->text, &is_all, err) < 0)
		return INTAKE_NOT_NOW;
	if (!is_all)
		return reading_is_large(fd) ? INTAKE_LARGE :
		    intake_read(intake, fd, control, err);
	return control_file_parse(intake->arena, str_slice(&intake->text),
	    control, err) < 0 ? INTAKE_DAMAGED : INTAKE_READ;
}

enum intake_read
intake_judge(const struct control_file *control, struct err *err)
{
	for (size_t i = 0; i < control->group_count; i++)
		for (size_t k = 0; k < control->groups[i].rcpt_count; k++)
			if (control->groups[i].rcpts[k].channel.n == 0) {
				err_set(err,
				    "a recipient has no channel");
				return INTAKE_DAMAGED;
			}
	return INTAKE_READ;
}

bool
intake_job_open(struct intake *intake, struct job *job, struct err *err)
{
	char name[SPOOL_NAME_BYTES];

	if (job->control_fd >= 0 && job->body_fd >= 0)
		return true;
	spool_hashed_name(intake->queue->spool, job->inode, name);
	job_close(job);
	if (spool_open_queued(intake->queue->spool, name, &job->control_fd,
	    &job->body_fd, err) == SPOOL_OPEN_DONE)
		return true;
	job->control_fd = job->body_fd = -1;
	return false;
}

enum intake_read
intake_job_read(struct intake *intake, struct job *job,
    struct control_file *control, struct err *err)
{
	enum intake_read got;

	if (!intake_job_open(intake, job, err))
		return INTAKE_NOT_NOW;
	got = intake_read(intake, job->control_fd, control, err);
	if (got == INTAKE_READ && strcmp(control->id, job->id) != 0) {
		err_set(err, "it became the control file of %s", control->id);
		return INTAKE_DAMAGED;
	}
	return got;
}
