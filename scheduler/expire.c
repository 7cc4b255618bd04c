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
#include "scheduler/outcome.h"
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

/* A rule said that this is no case for another try: the other side's words
 * and its status, which is final now. */
static void
end_verdict(const struct work_rcpt *rcpt, struct verdict *out)
{
	const struct verdict *last = rcpt->last ? &rcpt->last->verdict : NULL;
	char status[sizeof(out->status)] = "5.0.0";

	if (last != NULL && last->status[0] != '\0') {
		strlcpy(status, last->status, sizeof(status));
		status[0] = '5';
	}
	verdict_set(out, VERDICT_FAILED, status, last ? last->who :
	    "scheduler", "%s (no further attempt after %u, by rule)",
	    last ? last->text : "", rcpt->tries);
}

static void
expire_rcpt(const struct job *job, const struct work_rcpt *rcpt,
    bool has_ended, struct work_record *record)
{
	int64_t age_s = (clock_steady_ms() - job->born_ms) / 1000;

	*record = (struct work_record){ .kind = WORK_OUTCOME,
	    .rcpt_offset = rcpt->offset, .time_s = clock_wall_s(),
	    .tries = rcpt->tries };
	if (has_ended)
		end_verdict(rcpt, &record->verdict);
	else
		expire_verdict(rcpt, age_s, &record->verdict);
	event(EV_RCPT_FAIL, job->id, "to", rcpt->user, "channel",
	    rcpt->channel, "host", rcpt->host, "code",
	    slice_of(record->verdict.status),
	    "reply", slice_of(record->verdict.text), "delay",
	    event_number(age_s), "tries", event_number(rcpt->tries), NULL);
}

static bool
is_meant(const struct vertex *vertex, const struct rcpt *rcpt)
{
	return !(rcpt->flags & RCPT_FINAL) &&
	    (vertex->is_expired || (rcpt->flags & RCPT_ENDED));
}

static void
expire_done(struct scheduler *scheduler, struct vertex *vertex)
{
	struct job *job = vertex->job;
	struct rcpt *rcpts = vertex_rcpts(vertex);

	for (size_t i = 0; i < vertex->rcpt_count; i++) {
		if (!is_meant(vertex, &rcpts[i]))
			continue;
		rcpts[i].flags |= RCPT_FINAL;
		vertex->final_count++;
		job->final_count++;
		job->failed_count++;
		scheduler->total.failed++;
	}
	vertex->is_expired = vertex->has_ended = false;
	job->flags |= JOB_OWES;
	if (vertex->final_count == vertex->rcpt_count)
		plan_done(&scheduler->plan, vertex);
	else
		outcome_again(scheduler, vertex);
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
		    is_meant(vertex, &rcpts[i]))
			expire_rcpt(job, rcpt, (rcpts[i].flags & RCPT_ENDED) !=
			    0, &records[count++]);
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
		if (!job->vertices[i].is_expired &&
		    !job->vertices[i].has_ended)
			continue;
		if (expire_vertex(scheduler, &job->vertices[i], work,
		    err) < 0)
			return -1;
		result = 1;
	}
	return result;
}
