/* report.c - one report: whom it is about, its text, its draft
 *
 * In     a job, its control file as read, its body
 * Out    a draft that is not yet synced, records that mark what it tells
 * Holds  nothing
 * Trusts the control file as far as control_file_parse does
 * Spec   doc/INTERNALS.md row S3; RFC 3461 section 5.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/fd.h"
#include "mail/envelope.h"
#include "mail/whole.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/plan/retry.h"
#include "scheduler/report/report.h"

#include "base/banned.h"

enum { BODY_BYTES_MAX = 16 << 20 };	/* whatever `limit dsn` says */

/* ---- whom to tell about ------------------------------------------ */

/* Notices whose time has come by now, sent or not. */
static unsigned
report_notices_due(const struct reporter *reporter, const struct job *job,
    const struct control_rcpt *rcpt)
{
	return queue_notices_due(job, conf_schedule_for(reporter->queue->conf,
	    rcpt->channel, rcpt->host), clock_steady_ms() - job->born_ms);
}

static bool
report_is_due(const struct reporter *reporter, const struct job *job,
    const struct control_file *control, const struct control_rcpt *rcpt,
    int64_t now_s)
{
	if (rcpt->is_final)
		return rcpt_owes(control, rcpt) && control_rcpt_kept_until_s(
		    rcpt, reporter->queue->conf->keep_failed_ms / 1000,
		    now_s) == 0;
	return (job->flags & JOB_NOTICE) != 0 &&
	    ((rcpt->tries > 0 && rcpt->last != NULL) || job->by_s > 0) &&
	    control_rcpt_is_free(rcpt, now_s) &&
	    rcpt->delay_notices < report_notices_due(reporter, job, rcpt) &&
	    job_owes(rcpt_notify(control, rcpt), VERDICT_DEFERRED);
}

/* When it will be given up, by the clause or by what was ordered. */
static int64_t
report_until_s(const struct reporter *reporter, const struct job *job,
    const struct control_file *control, const struct control_rcpt *rcpt)
{
	const struct conf_schedule *clause = conf_schedule_for(
	    reporter->queue->conf, rcpt->channel, rcpt->host);

	if (rcpt->expire_s > 0)
		return rcpt->expire_s;
	if (control->terms.by_returns && control->terms.by_s > 0)
		return control->terms.by_s;
	return (rcpt->thawed_s > 0 ? rcpt->thawed_s :
	    spool_id_time_us(slice_of(job->id)) / 1000000) +
	    control_rcpt_held_s(rcpt) + clause->expire_s;
}

/* Who hears about a group; whom the message came from when that is nobody
 * that could. */
static struct slice
report_group_errors(const struct control_file *control,
    const struct control_group *group)
{
	struct slice errors_to = control_group_errors(control, group);

	return report_address_is_good(errors_to) ? errors_to :
	    control->errors_to;
}

void
report_sift(const struct reporter *reporter, const struct job *job,
    const struct control_file *control, struct report_list *list,
    int64_t now_s)
{
	size_t kept = list->first;

	for (size_t i = list->first; list->is_part && i < list->count; i++)
		if (report_is_due(reporter, job, control, list->owed[i].rcpt,
		    now_s))
			list->owed[kept++] = list->owed[i];
	if (list->is_part)
		list->count = kept;
}

int64_t
report_kept_until_s(const struct reporter *reporter,
    const struct report_list *list, int64_t now_s)
{
	int64_t keep_s = reporter->queue->conf->keep_failed_ms / 1000;
	int64_t first_s = list->kept_s;

	for (size_t i = list->first; keep_s > 0 && i < list->count; i++) {
		int64_t until_s = control_rcpt_kept_until_s(
		    list->owed[i].rcpt, keep_s, now_s);

		if (until_s > 0 && (first_s == 0 || until_s < first_s))
			first_s = until_s;
	}
	return first_s;
}

size_t
report_choose_rcpts(struct reporter *reporter, const struct job *job,
    const struct report_list *list, struct bounce *bounce, bool *out_more)
{
	const struct control_file *control = bounce->control;
	size_t left = list->count - list->first, count = 0;
	size_t room = left < REPORT_RCPTS_MAX ? left : REPORT_RCPTS_MAX;
	struct bounce_rcpt *chosen =
	    arena_alloc(reporter->outcome->intake->arena,
	    room * sizeof(*chosen));
	const struct control_group *group = NULL;
	struct slice errors_to = SLICE("");

	bounce->errors_to = control->errors_to;
	*out_more = false;
	for (size_t i = list->first; i < list->count; i++) {
		const struct control_rcpt *rcpt = list->owed[i].rcpt;

		if (!report_is_due(reporter, job, control, rcpt,
		    bounce->now_s))
			continue;
		if (list->owed[i].group != group) {
			group = list->owed[i].group;
			errors_to = report_group_errors(control, group);
		}
		if (count == 0) {
			bounce->group = group;
			bounce->errors_to = errors_to;
		} else if (count == room ||
		    !slice_equal(errors_to, bounce->errors_to)) {
			*out_more = true;
			if (count == room)
				break;
			continue;
		}
		chosen[count++] = (struct bounce_rcpt){ rcpt,
		    report_until_s(reporter, job, control, rcpt) };
	}
	bounce->rcpts = chosen;
	return bounce->rcpt_count = count;
}

