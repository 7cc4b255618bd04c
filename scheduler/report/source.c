/* source.c - what reports about a job are made of: its control file as read
 *
 * In     a job that owes something
 * Out    its control file; who may be owed a report
 * Holds  one large file at most, as far as reading.h does
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
	ino_t		 inode;		/* of the job */
	struct intake_reading *reading;
	struct gather	 gather;
	struct pending	*pending;	/* the job's, until it is read as a
					 * whole */
	uint32_t	 number;	/* of the job, when it began, or since
					 * the marks of its own reports */
	uint16_t	 owed;		/* flags that it took from the job */
};

/* ---- in the thread ----------------------------------------------- */

static void
source_work_all(void *context)
{
	struct source_kept *kept = context;

	kept->gather.reading = kept->reading;
	gather_all(&kept->gather);
	pending_sift(kept->pending, &kept->reading->control);
}

static void
source_work_begin(void *context)
{
	struct source_kept *kept = context;

	kept->gather.reading = kept->reading;
	gather_begin(&kept->gather);
}

static void
source_work_more(void *context)
{
	struct source_kept *kept = context;

	gather_more(&kept->gather);
}

/* ---- a file that is kept ----------------------------------------- */

static void
source_on_read(void *context)
{
	struct source_kept *kept = context;
	struct queue *queue = kept->reading->intake->queue;

	settle_report(queue, kept->job);
}

/* The scheduler has outcomes of its own to write into the file, of whomever:
 * that needs all of it. */
static bool
source_has_own(const struct job *job)
{
	for (uint32_t i = 0; i < job->vertex_count; i++)
		if (job->vertices[i].is_expired || job->vertices[i].has_ended)
			return true;
	return false;
}

/* The job is in hand from now on, until it is queued. */
static void
source_in_hand(struct reporter *reporter, struct source_kept *kept)
{
	struct job *job = kept->job;

	kept->owed = job->flags & SOURCE_OWED;
	job->flags &= (uint16_t)~SOURCE_OWED;
	job->flags |= JOB_WRITING;
	plan_job_begin(&reporter->queue->plan, job);
}

static void
source_keep(struct reporter *reporter, struct job *job, bool is_whole)
{
	struct source_kept *kept = mem_alloc(1, sizeof(*kept));

	kept->job = job;
	kept->inode = job->inode;
	kept->number = job_table_number(&reporter->queue->jobs, job);
	if (is_whole)
		kept->pending = pending_take(job);
	else
		kept->gather.pending = pending_take(job);
	kept->gather.with_notices = (job->flags & JOB_NOTICE) != 0;
	kept->gather.keep_s = reporter->queue->conf->keep_failed_ms / 1000;
	kept->gather.now_s = clock_wall_s();
	source_in_hand(reporter, kept);
	reporter->kept = kept;
	reading_begin(reporter->outcome->intake, job->control_fd,
	    is_whole ? READING_WHOLE : READING_WINDOWS,
	    &(struct reading_steps){ is_whole ? source_work_all :
	    source_work_begin, source_on_read, kept }, &kept->reading);
}

static void
source_drop(struct reporter *reporter)
{
	pending_free(&reporter->kept->pending);
	gather_release(&reporter->kept->gather);
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
	pending_give(kept->job, &kept->gather.pending);
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
	struct control_file *control = &source->own_reading.control;
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
	source->own_reading.arena = intake->arena;
	source->own.reading = &source->own_reading;
	source->own.with_notices = (job->flags & JOB_NOTICE) != 0;
	gather_all(&source->own);
	source->control = control;
	source->gather = &source->own;
	return true;
}

/* Must it be read again?  What is written into it now is not in memory, nor
 * what an order that goes on has written since. */
