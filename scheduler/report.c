/* report.c - reports are written, made durable, marked and sent
 *
 * In     jobs that owe something; their control files and bodies
 * Out    drafts in public/, `reported` records, messages in router/;
 *        failed records for what expired; postman/ for double bounces
 * Holds  a queue of jobs; one batch of drafts within a call
 * Trusts the control file as far as work_parse does
 * Spec   doc/INTERNALS.md rows S3, F0, D4; RFC 3461 section 5.2;
 *        RFC 5321 section 6.1: no report about a report
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/event.h"
#include "mail/envelope.h"
#include "scheduler/bounce.h"
#include "scheduler/expire.h"
#include "scheduler/group.h"
#include "scheduler/intake.h"
#include "scheduler/job_build.h"
#include "scheduler/outcome.h"
#include "scheduler/report.h"

#include "base/banned.h"

enum {
	CONTROL_BYTES_MAX = 512 << 20,
	BODY_BYTES_MAX = 16 << 20	/* whatever `limit dsn` says */
};

/* A report on its way from the draft to router/. */
struct letter {
	struct job		*job;
	struct draft		 draft;
	struct work_record	*records;	/* to be appended: marks */
	size_t			 count;
	char			*to;
	enum bounce_kind	 kind;
};

/* ---- the queue --------------------------------------------------- */

void
report_add(struct scheduler *scheduler, struct job *job)
{
	struct reporter *reporter = &scheduler->reporter;

	if (job->flags & JOB_REPORT)
		return;
	job->flags |= JOB_REPORT;
	ARRAY_ROOM(reporter->queue, reporter->count, reporter->room);
	reporter->queue[reporter->count++] = job;
}

void
report_owing(struct scheduler *scheduler, struct job *job)
{
	struct reporter *reporter = &scheduler->reporter;

	if (job->flags & JOB_OWING)
		return;
	job->flags |= JOB_OWING;
	ARRAY_ROOM(reporter->owing, reporter->owing_count,
	    reporter->owing_room);
	reporter->owing[reporter->owing_count++] = (struct owing){ job,
	    clock_steady_ms() };
}

static void
owing_forget(struct reporter *reporter, struct job *job)
{
	if (!(job->flags & JOB_OWING))
		return;
	job->flags &= (uint16_t)~JOB_OWING;
	for (size_t i = 0; i < reporter->owing_count; i++)
		if (reporter->owing[i].job == job) {
			reporter->owing[i] =
			    reporter->owing[--reporter->owing_count];
			return;
		}
}

void
report_forget(struct scheduler *scheduler, struct job *job)
{
	struct reporter *reporter = &scheduler->reporter;

	owing_forget(reporter, job);
	if (!(job->flags & JOB_REPORT))
		return;
	job->flags &= (uint16_t)~JOB_REPORT;
	for (size_t i = 0; i < reporter->count; i++)
		if (reporter->queue[i] == job) {
			reporter->queue[i] = reporter->queue[--reporter->count];
			return;
		}
}

void
report_tick(struct scheduler *scheduler)
{
	struct reporter *reporter = &scheduler->reporter;
	int64_t before_ms = clock_steady_ms() - REPORT_OWING_MS;
	size_t i = 0;

	while (i < reporter->owing_count) {
		struct job *job = reporter->owing[i].job;

		if (reporter->owing[i].since_ms > before_ms) {
			i++;
			continue;
		}
		owing_forget(reporter, job);
		report_add(scheduler, job);
	}
}

void
report_release(struct scheduler *scheduler)
{
	mem_free(&scheduler->reporter.queue);
	mem_free(&scheduler->reporter.owing);
}

/* ---- reading ----------------------------------------------------- */

int
report_read(struct scheduler *scheduler, struct job *job, struct work *work,
    struct err *err)
{
	struct intake *intake = &scheduler->intake;
	char name[SPOOL_NAME_BYTES];

	spool_hashed_name(scheduler->spool, job->inode, name);
	if (job->control_fd < 0 || job->body_fd < 0) {
		job_close(job);
		if (spool_open_work(scheduler->spool, name,
		    &job->control_fd, &job->body_fd, err) != 1) {
			job->control_fd = job->body_fd = -1;
			return 0;
		}
	}
	arena_reset(intake->arena);
	str_reset(&intake->text);
	if (work_read_file(job->control_fd, CONTROL_BYTES_MAX, &intake->text,
	    err) < 0)
		return 0;
	if (work_parse(intake->arena, str_slice(&intake->text), work,
	    err) < 0)
		return -1;
	if (strcmp(work->id, job->id) != 0)
		return err_set(err, "it became the control file of %s",
		    work->id);
	return 1;
}