/* ---- writing ----------------------------------------------------- */

static void
report_read_body(const struct job *job, struct bounce *bounce,
    struct arena *arena)
{
	size_t most = bounce->control->size_bytes;
	char *body = arena_alloc(arena, most + 1);
	ssize_t got = fd_read_at(job->body_fd, body, most,
	    bounce->control->body_offset);

	bounce->body = (struct slice){ body, got > 0 ? (size_t)got : 0 };
}

static int
report_write_envelope(const struct bounce *bounce, struct str *out,
    struct err *err)
{
	struct envelope envelope = { .is_error = true,
	    .dsn_of = slice_of(bounce->control->id) };
	struct envelope_rcpt rcpt = { .notify = DSN_NOTIFY_NEVER };
	struct slice rest;

	strlcpy(envelope.id, bounce->id, sizeof(envelope.id));
	if (path_parse(bounce->errors_to,
	    PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &rcpt.path, &rest,
	    err) < 0)
		return err_prefix(err, "address for reports");
	envelope.terms.is_utf8 = bounce_is_global(bounce);
	if (bounce_is_8bit(bounce))
		envelope.bodytype = SLICE("8BITMIME");
	envelope.rcpts = &rcpt;
	envelope.rcpt_count = 1;
	return envelope_add(out, &envelope, err) < 0 ? -1 : 0;
}

/* Can a report be sent there at all? */
bool
report_address_is_good(struct slice address)
{
	struct path path;
	struct slice rest;
	struct err err;

	return address.n > 0 && path_parse(address,
	    PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &path, &rest,
	    &err) == 0 && rest.n == 0 && !path_is_null(&path);
}

/* Row S3.  A draft of that name is one that we could not finish: its marks
 * are not in the control file, else its number would differ. */
static int
report_begin_draft(struct reporter *reporter,
    const struct control_file *control,
    struct draft *draft, struct err *err)
{
	char stem[SPOOL_NAME_BYTES];

	spool_dsn_name(control->id, control->report_records, stem);
	return draft_open_again(reporter->queue->spool, stem, draft, err);
}

/* Envelope and text into the draft. */
static int
report_fill_draft(struct bounce *bounce, struct draft *draft, struct err *err)
{
	struct str text = STR_INIT;
	char nonce[24];
	int result;

	snprintf(nonce, sizeof(nonce), "%08x%08x", arc4random(),
	    arc4random());
	bounce->id = draft->id;
	bounce->nonce = nonce;
	result = report_write_envelope(bounce, &text, err);
	if (result == 0) {
		bounce_text(bounce, &text);
		result = draft_write(draft, text.buf, text.len, err);
	}
	str_release(&text);
	bounce->nonce = "";
	return result;
}

void
report_mark(struct report *report, const struct bounce *bounce)
{
	report->records = mem_alloc(bounce->rcpt_count,
	    sizeof(*report->records));
	report->count = bounce->rcpt_count;
	for (size_t i = 0; i < bounce->rcpt_count; i++) {
		const struct control_rcpt *rcpt = bounce->rcpts[i].rcpt;

		report->records[i] = (struct control_record){
			.kind = rcpt->is_final ? RECORD_REPORTED :
						 RECORD_DELAY_NOTICE,
			.rcpt_offset = rcpt->offset,
			.time_s = bounce->now_s,
			.tries = rcpt->tries
		};
		if (!rcpt->is_final)
			event(EV_RCPT_DELAYED, bounce->control->id, "to",
			    rcpt->user, "orcpt", rcpt->orcpt, NULL);
	}
}

int
report_write(struct reporter *reporter, struct job *job,
    struct bounce *bounce, struct report *out, struct err *err)
{
	uint64_t limit = reporter->queue->conf->limits.dsn_bytes;

	memset(out, 0, sizeof(*out));
	out->job = job;
	out->kind = bounce_kind(bounce);
	strlcpy(out->status, bounce_status(bounce, &bounce->rcpts[0]),
	    sizeof(out->status));
	bounce->forms = reporter->forms.all;
	bounce->form_count = reporter->forms.count;
	bounce->has_body = bounce_returns_body(bounce->control, out->kind,
	    limit < BODY_BYTES_MAX ? limit : BODY_BYTES_MAX);
	/* what a disk changed is not what was sent */
	bounce->has_body = bounce->has_body &&
	    whole_file(job->body_fd, err) == WHOLE_YES;
	if (bounce->has_body)
		report_read_body(job, bounce, reporter->outcome->intake->arena);
	if (report_begin_draft(reporter, bounce->control, &out->draft, err) < 0)
		return -1;
	if (report_fill_draft(bounce, &out->draft, err) < 0) {
		draft_abort(&out->draft);
		return -1;
	}
	report_mark(out, bounce);
	out->to = mem_strdup(slice_dup(reporter->outcome->intake->arena,
	    bounce->errors_to));
	return 0;
}

void
report_free_texts(struct report *report)
{
	mem_free(&report->records);
	mem_free(&report->to);
	report->job = NULL;
}
