/* reporter.c - reports are written, made durable, marked and sent
 *
 * In     jobs that owe something; their control files and bodies
 * Out    drafts in public/, `reported` records, messages in router/;
 *        failed records for what expired; postman/ for double bounces
 * Holds  a queue of jobs; one batch of drafts, whose sync a thread waits for
 * Trusts the control file as far as control_file_parse does
 * Spec   doc/INTERNALS.md rows S3, F0, D4; RFC 3461 section 5.2;
 *        RFC 5321 section 6.1: no report about a report
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/intake/intake.h"
#include "scheduler/outcome/amend.h"
#include "scheduler/outcome/outcome.h"
#include "scheduler/report/report.h"
#include "scheduler/report/source.h"

#include "base/banned.h"

/* Reports that are made durable together.  Their jobs are in hand meanwhile
 * (flight_count), so that nobody rereads or drops them; what comes to be owed
 * by then is told in another report. */
struct report_batch {
	struct reporter	*reporter;
	struct sync_task task;
	size_t		 count;
	struct report	 reports[REPORT_TURN_JOBS];
	int		 errors[REPORT_TURN_JOBS];	/* errno, of a thread */
	struct err	 write_err;	/* before that: the last one */
};

/* ---- nobody to tell ---------------------------------------------- */

/* The words of the first recipient that failed, and why nobody hears them. */
static const char *
reporter_unheard(const struct reporter *reporter, const struct bounce *bounce)
{
	const char *text = "";

	for (size_t i = bounce->rcpt_count; i-- > 0;)
		if (bounce->rcpts[i].rcpt->last->verdict.kind ==
		    VERDICT_FAILED)
			text = bounce->rcpts[i].rcpt->last->verdict.text;
	return bounce->control->terms.is_never_reported ?
	    arena_printf(reporter->outcome->intake->arena, "no report may be "
	    "sent, for its DKIM2 chain does not hold: %s", text) : text;
}

/* RFC 5321 section 6.1: a message with a null sender is never answered; nor is
 * one whose DKIM2 chain did not hold (draft-ietf-dkim-dkim2-spec-04 section
 * 10.1).  One that failed is kept for the postmaster (row D4) once nothing of
 * it is under way any more. */
static void
reporter_double_bounce(struct reporter *reporter, struct job *job,
    const struct bounce *bounce)
{
	char name[SPOOL_NAME_BYTES];
	const char *words;
	struct err err;

	job->flags &= (uint16_t)~JOB_NOTICE;
	if (job->final_count < job->rcpt_count)
		return;
	if (bounce->rcpt_count == 0 ||
	    bounce_kind(bounce) != BOUNCE_FAILED) {
		job->flags &= (uint16_t)~JOB_OWES;
		settle_job(reporter->outcome->group, job);
		return;
	}
	if (job_is_in(job, JOB_KEPT))	/* with those that are kept */
		return;
	spool_hashed_name(reporter->queue->spool, job->inode, name);
	words = reporter_unheard(reporter, bounce);
	event(EV_DSN_DROPPED, job->id, "file", slice_of(name), "reason",
	    slice_of(words), "rcpts",
	    event_number((int64_t)bounce->rcpt_count), NULL);
	if (spool_shelve_queued(reporter->queue->spool, name,
	    bounce->control->terms.is_never_reported ? "dkim2" :
	    "doublebounce", words, &err) < 0)
		event(EV_SPOOL_TROUBLE, job->id, "file", slice_of(name),
		    "call", SLICE("rename"), "reason", slice_of(err.text),
		    NULL);
	queue_drop(reporter->queue, job);
}

/* ---- a batch ----------------------------------------------------- */

void
reporter_trouble(struct reporter *reporter, struct job *job, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, job->id, "file", SLICE("public"), "call",
	    slice_of(call), "reason", slice_of(err->text), NULL);
	reporter->not_before_ms = clock_steady_ms() +
	    REPORT_TROUBLE_MS;
	settle_report(reporter->queue, job);
}

/* Row W3: a client heard that nobody has it, and is who tells its sender.  The
 * marks stand in the place of a report. */
static void
reporter_told(struct reporter *reporter, struct job *job,
    const struct report_source *source, const struct bounce *bounce,
    bool has_more)
{
	struct report report = { .job = job };
	struct err err;

	report_mark(&report, bounce);
	source_written(reporter, job);
	if (control_file_append(job->control_fd, job->id, report.records,
	    report.count, &err) < 0) {
		reporter_trouble(reporter, job, "append", &err);
		report_free_texts(&report);
		return;
	}
	event(EV_DSN_TOLD, job->id, "code",
	    slice_of(bounce_status(bounce, &bounce->rcpts[0])), "rcpts",
	    event_number((int64_t)report.count), NULL);
	report_free_texts(&report);
	source_told(source, job);
	if (has_more) {
		settle_report(reporter->queue, job);
		return;
	}
	job->flags &= (uint16_t) ~(JOB_OWES | JOB_NOTICE);
	settle_job(reporter->outcome->group, job);
}