const struct work_rcpt *
report_rcpt(const struct work *work, uint32_t offset)
{
	for (size_t i = 0; i < work->group_count; i++) {
		const struct work_group *group = &work->groups[i];
		size_t low = 0, high = group->rcpt_count;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (group->rcpts[middle].offset == offset)
				return &group->rcpts[middle];
			if (group->rcpts[middle].offset < offset)
				low = middle + 1;
			else
				high = middle;
		}
	}
	return NULL;
}

/* ---- whom to tell about ------------------------------------------ */

static bool
rcpt_is_due(const struct work_rcpt *rcpt, bool notices)
{
	if (rcpt->is_final)
		return !rcpt->is_reported &&
		    job_owes(rcpt->notify, rcpt->last->verdict.kind);
	return notices && rcpt->delay_notices == 0 && rcpt->tries > 0 &&
	    job_owes(rcpt->notify, VERDICT_DEFERRED);
}

static int64_t
until_s(const struct scheduler *scheduler, const struct job *job,
    const struct work_rcpt *rcpt)
{
	const struct conf_schedule *clause = conf_schedule_for(
	    scheduler->conf, rcpt->channel, rcpt->host);

	return spool_id_time_us(slice_of(job->id)) / 1000000 +
	    clause->expire_s;
}

static size_t
rcpts_choose(struct scheduler *scheduler, const struct job *job,
    struct bounce *bounce)
{
	const struct work *work = bounce->work;
	bool notices = (job->flags & JOB_NOTICE) != 0;
	struct bounce_rcpt *chosen = arena_alloc(scheduler->intake.arena,
	    (work->rcpt_total + 1) * sizeof(*chosen));
	size_t count = 0;

	for (size_t i = 0; i < work->group_count; i++)
		for (size_t k = 0; k < work->groups[i].rcpt_count; k++) {
			const struct work_rcpt *rcpt =
			    &work->groups[i].rcpts[k];

			if (!rcpt_is_due(rcpt, notices))
				continue;
			if (count == 0)
				bounce->group = &work->groups[i];
			chosen[count++] = (struct bounce_rcpt){ rcpt,
			    until_s(scheduler, job, rcpt) };
		}
	bounce->rcpts = chosen;
	return bounce->rcpt_count = count;
}

/* ---- writing ----------------------------------------------------- */

static void
body_read(const struct job *job, struct bounce *bounce,
    struct arena *arena)
{
	size_t most = bounce->work->size_bytes, got = 0;
	char *body = arena_alloc(arena, most + 1);

