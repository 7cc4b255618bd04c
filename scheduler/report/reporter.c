/* reporter.c - reports are written, made durable, marked and sent
 *
 * In     jobs that owe something; their control files and bodies
 * Out    drafts in public/, `reported` records, messages in router/;
 *        failed records for what expired; postman/ for double bounces
 * Holds  a queue of jobs; one batch of drafts within a call
 * Trusts the control file as far as control_file_parse does
 * Spec   doc/INTERNALS.md rows S3, F0, D4; RFC 3461 section 5.2;
 *        RFC 5321 section 6.1: no report about a report
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/intake/intake.h"
#include "scheduler/outcome/expire.h"
#include "scheduler/jobs/pending.h"
#include "scheduler/outcome/outcome.h"
#include "scheduler/report/report.h"
#include "scheduler/report/reporter.h"

#include "base/banned.h"

/* ---- nobody to tell ---------------------------------------------- */

/* RFC 5321 section 6.1: a message with a null sender is never answered.  One
 * that failed is kept for the postmaster (row D4) once nothing of it is
 * under way any more. */
static void
reporter_double_bounce(struct reporter *reporter, struct job *job,
    const struct bounce *bounce)
{
	char name[SPOOL_NAME_BYTES];
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
	event(EV_DSN_DROPPED, job->id, "file", slice_of(name), "reason",
	    slice_of(bounce->rcpts[0].rcpt->last->verdict.text), "rcpts",
	    event_number((int64_t)bounce->rcpt_count), NULL);
	if (spool_shelve_queued(reporter->queue->spool, name, "doublebounce",
	    bounce->rcpts[0].rcpt->last->verdict.text, &err) < 0)
		event(EV_SPOOL_TROUBLE, job->id, "file", slice_of(name),
		    "call", SLICE("rename"), "reason", slice_of(err.text),
		    NULL);
	queue_drop(reporter->queue, job);
}

/* ---- a batch ----------------------------------------------------- */

static void
reporter_trouble(struct reporter *reporter, struct job *job, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, job->id, "file", SLICE("public"), "call",
	    slice_of(call), "reason", slice_of(err->text), NULL);
	reporter->not_before_ms = clock_steady_ms() +
	    REPORT_TROUBLE_MS;
	settle_report(reporter->queue, job);
}

/* What stands in the file is not what we have. */
static void
reporter_misread(struct reporter *reporter, struct job *job,
    enum intake_read got, const struct err *err)
{
	if (job->flight_count > 0)
		job->flags |= JOB_RELOAD;	/* when it comes down */
	else if (got == INTAKE_NOT_NOW)
		intake_orphan(reporter->outcome->intake, job);
	else
		intake_bad(reporter->outcome->intake, job, err->text);
}

/* Read the file, and write into it what the scheduler itself has to say there
 * before it can be told.  False: it cannot be told now; that was dealt
 * with, and the job may be gone. */
static bool
reporter_read_job(struct reporter *reporter, struct job *job,
    struct control_file *control)
{
	struct intake *intake = reporter->outcome->intake;
	bool wrote = false;
	struct err err;
	enum intake_read got = intake_job_read(intake, job, control, &err);

	if (got == INTAKE_READ) {
		if (pending_write(job, control, &wrote, &err) < 0 ||
		    expire_write(reporter->outcome, job, control, &wrote,
		    &err) < 0) {
			reporter_trouble(reporter, job, "append", &err);
			return false;
		}
		if (wrote)
			got = intake_job_read(intake, job, control, &err);
	}
	if (got != INTAKE_READ)
		reporter_misread(reporter, job, got, &err);
	return got == INTAKE_READ;
}

/* Who is kept stays after this pass: what the file says is made durable with
 * the group, as of any message that stays. */
static void
report_keep(struct reporter *reporter, struct job *job,
    const struct control_file *control, int64_t now_s)
{
	settle_keep(reporter->queue, job, report_kept_until_s(reporter,
	    control, now_s));
	if (job_is_in(job, JOB_KEPT))
		group_dirty(reporter->outcome->group, job);
}

/* True: a report that waits for its sync; else nothing is to be sent, and the
 * job may be gone. */
static bool
report_begin(struct reporter *reporter, struct job *job,
    struct report *report)
{
	struct control_file control;
	struct bounce bounce = { .control = &control,
	    .host = reporter->queue->conf->host, .now_s = clock_wall_s(),
	    .arrival_s = spool_id_time_us(slice_of(job->id)) / 1000000 };
	bool has_more;
	struct err err;

