/* source.c - what reports about a job are made of: its control file as read
 *
 * In     a job that owes something
 * Out    its control file; who may be owed a report
 * Holds  one large file at most
 * Trusts the control file as far as control_file_parse does
 * Spec   doc/INTERNALS.md row S3
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "journal/event.h"
#include "base/clock.h"
#include "scheduler/jobs/pending.h"
#include "scheduler/outcome/expire.h"
#include "scheduler/report/bounce.h"
#include "scheduler/report/source.h"

#include "base/banned.h"

enum { SOURCE_OWED = JOB_OWES | JOB_NOTICE };

struct source_kept {
	struct job	*job;
	struct intake_reading *reading;
	struct report_list list;
	struct pending	*pending;	/* the job's, until it is read */
	bool		 with_notices;
	uint16_t	 owed;		/* flags that it took from the job */
};

/* ---- who may be owed a report ------------------------------------ */

static bool
source_is_owed(const struct control_file *control,
    const struct control_rcpt *rcpt, bool with_notices)
{
	return rcpt->is_final ? rcpt_owes(control, rcpt) ||
	    control_rcpt_is_failed(rcpt) : with_notices;
}

static void
source_list(const struct control_file *control, bool with_notices,
    struct arena *arena, struct report_list *out)
{
	size_t count = 0;

	for (size_t i = 0; i < control->rcpt_total; i++)
		count += source_is_owed(control, &control->groups[0].rcpts[i],
		    with_notices);
	*out = (struct report_list){ .owed = arena_alloc(arena,
	    count * sizeof(*out->owed)) };
	for (size_t i = 0; i < control->group_count; i++) {
		const struct control_group *group = &control->groups[i];

		for (size_t k = 0; k < group->rcpt_count; k++)
			if (source_is_owed(control, &group->rcpts[k],
			    with_notices))
				out->owed[out->count++] = (struct report_owed){
					&group->rcpts[k], group };
	}
}

static void
source_work_list(void *context)
{
	struct source_kept *kept = context;

	source_list(&kept->reading->control, kept->with_notices,
	    kept->reading->arena, &kept->list);
	pending_sift(kept->pending, &kept->reading->control);
}

/* ---- a file that is kept ----------------------------------------- */

static void
source_on_read(void *context)
{
	struct source_kept *kept = context;
	struct queue *queue = kept->reading->intake->queue;

	settle_report(queue, kept->job);
}

/* The job is in hand from now on, until it is queued. */
static void
source_keep(struct reporter *reporter, struct job *job)
{
	struct source_kept *kept = mem_alloc(1, sizeof(*kept));

	kept->job = job;
	kept->pending = pending_take(job);
	kept->with_notices = (job->flags & JOB_NOTICE) != 0;
	kept->owed = job->flags & SOURCE_OWED;
	job->flags &= (uint16_t)~SOURCE_OWED;
	job->flags |= JOB_WRITING;
	plan_job_begin(&reporter->queue->plan, job);
	reporter->kept = kept;
	reading_begin(reporter->outcome->intake, job->control_fd,
	    READING_WHOLE, &(struct reading_steps){ source_work_list, source_on_read, kept },
	    &kept->reading);
}

static void
source_drop(struct reporter *reporter)
{
	pending_free(&reporter->kept->pending);
	reading_free(&reporter->kept->reading);
	mem_free(&reporter->kept);
}

void
source_forget(struct reporter *reporter, const struct job *job)
{
	struct source_kept *kept = reporter->kept;

	if (kept == NULL || kept->job != job)
		return;
	plan_job_end(&reporter->queue->plan, kept->job);
	kept->job->flags |= kept->owed;
	source_drop(reporter);
}

void
source_release(struct reporter *reporter)
{
	if (reporter->kept == NULL)
		return;
	reporter->kept->job->flags &= (uint16_t)~JOB_WRITING;
	source_forget(reporter, reporter->kept->job);
}

/* ---- reading ----------------------------------------------------- */

/* What stands in the file is not what we have. */
static void
source_misread(struct reporter *reporter, struct job *job,
    enum intake_read got, const struct err *err)
{
	if (job->flight_count > 0)
		job->flags |= JOB_RELOAD;	/* when it comes down */
	else if (got == INTAKE_NOT_NOW)
		intake_orphan(reporter->outcome->intake, job);
	else
		intake_bad(reporter->outcome->intake, job, err->text);
}

/* Write into the file what the scheduler itself has to say there before it can
 * be told.  False: trouble, the job comes again. */