static bool
source_is_past(struct reporter *reporter, struct job *job, bool *out_trouble)
{
	struct source_kept *kept = reporter->kept;
	bool is_changed = (job->flags & JOB_RELOAD) != 0 ||
	    kept->number != job_table_number(&reporter->queue->jobs, job);

	*out_trouble = false;
	if (kept->reading->windows != NULL)
		return is_changed || source_has_own(job) ||
		    kept->gather.unwritten > 0;
	if (!is_changed)
		*out_trouble = !source_complete(reporter, job,
		    &kept->reading->control, &is_changed);
	return is_changed;
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
	struct err err = reading->err;
	bool is_past = false, is_trouble = false, is_whole;

	source->anew = job->flags & SOURCE_OWED;
	job->flags |= kept->owed;
	pending_give(job, &kept->pending);
	plan_job_end(&reporter->queue->plan, job);
	if (got == INTAKE_READ && strcmp(reading->control.id, job->id) != 0) {
		err_set(&err, "it became the control file of %s",
		    reading->control.id);
		got = INTAKE_DAMAGED;
	}
	if (got == INTAKE_READ)
		is_past = source_is_past(reporter, job, &is_trouble);
	if (is_trouble) {
		source_drop(reporter);
		return false;
	}
	is_whole = source_has_own(job) || kept->gather.unwritten > 0;
	if (got == INTAKE_READ && !is_past) {
		source->control = reading->windows != NULL ?
		    control_windows_common(reading->windows) :
		    &reading->control;
		source->gather = &kept->gather;
		source->is_kept = true;
		arena_reset(reporter->outcome->intake->arena);
		return true;
	}
	pending_give(job, &kept->gather.pending);
	source_drop(reporter);
	if (got != INTAKE_READ)
		source_misread(reporter, job, got, &err);
	else if ((job->flags & JOB_RELOAD) && job->flight_count == 0)
		intake_reload(reporter->outcome->intake, job);
	else
		source_keep(reporter, job, is_whole);
	return false;
}

bool
source_begin(struct reporter *reporter, struct job *job,
    struct report_source *source)
{
	struct err err;

	*source = (struct report_source){ .control = NULL };
	if (reporter->kept != NULL && reporter->kept->job == job) {
		if (reporter->kept->reading->is_done)
			return source_take_kept(reporter, job, source);
		job->flags |= JOB_WRITING;	/* it is queued when it is */
		return false;
	}
	if (!intake_job_open(reporter->outcome->intake, job, &err)) {
		source_misread(reporter, job, INTAKE_NOT_NOW, &err);
		return false;
	}
	if (!reading_is_large(job->control_fd))
		return source_read(reporter, job, source);
	if (reporter->kept == NULL)
		source_keep(reporter, job, source_has_own(job));
	else
		settle_report_later(reporter->queue, job);
	return false;
}

void
source_told(const struct report_source *source, struct job *job)
{
	/* of a part, those that were pending when it was read are forgotten
	 * window by window; others came since */
	if (!source->gather->list.is_part)
		pending_release(job);
}

bool
source_more(struct reporter *reporter, struct job *job,
    struct report_source *source)
{
	struct source_kept *kept = reporter->kept;
	struct report_list *list = &source->gather->list;

	if (!list->is_part || list->count - list->first > REPORT_RCPTS_MAX ||
	    !gather_has_more(source->gather))
		return false;
	source_in_hand(reporter, kept);
	job->flags |= source->anew;
	reading_go_on(kept->reading, false, source_work_more, source_on_read);
	return true;
}

int
source_header(struct reporter *reporter, const struct report_source *source,
    struct bounce *bounce, struct err *err)
{
	struct arena *arena = reporter->outcome->intake->arena;
	struct control_group *group;

	if (!source->gather->list.is_part)
		return 0;
	group = arena_alloc(arena, sizeof(*group));
	*group = *bounce->group;
	bounce->group = group;
	return control_header_read(source->gather->reading->fd,
	    group->header_offset, arena, &group->header, err);
}

void
source_written(struct reporter *reporter, struct job *job)
{
	struct source_kept *kept = reporter->kept;
	bool is_known = kept != NULL && kept->job == job &&
	    kept->number == job_table_number(&reporter->queue->jobs, job);

	job_written(&reporter->queue->jobs, job);
	if (is_known)
		kept->number = job_table_number(&reporter->queue->jobs, job);
}

/* In memory as the records that follow say it in the file. */
static void
source_mark(struct report_source *source, const struct bounce *told)
{
	struct report_list *list = &source->gather->list;

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
		/* what was not read yet is pending still, if the job is */
		job = job_table_find(&reporter->queue->jobs,
		    reporter->kept->inode);
		if (job != NULL)
			pending_give(job, &reporter->kept->gather.pending);
		source_drop(reporter);
		return;
	}
	source_mark(source, told);
	reporter->kept->owed = job->flags & SOURCE_OWED;
	job->flags &= (uint16_t)~SOURCE_OWED;
	job->flags |= source->anew;
	plan_job_begin(&reporter->queue->plan, job);
}
