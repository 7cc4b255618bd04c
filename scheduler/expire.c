/* expire.c - recipients whose time is over get their last outcome
 *
 * In     a job with expired vertices, its control file as it is now
 * Out    `failed` records, events; vertices that are done
 * Holds  nothing
 * Trusts the file more than memory: who is final there stays so
 * Spec   RFC 3463 section 3.5: X.4.7 delivery time expired
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/event.h"
#include "scheduler/expire.h"
#include "scheduler/group.h"
#include "scheduler/job_build.h"
#include "scheduler/report.h"

#include "base/banned.h"

void
expire_verdict(const struct work_rcpt *rcpt, int64_t age_s,
    struct verdict *out)
{
	char span[CLOCK_TEXT_BYTES];

	clock_span(age_s, span);
	if (rcpt->last == NULL)
		verdict_set(out, VERDICT_FAILED, "5.4.7", "scheduler",
		    "delivery time expired after %s; the host could not be "
		    "reached", span);
	else
		verdict_set(out, VERDICT_FAILED, "5.4.7",
		    rcpt->last->verdict.who,
		    "delivery time expired after %s and %u attempts; "
		    "last: %s", span, rcpt->tries, rcpt->last->verdict.text);
}

static void
expire_rcpt(const struct job *job, const struct work_rcpt *rcpt,
    struct work_record *record)
{
	int64_t age_s = (clock_steady_ms() - job->born_ms) / 1000;

	*record = (struct work_record){ .kind = WORK_OUTCOME,
	    .rcpt_offset = rcpt->offset, .time_s = clock_wall_s(),
	    .tries = rcpt->tries };
	expire_verdict(rcpt, age_s, &record->verdict);
	event(EV_RCPT_FAIL, job->id, "to", rcpt->user, "channel",
	    rcpt->channel, "host", rcpt->host, "code", SLICE("5.4.7"),
	    "reply", slice_of(record->verdict.text), "delay",
	    event_number(age_s), "tries", event_number(rcpt->tries), NULL);
}

static void
expire_done(struct scheduler *scheduler, struct vertex *vertex)
{
	struct job *job = vertex->job;
	struct rcpt *rcpts = vertex_rcpts(vertex);

	for (size_t i = 0; i < vertex->rcpt_count; i++) {
		if (rcpts[i].flags & RCPT_FINAL)
			continue;
		rcpts[i].flags |= RCPT_FINAL;
		vertex->final_count++;
		job->final_count++;
		job->failed_count++;
		scheduler->total.failed++;
	}
	vertex->is_expired = false;
	plan_done(&scheduler->plan, vertex);
	job->flags |= JOB_OWES;
}

static int
expire_vertex(struct scheduler *scheduler, struct vertex *vertex,
    const struct work *work, struct err *err)
{
	struct work_record records[VERTEX_RCPTS_MAX];
	struct rcpt *rcpts = vertex_rcpts(vertex);
	struct job *job = vertex->job;
	size_t count = 0;

	for (size_t i = 0; i < vertex->rcpt_count; i++) {
		const struct work_rcpt *rcpt = report_rcpt(work,
		    rcpts[i].offset);

		if (rcpt != NULL && !rcpt->is_final &&
		    !(rcpts[i].flags & RCPT_FINAL))
			expire_rcpt(job, rcpt, &records[count++]);
	}
	if (count > 0 && work_append(job->control_fd, job->id, records,
	    count, err) < 0)
		return -1;
	group_dirty(scheduler, job);
	expire_done(scheduler, vertex);
	return 1;
}

int
expire_write(struct scheduler *scheduler, struct job *job,
    const struct work *work, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < job->vertex_count; i++) {
		if (!job->vertices[i].is_expired)
			continue;
		if (expire_vertex(scheduler, &job->vertices[i], work,
		    err) < 0)
			return -1;
		result = 1;
	}
	return result;
}