static bool
source_complete(struct reporter *reporter, struct job *job,
    const struct control_file *control, bool *wrote)
{
	struct err err;

	if (pending_write(job, control, wrote, &err) == 0 &&
	    expire_write(reporter->outcome, job, control, wrote, &err) == 0)
		return true;
	reporter_trouble(reporter, job, "append", &err);
	return false;
}

static bool
source_read(struct reporter *reporter, struct job *job,
    struct report_source *source)
{
	struct intake *intake = reporter->outcome->intake;
	struct control_file *control = &source->own;
	bool wrote = false;
	struct err err;
	enum intake_read got = intake_job_read(intake, job, control, &err);

	if (got == INTAKE_READ && !source_complete(reporter, job, control,
	    &wrote))
		return false;
	if (wrote)
		got = intake_job_read(intake, job, control, &err);
	if (got != INTAKE_READ) {
		source_misread(reporter, job, got, &err);
		return false;
	}
	source_list(control, (job->flags & JOB_NOTICE) != 0, intake->arena,
	    &source->own_list);
	source->control = control;
	source->list = &source->own_list;
	return true;
}

/* The thread has read it, and maybe some reports were made of it.  False: it is
 * read again, or it is no use. */
static bool
source_take_kept(struct reporter *reporter, struct job *job,
    struct report_source *source)
{
	struct source_kept *kept = reporter->kept;
	struct intake_reading *reading = kept->reading;
	enum intake_read got = reading->got;
	bool is_changed = (job->flags & JOB_RELOAD) != 0;
	struct err err = reading->err;

	source->anew = job->flags & SOURCE_OWED;
	job->flags |= kept->owed;
	pending_give(job, &kept->pending);
	plan_job_end(&reporter->queue->plan, job);
	if (got == INTAKE_READ && strcmp(reading->control.id, job->id) != 0) {
		err_set(&err, "it became the control file of %s",
		    reading->control.id);
		got = INTAKE_DAMAGED;
	}
	if (got == INTAKE_READ && !is_changed && !source_complete(reporter,
	    job, &reading->control, &is_changed)) {
		source_drop(reporter);
		return false;
	}
	if (got == INTAKE_READ && !is_changed) {
		source->control = &reading->control;
		source->list = &kept->list;
		source->is_kept = true;
		arena_reset(reporter->outcome->intake->arena);
		return true;
	}
	source_drop(reporter);
	if (got != INTAKE_READ)
		source_misread(reporter, job, got, &err);
	else if ((job->flags & JOB_RELOAD) && job->flight_count == 0)
		intake_reload(reporter->outcome->intake, job);
	else
		source_keep(reporter, job);
	return false;
}

bool
source_begin(struct reporter *reporter, struct job *job,
    struct report_source *source)
{
	struct err err;

	*source = (struct report_source){ .control = NULL };
	if (reporter->kept != NULL && reporter->kept->job == job)
		return source_take_kept(reporter, job, source);
	if (!intake_job_open(reporter->outcome->intake, job, &err)) {
		source_misread(reporter, job, INTAKE_NOT_NOW, &err);
		return false;
	}
	if (!reading_is_large(job->control_fd))
		return source_read(reporter, job, source);
	if (reporter->kept == NULL)
		source_keep(reporter, job);
	else
		settle_report_later(reporter->queue, job);
	return false;
}

/* In memory as the records that follow say it in the file. */
static void
source_mark(struct report_source *source, const struct bounce *told)
{
	struct report_list *list = source->list;

	for (size_t i = 0; i < told->rcpt_count; i++) {
		struct control_rcpt *rcpt = (struct control_rcpt *)(uintptr_t)
		    told->rcpts[i].rcpt;

		if (rcpt->is_final)
			rcpt->is_reported = true;
		else
			rcpt->delay_notices++;
	}
	while (list->first < list->count &&
	    list->owed[list->first].rcpt->is_reported)
		list->first++;
	source->control->report_records += told->rcpt_count;
}

void
source_end(struct reporter *reporter, struct job *job,
    struct report_source *source, const struct bounce *told, bool more)
{
	if (!source->is_kept)
		return;
	if (!more) {
		source_drop(reporter);
		return;
	}
	source_mark(source, told);
	reporter->kept->owed = job->flags & SOURCE_OWED;
	job->flags &= (uint16_t)~SOURCE_OWED;
	job->flags |= source->anew;
	plan_job_begin(&reporter->queue->plan, job);
}