	while (got < most) {
		ssize_t n = pread(job->body_fd, body + got, most - got,
		    (off_t)(bounce->work->body_offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	bounce->body = (struct slice){ body, got };
}

static int
envelope_write(const struct bounce *bounce, struct str *out, struct err *err)
{
	struct envelope envelope = { .is_error = true,
	    .dsn_of = slice_of(bounce->work->id) };
	struct envelope_rcpt rcpt = { .notify = DSN_NOTIFY_NEVER };
	struct slice rest;

	strlcpy(envelope.id, bounce->id, sizeof(envelope.id));
	if (path_parse(bounce->work->errors_to,
	    PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &rcpt.path, &rest,
	    err) < 0)
		return err_prefix(err, "address for reports");
	if (bounce_is_8bit(bounce))
		envelope.bodytype = SLICE("8BITMIME");
	envelope.rcpts = &rcpt;
	envelope.rcpt_count = 1;
	return envelope_add(out, &envelope, err) < 0 ? -1 : 0;
}

/* Can a report be sent there at all? */
static bool
address_is_good(struct slice address)
{
	struct path path;
	struct slice rest;
	struct err err;

	return address.n > 0 && path_parse(address,
	    PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &path, &rest,
	    &err) > 0 && rest.n == 0 && !path_is_null(&path);
}

/* Row S3.  A draft of that name is one that we could not finish: its marks
 * are not in the control file, else its number would differ. */
static int
draft_begin(struct scheduler *scheduler, const struct work *work,
    struct draft *draft, struct err *err)
{
	char stem[SPOOL_NAME_BYTES];

	spool_dsn_name(work->id, work->report_records, stem);
	if (draft_open(scheduler->spool, stem, draft, err) == 0)
		return 0;
	if (errno != EEXIST)
		return -1;
	(void)unlinkat(spool_dir_fd(scheduler->spool, AREA_PUBLIC, 0), stem,
	    0);
	return draft_open(scheduler->spool, stem, draft, err);
}

static int
letter_write(struct scheduler *scheduler, struct bounce *bounce,
    struct letter *letter, struct err *err)
{
	struct str text = STR_INIT;
	char nonce[24];
	int result;

	if (draft_begin(scheduler, bounce->work, &letter->draft, err) < 0)
		return -1;
	snprintf(nonce, sizeof(nonce), "%08x%08x", arc4random(),
	    arc4random());
	bounce->id = letter->draft.id;
	bounce->nonce = nonce;
	result = envelope_write(bounce, &text, err);
	if (result == 0) {
		bounce_text(bounce, &text);
		result = draft_write(&letter->draft, text.buf, text.len, err);
	}
	str_release(&text);
	if (result < 0)
		draft_abort(&letter->draft);
	return result;
}

static void
letter_marks(struct letter *letter, const struct bounce *bounce)
{
	letter->records = mem_alloc(bounce->rcpt_count,
	    sizeof(*letter->records));
	letter->count = bounce->rcpt_count;
	for (size_t i = 0; i < bounce->rcpt_count; i++) {
		const struct work_rcpt *rcpt = bounce->rcpts[i].rcpt;

		letter->records[i] = (struct work_record){
		    .kind = rcpt->is_final ? WORK_REPORTED :
		    WORK_DELAY_NOTICE, .rcpt_offset = rcpt->offset,
		    .time_s = bounce->now_s, .tries = rcpt->tries };
		if (!rcpt->is_final)
			event(EV_RCPT_DELAYED, bounce->work->id, "to",
			    rcpt->user, NULL);
	}
}

/* ---- nobody to tell ---------------------------------------------- */

/* RFC 5321 section 6.1: a message with a null sender is never answered.  One
 * that failed is kept for the postmaster (row D4) once nothing of it is
 * under way any more. */
static void
double_bounce(struct scheduler *scheduler, struct job *job,
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
		outcome_job(scheduler, job);
		return;
	}
	spool_hashed_name(scheduler->spool, job->inode, name);
	event(EV_DSN_DROPPED, job->id, "file", slice_of(name), "reason",
	    slice_of(bounce->rcpts[0].rcpt->last->verdict.text), "rcpts",
	    event_number((int64_t)bounce->rcpt_count), NULL);
	if (spool_shelve_work(scheduler->spool, name, "doublebounce",
	    &err) < 0)
		event(EV_SPOOL_TROUBLE, job->id, "file", slice_of(name),
		    "call", SLICE("rename"), "reason", slice_of(err.text),
		    NULL);
	intake_drop(scheduler, job);
}

/* ---- a batch ----------------------------------------------------- */

static void
trouble(struct scheduler *scheduler, struct job *job, const char *call,
    const struct err *err)
{
	event(EV_SPOOL_TROUBLE, job->id, "file", SLICE("public"), "call",
	    slice_of(call), "reason", slice_of(err->text), NULL);
	scheduler->reporter.not_before_ms = clock_steady_ms() +
	    REPORT_TROUBLE_MS;
	report_add(scheduler, job);
}

/* What stands in the file is not what we have: -1 as from report_read. */
static void
misread(struct scheduler *scheduler, struct job *job, int got,
    const struct err *err)
{
	if (job->flight_count > 0)
		job->flags |= JOB_RELOAD;	/* when it comes down */
	else if (got == 0)
		intake_orphan(scheduler, job);
	else
		intake_bad(scheduler, job, err->text);
}

/* 1 a letter that waits for its sync; 0 nothing to send, the job may be
 * gone. */
static int
letter_begin(struct scheduler *scheduler, struct job *job,
    struct letter *letter)
{
	struct work work;
	struct bounce bounce = { .work = &work,
	    .host = scheduler->conf->host, .now_s = clock_wall_s(),
	    .arrival_s = spool_id_time_us(slice_of(job->id)) / 1000000 };
	struct err err;
	int got;

	got = report_read(scheduler, job, &work, &err);
	if (got == 1) {
		int wrote = expire_write(scheduler, job, &work, &err);

		if (wrote < 0) {
			trouble(scheduler, job, "append", &err);
			return 0;
		}
		if (wrote > 0)
			got = report_read(scheduler, job, &work, &err);
	}
	if (got < 1) {
		misread(scheduler, job, got, &err);
		return 0;
	}
	rcpts_choose(scheduler, job, &bounce);
	if (!address_is_good(work.errors_to)) {
		double_bounce(scheduler, job, &bounce);
		return 0;
	}
	if (bounce.rcpt_count == 0) {
		job->flags &= (uint16_t)~(JOB_OWES | JOB_NOTICE);
		outcome_job(scheduler, job);
		return 0;
	}
	letter->job = job;
	letter->kind = bounce_kind(&bounce);
	bounce.has_body = bounce_returns_body(&work, letter->kind,
	    scheduler->conf->limits.dsn_bytes < BODY_BYTES_MAX ?
	    scheduler->conf->limits.dsn_bytes : BODY_BYTES_MAX);
	if (bounce.has_body)
		body_read(job, &bounce, scheduler->intake.arena);
	if (letter_write(scheduler, &bounce, letter, &err) < 0) {
		trouble(scheduler, job, "write", &err);
		return 0;
	}
	letter_marks(letter, &bounce);
	letter->to = mem_strdup(slice_dup(scheduler->intake.arena,
	    work.errors_to));
	return 1;
}

/* Durable: mark (so that recovery adopts it), then rename (row S3). */
static void
letter_end(struct scheduler *scheduler, struct letter *letter,
    const struct err *sync_err)
{
	struct job *job = letter->job;
	struct err err;

	if (letter->draft.is_bad) {
		draft_abort(&letter->draft);
		trouble(scheduler, job, "fsync", sync_err);
		return;
	}
	if (work_append(job->control_fd, job->id, letter->records,
	    letter->count, &err) < 0) {
		draft_abort(&letter->draft);
		trouble(scheduler, job, "append", &err);
		return;
	}
	event(EV_DSN_SENT, job->id, "to", slice_of(letter->to), "dsn",
	    slice_of(letter->draft.id), "kind",
	    slice_of(bounce_kind_name(letter->kind)), "rcpts",
	    event_number((int64_t)letter->count), NULL);
	if (draft_publish(&letter->draft, AREA_ROUTER, 0, NULL, &err) < 0)
		event(EV_SPOOL_TROUBLE, job->id, "file",
		    slice_of(letter->draft.name), "call", SLICE("rename"),
		    "reason", slice_of(err.text), NULL);
	job->flags &= (uint16_t)~(JOB_OWES | JOB_NOTICE);
	if (job->final_count < job->rcpt_count)
		group_dirty(scheduler, job);
	outcome_job(scheduler, job);
}

static void
letters_send(struct scheduler *scheduler, struct letter *letters,
    size_t count)
{
	struct draft *drafts[REPORT_TURN_JOBS];
	struct err err = { "" };

	for (size_t i = 0; i < count; i++)
		drafts[i] = &letters[i].draft;
	draft_sync(drafts, count, &err);
	for (size_t i = 0; i < count; i++) {
		letter_end(scheduler, &letters[i], &err);
		mem_free(&letters[i].records);
		mem_free(&letters[i].to);
	}
}

int64_t
report_turn_end(struct scheduler *scheduler)
{
	static struct letter letters[REPORT_TURN_JOBS];
	struct reporter *reporter = &scheduler->reporter;
	struct job *batch[REPORT_TURN_JOBS];
	size_t count = reporter->count, letter_count = 0;

	if (count == 0)
		return INT64_MAX;
	if (clock_steady_ms() < reporter->not_before_ms)
		return reporter->not_before_ms;
	if (count > REPORT_TURN_JOBS)
		count = REPORT_TURN_JOBS;
	reporter->count -= count;
	memcpy(batch, reporter->queue + reporter->count,
	    count * sizeof(batch[0]));
	for (size_t i = 0; i < count; i++)
		batch[i]->flags &= (uint16_t)~JOB_REPORT;
	for (size_t i = 0; i < count; i++) {
		memset(&letters[letter_count], 0, sizeof(letters[0]));
		letter_count += (size_t)letter_begin(scheduler, batch[i],
		    &letters[letter_count]);
	}
	if (letter_count > 0)
		letters_send(scheduler, letters, letter_count);
	for (size_t i = 0; i < letter_count; i++)
		letters[i].job = NULL;
	if (reporter->count == 0)
		return INT64_MAX;
	return reporter->not_before_ms > clock_steady_ms() ?
	    reporter->not_before_ms : 0;
}