static bool
report_is_untried(const struct gather *gather, uint32_t offset)
{
	size_t low = 0, high = gather->untried_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gather->untried[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < gather->untried_count && gather->untried[low] == offset;
}

/* A notice is due by what we know, and the file says of no attempt, for its
 * record could not be written: the next attempt asks for the notice again. */
static void
report_notices_again(struct job *job, struct gather *gather)
{
	for (size_t i = 0; gather->untried_count > 0 && i < job->vertex_count;
	    i++) {
		struct vertex *vertex = &job->vertices[i];

		if (vertex->notices == NOTICES_NONE)
			continue;
		for (size_t k = 0; k < vertex->rcpt_count; k++)
			if (report_is_untried(gather,
			    vertex_rcpts(vertex)[k].offset))
				vertex->notices = 0;
	}
	gather->untried_count = 0;
}

/* Who is kept stays after this pass: what the file says is made durable with
 * the group, as of any message that stays. */
static void
report_keep(struct reporter *reporter, struct job *job,
    const struct report_list *list, int64_t now_s)
{
	settle_keep(reporter->queue, job, report_kept_until_s(reporter,
	    list, now_s));
	if (job_is_in(job, JOB_KEPT))
		group_dirty(reporter->outcome->group, job);
}

/* True: a report that is written; else nothing is to be sent, and the job may
 * be gone. */
static bool
report_make(struct reporter *reporter, struct job *job,
    struct report_source *source, struct bounce *bounce, struct report *report)
{
	bool has_more;
	struct err err;

	report_keep(reporter, job, &source->gather->list, bounce->now_s);
	report_choose_rcpts(reporter, job, &source->gather->list, bounce,
	    &has_more);
	if ((job->flags & JOB_TOLD) && bounce->rcpt_count > 0) {
		reporter_told(reporter, job, source, bounce,
		    has_more || source->anew != 0);
		return false;
	}
	if (bounce->control->terms.is_never_reported ||
	    !report_address_is_good(bounce->errors_to)) {
		if (source->anew != 0)	/* all that failed at once */
			settle_report(reporter->queue, job);
		else
			reporter_double_bounce(reporter, job, bounce);
		return false;
	}
	if (bounce->rcpt_count == 0) {
		job->flags &= (uint16_t) ~(JOB_OWES | JOB_NOTICE);
		job->flags |= source->anew;
		source_told(source, job);
		settle_job(reporter->outcome->group, job);
		return false;
	}
	if (source_header(reporter, source, bounce, &err) < 0 ||
	    report_write(reporter, job, bounce, report, &err) < 0) {
		reporter_trouble(reporter, job, "write", &err);
		return false;
	}
	report->has_more = has_more;
	report->owed = job->flags & (JOB_OWES | JOB_NOTICE);
	if (!has_more) {
		job->flags &= (uint16_t) ~(JOB_OWES | JOB_NOTICE);
		job->flags |= source->anew;
	}
	source_told(source, job);
	return true;
}

/* The same; what was written waits for its sync. */
static bool
report_begin(struct reporter *reporter, struct job *job,
    struct report *report)
{
	struct report_source source;
	struct bounce bounce = { .host = reporter->queue->conf->host,
	    .now_s = clock_wall_s(),
	    .arrival_s = spool_id_time_us(slice_of(job->id)) / 1000000 };
	bool is_made;

	job->flags &= (uint16_t)~JOB_WRITING;
	if (amend_expired(reporter->outcome, job) ||
	    !source_begin(reporter, job, &source))
		return false;
	if ((job->flags & JOB_RELOAD) && job->flight_count == 0) {
		/* other ways are taken */
		source_end(reporter, job, &source, &bounce, false);
		intake_again(reporter->outcome->intake, job);
		return false;
	}
	if (job->flags & JOB_NOTICE)
		report_notices_again(job, source.gather);
	report_sift(reporter, job, source.control, &source.gather->list,
	    bounce.now_s);
	if (source_more(reporter, job, &source))
		return false;
	bounce.control = source.control;
	is_made = report_make(reporter, job, &source, &bounce, report);
	if (is_made) {
		job->flags |= JOB_WRITING;
		plan_job_begin(&reporter->queue->plan, job);
	}
	source_end(reporter, job, &source, &bounce,
	    is_made && report->has_more);
	return is_made;
}

/* It comes again, after a while. */
static void
report_failed(struct reporter *reporter, struct report *report,
    const char *call, const struct err *err)
{
	draft_abort(&report->draft);
	source_forget(reporter, report->job);
	report->job->flags |= report->owed;
	reporter_trouble(reporter, report->job, call, err);
}

/* Durable: mark (so that recovery adopts it), then rename (row S3). */
static void
report_send(struct reporter *reporter, struct report *report)
{
	struct job *job = report->job;
	struct err err;

	source_written(reporter, job);
	if (control_file_append(job->control_fd, job->id, report->records,
	    report->count, &err) < 0) {
		report_failed(reporter, report, "append", &err);
		return;
	}
	event(EV_DSN_SENT, job->id, "to", slice_of(report->to), "dsn",
	    slice_of(report->draft.id), "kind",
	    slice_of(bounce_kind_name(report->kind)), "code",
	    slice_of(report->status), "rcpts",
	    event_number((int64_t)report->count), NULL);
	if (draft_publish(&report->draft, AREA_ROUTER, 0, NULL, &err) < 0)
		event(EV_SPOOL_TROUBLE, job->id, "file",
		    slice_of(report->draft.name), "call", SLICE("rename"),
		    "reason", slice_of(err.text), NULL);
	if (report->has_more)
		settle_report(reporter->queue, job);
	else if (job->final_count < job->rcpt_count ||
	    job_is_in(job, JOB_KEPT))
		group_dirty(reporter->outcome->group, job);
}

static void
report_end(struct report_batch *batch, size_t index)
{
	struct reporter *reporter = batch->reporter;
	struct report *report = &batch->reports[index];
	struct job *job = report->job;
	struct err err = batch->write_err;

	job->flags &= (uint16_t)~JOB_WRITING;
	plan_job_end(&reporter->queue->plan, job);
	if (draft_sync_end(&report->draft, batch->errors[index], &err))
		report_send(reporter, report);
	else
		report_failed(reporter, report, "fsync", &err);
	report_free_texts(report);
	if ((job->flags & JOB_RELOAD) && job->flight_count == 0)
		intake_reload(reporter->outcome->intake, job);
	else
		settle_job(reporter->outcome->group, job);
}

static void
reports_work_sync(void *context)
{
	struct report_batch *batch = context;

	for (size_t i = 0; i < batch->count; i++)
		batch->errors[i] =
		    draft_sync_wait(&batch->reports[i].draft);
}

static void
reports_on_sync(void *context)
{
	struct report_batch *batch = context;

	batch->reporter->batch = NULL;
	for (size_t i = 0; i < batch->count; i++)
		report_end(batch, i);
	mem_free(&batch);
}

static void
reports_send(struct reporter *reporter, struct report_batch *batch)
{
	struct draft *drafts[REPORT_TURN_JOBS];

	for (size_t i = 0; i < batch->count; i++)
		drafts[i] = &batch->reports[i].draft;
	draft_sync_begin(drafts, batch->count, &batch->write_err);
	batch->task = (struct sync_task){ reports_work_sync, reports_on_sync,
	    batch, NULL };
	reporter->batch = batch;
	syncer_add(reporter->outcome->group->syncer, &batch->task);
}

static struct report_batch *
report_batch_new(struct reporter *reporter)
{
	struct report_batch *batch = mem_alloc(1, sizeof(*batch));

	batch->reporter = reporter;
	return batch;
}

void
reporter_finish(struct reporter *reporter)
{
	if (reporter->batch != NULL || reporter->kept != NULL)
		syncer_settle(reporter->outcome->group->syncer);
	source_release(reporter);
}

/* So many; their lists know them no more. */
static size_t
reporter_take(struct reporter *reporter, struct job *jobs[REPORT_TURN_JOBS])
{
	struct queue *queue = reporter->queue;
	size_t count = queue->jobs.lists[JOB_REPORT].count;

	if (count > REPORT_TURN_JOBS)
		count = REPORT_TURN_JOBS;
	for (size_t i = 0; i < count; i++) {
		jobs[i] = job_list_take(&queue->jobs, JOB_REPORT);
		jobs[i]->flags |= JOB_WRITING;
	}
	return count;
}

int64_t
reporter_turn_end(struct reporter *reporter)
{
	const struct job_list *queue = &reporter->queue->jobs.lists[JOB_REPORT];
	struct job *jobs[REPORT_TURN_JOBS];
	struct report_batch *batch;
	size_t count;

	if (queue->count == 0 || reporter->batch != NULL)
		return INT64_MAX;	/* a batch that ends begins a turn */
	if (clock_steady_ms() < reporter->not_before_ms)
		return reporter->not_before_ms;
	count = reporter_take(reporter, jobs);
	batch = report_batch_new(reporter);
	for (size_t i = 0; i < count; i++)
		batch->count += report_begin(reporter, jobs[i],
		    &batch->reports[batch->count]);
	if (batch->count > 0)
		reports_send(reporter, batch);
	else
		mem_free(&batch);
	if (queue->count == 0 || reporter->batch != NULL)
		return INT64_MAX;
	return reporter->not_before_ms > clock_steady_ms() ?
	    reporter->not_before_ms : 0;
}