	job->flags &= (uint16_t)~JOB_WRITING;
	if (!reporter_read_job(reporter, job, &control))
		return false;
	if ((job->flags & JOB_RELOAD) && job->flight_count == 0) {
		/* other ways are taken */
		intake_again(reporter->outcome->intake, job);
		return false;
	}
	report_keep(reporter, job, &control, bounce.now_s);
	report_choose_rcpts(reporter, job, &bounce, &has_more);
	if (!report_address_is_good(bounce.errors_to)) {
		reporter_double_bounce(reporter, job, &bounce);
		return false;
	}
	if (bounce.rcpt_count == 0) {
		job->flags &= (uint16_t) ~(JOB_OWES | JOB_NOTICE);
		pending_release(job);
		settle_job(reporter->outcome->group, job);
		return false;
	}
	if (report_write(reporter, job, &bounce, report, &err) < 0) {
		reporter_trouble(reporter, job, "write", &err);
		return false;
	}
	report->has_more = has_more;
	job->flags |= JOB_WRITING;
	return true;
}

/* Durable: mark (so that recovery adopts it), then rename (row S3). */
static void
report_end(struct reporter *reporter, struct report *report,
    const struct err *sync_err)
{
	struct job *job = report->job;
	struct err err;

	job->flags &= (uint16_t)~JOB_WRITING;
	if (report->draft.is_bad) {
		draft_abort(&report->draft);
		reporter_trouble(reporter, job, "fsync", sync_err);
		return;
	}
	if (control_file_append(job->control_fd, job->id, report->records,
	    report->count, &err) < 0) {
		draft_abort(&report->draft);
		reporter_trouble(reporter, job, "append", &err);
		return;
	}
	event(EV_DSN_SENT, job->id, "to", slice_of(report->to), "dsn",
	    slice_of(report->draft.id), "kind",
	    slice_of(bounce_kind_name(report->kind)), "code",
	    slice_of(report->status), "rcpts",
	    event_number((int64_t)report->count), NULL);
	pending_release(job);
	if (draft_publish(&report->draft, AREA_ROUTER, 0, NULL, &err) < 0)
		event(EV_SPOOL_TROUBLE, job->id, "file",
		    slice_of(report->draft.name), "call", SLICE("rename"),
		    "reason", slice_of(err.text), NULL);
	if (report->has_more) {
		settle_report(reporter->queue, job);
		return;
	}
	job->flags &= (uint16_t) ~(JOB_OWES | JOB_NOTICE);
	if (job->final_count < job->rcpt_count || job_is_in(job, JOB_KEPT))
		group_dirty(reporter->outcome->group, job);
	settle_job(reporter->outcome->group, job);
}

static void
reports_send(struct reporter *reporter, struct report *reports,
    size_t count)
{
	struct draft *drafts[REPORT_TURN_JOBS];
	struct err err = { "" };

	for (size_t i = 0; i < count; i++)
		drafts[i] = &reports[i].draft;
	draft_sync(drafts, count, &err);
	for (size_t i = 0; i < count; i++) {
		report_end(reporter, &reports[i], &err);
		report_free_texts(&reports[i]);
	}
}

int64_t
reporter_turn_end(struct reporter *reporter)
{
	static struct report reports[REPORT_TURN_JOBS];
	struct job_list *queue = &reporter->queue->jobs.lists[JOB_REPORT];
	struct job *batch[REPORT_TURN_JOBS];
	size_t count = queue->count, report_count = 0;

	if (count == 0)
		return INT64_MAX;
	if (clock_steady_ms() < reporter->not_before_ms)
		return reporter->not_before_ms;
	if (count > REPORT_TURN_JOBS)
		count = REPORT_TURN_JOBS;
	for (size_t i = 0; i < count; i++) {
		batch[i] = job_list_take(&reporter->queue->jobs, JOB_REPORT);
		batch[i]->flags |= JOB_WRITING;
	}
	for (size_t i = 0; i < count; i++)
		report_count += report_begin(reporter, batch[i],
		    &reports[report_count]);
	if (report_count > 0)
		reports_send(reporter, reports, report_count);
	if (queue->count == 0)
		return INT64_MAX;
	return reporter->not_before_ms > clock_steady_ms() ?
	    reporter->not_before_ms : 0;
}
