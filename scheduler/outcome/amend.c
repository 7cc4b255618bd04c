/* amend.c - what the scheduler itself has to say in a large control file
 *
 * In     vertices whose agent died, jobs with expired vertices
 * Out    records, events, vertices that are done
 * Holds  a list of jobs; the file of the first one, as read
 * Trusts the file more than memory: who is final there stays so
 * Spec   doc/INTERNALS.md row P4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/intake/reading.h"
#include "scheduler/outcome/amend.h"
#include "scheduler/outcome/expire.h"

#include "base/banned.h"

enum { AMEND_TURN_US = 5000, REASON_BYTES = 200 };

struct amend_vertex {
	uint32_t	 index;		/* in the job's */
	char		 reason[REASON_BYTES];
};

struct amend {
	struct outcome	*outcome;
	struct job	*job;
	struct intake_reading *reading;	/* NULL: its turn has not come */
	struct amend_vertex *lost;
	size_t		 lost_count, lost_capacity, lost_next;
	bool		 with_expired;
	struct expire_walk expired;
	struct timer	 more;
	struct amend	*next;
};

static void amend_begin_next(struct outcome *outcome);

/* ---- one job ----------------------------------------------------- */

static void
amend_free(struct amend **amend)
{
	timer_clear(&(*amend)->more);
	if ((*amend)->reading != NULL)
		reading_free(&(*amend)->reading);
	mem_free(&(*amend)->lost);
	mem_free(amend);
}

/* It is the first one.  The job is in nobody's hand any more, and goes on. */
static void
amend_over(struct amend *amend, bool is_good)
{
	struct outcome *outcome = amend->outcome;
	struct job *job = amend->job;
	bool with_expired = amend->with_expired;

	outcome->amends = amend->next;
	plan_job_end(&outcome->queue->plan, job);
	amend_free(&amend);
	if (!with_expired && (job->flags & JOB_RELOAD) &&
	    job->flight_count == 0)
		intake_reload(outcome->intake, job);
	else if (with_expired && is_good)
		settle_report(outcome->queue, job);
	else if (with_expired)
		settle_report_later(outcome->queue, job);
	amend_begin_next(outcome);
}

/* A piece.  0; -1 with err; *is_over: that was the last. */
static int
amend_piece(struct amend *amend, bool *is_over, struct err *err)
{
	const struct control_file *control = &amend->reading->control;
	struct job *job = amend->job;
	const struct amend_vertex *lost;
	bool wrote = false;

	*is_over = false;
	if (amend->lost_next < amend->lost_count) {
		lost = &amend->lost[amend->lost_next++];
		/* an order changed it since the file was read */
		return job->vertices[lost->index].is_stopped ? 0 :
		    outcome_write_lost(&job->vertices[lost->index],
		    control, lost->reason, err);
	}
	if (amend->with_expired && expire_some(amend->outcome, job, control,
	    &amend->expired, AMEND_RCPTS, &wrote, err) < 0)
		return -1;
	*is_over = !amend->with_expired || amend->expired.is_over;
	return 0;
}

static void
amend_trouble(const struct job *job, const struct err *err)
{
	event(EV_SPOOL_TROUBLE, job->id, "call", SLICE("append"), "reason",
	    slice_of(err->text), NULL);
}

static void
amend_more(void *context)
{
	struct amend *amend = context;
	struct loop *loop = amend->outcome->queue->loop;
	int64_t end_us = loop_share_end_us(loop, AMEND_TURN_US);
	int pieces = AMEND_PIECES;
	bool is_over;
	struct err err;

	do {
		if (amend_piece(amend, &is_over, &err) < 0) {
			amend_trouble(amend->job, &err);
			amend_over(amend, false);
			return;
		}
		if (is_over) {
			amend_over(amend, true);
			return;
		}
	} while (--pieces > 0 && clock_real_us() < end_us);
	timer_set(loop, &amend->more, clock_steady_ms(), amend_more, amend);
}

static void
amend_on_read(void *context)
{
	struct amend *amend = context;
	const struct intake_reading *reading = amend->reading;

	/* what is no message any more, or damaged, is found when it is read
	 * again */
	if (reading->got != INTAKE_READ ||
	    strcmp(reading->control.id, amend->job->id) != 0)
		amend_over(amend, false);
	else
		amend_more(amend);
}

/* ---- one after the other ----------------------------------------- */

static void
amend_begin_next(struct outcome *outcome)
{
	struct amend *amend = outcome->amends;
	struct err err;

	if (amend == NULL || amend->reading != NULL)
		return;
	if (!intake_job_open(outcome->intake, amend->job, &err)) {
		amend_over(amend, false);
		return;
	}
	reading_begin(outcome->intake, amend->job->control_fd, READING_WHOLE,
	    &(struct reading_steps){ NULL, amend_on_read, amend },
	    &amend->reading);
}

/* One of the job that has not begun: what comes later must be read later. */
static struct amend *
amend_get(struct outcome *outcome, struct job *job)
{
	struct amend **link = &outcome->amends;

	for (; *link != NULL; link = &(*link)->next)
		if ((*link)->job == job && (*link)->reading == NULL)
			return *link;
	*link = mem_alloc(1, sizeof(**link));
	(*link)->outcome = outcome;
	(*link)->job = job;
	plan_job_begin(&outcome->queue->plan, job);
	return *link;
}

bool
amend_is_due(struct outcome *outcome, struct job *job)
{
	struct err err;

	return job->rcpt_total >= AMEND_RCPTS &&
	    intake_job_open(outcome->intake, job, &err) &&
	    reading_is_large(job->control_fd);
}

void
amend_lost(struct outcome *outcome, struct vertex *vertex,
    const char *reason)
{
	struct amend *amend = amend_get(outcome, vertex->job);
	struct amend_vertex *lost;

	ARRAY_GROW(amend->lost, amend->lost_count, amend->lost_capacity);
	lost = &amend->lost[amend->lost_count++];
	lost->index = (uint32_t)(vertex - vertex->job->vertices);
	strlcpy(lost->reason, reason, sizeof(lost->reason));
	amend_begin_next(outcome);
}

static bool
amend_has_expired(const struct outcome *outcome, const struct job *job)
{
	const struct amend *amend = outcome->amends;

	while (amend != NULL && !(amend->job == job && amend->with_expired))
		amend = amend->next;
	return amend != NULL;
}

bool
amend_expired(struct outcome *outcome, struct job *job)
{
	bool is_some = false;

	for (size_t i = 0; i < job->vertex_count && !is_some; i++)
		is_some = job->vertices[i].is_expired ||
		    job->vertices[i].has_ended;
	if (!is_some || !amend_is_due(outcome, job))
		return false;
	if (!amend_has_expired(outcome, job))
		amend_get(outcome, job)->with_expired = true;
	amend_begin_next(outcome);
	return true;
}

bool
amend_is_about_death(const struct outcome *outcome)
{
	const struct amend *amend = outcome->amends;

	while (amend != NULL && amend->lost_count == 0)
		amend = amend->next;
	return amend != NULL;
}

void
amend_end(struct outcome *outcome)
{
	if (outcome->amends != NULL)
		syncer_settle(outcome->group->syncer);
	while (outcome->amends != NULL) {
		struct amend *amend = outcome->amends;

		outcome->amends = amend->next;
		plan_job_end(&outcome->queue->plan, amend->job);
		amend_free(&amend);
	}
}
