/* job_build.c - a parsed control file becomes a job and joins the plan
 *
 * In     a struct control_file with the state of every recipient
 * Out    one block of memory: offsets and counts, no address
 * Holds  nothing
 * Trusts control_file_parse for the form; times in records only within bounds
 * Spec   doc/INTERNALS.md row P4; RFC 3461 section 5.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/plan/retry.h"

#include "base/banned.h"

enum { FUTURE_MAX_S = 366 * 86400 };	/* whatever a clock says */

/* By what orders say of it: those that differ do not go together. */
static int
entry_compare_park(const struct rcpt_entry *a, const struct rcpt_entry *b)
{
	if (a->park != b->park)
		return a->park < b->park ? -1 : 1;
	if (a->until_s != b->until_s)
		return a->until_s < b->until_s ? -1 : 1;
	if (a->expire_s != b->expire_s)
		return a->expire_s < b->expire_s ? -1 : 1;
	if ((a->rcpt->way_count > 0) != (b->rcpt->way_count > 0))
		return a->rcpt->way_count > 0 ? -1 : 1;
	return a->is_strict - b->is_strict;
}

/* By group, thread, orders: equal ones become a vertex. */
static int
entry_compare_way(const struct rcpt_entry *a, const struct rcpt_entry *b)
{
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->thread != b->thread)
		return (uintptr_t)a->thread < (uintptr_t)b->thread ? -1 : 1;
	return entry_compare_park(a, b);
}

static int
entry_compare(const void *pa, const void *pb)
{
	const struct rcpt_entry *a = pa, *b = pb;
	int order = entry_compare_way(a, b);

	if (order != 0)
		return order;
	return a->rcpt->offset < b->rcpt->offset ? -1 : 1;
}

/* ---- what was ordered -------------------------------------------- */

static void
entry_park(struct rcpt_entry *entry, const struct control_file *control,
    int64_t now_s)
{
	const struct control_rcpt *rcpt = entry->rcpt;
	int64_t future_s = control->terms.hold_until_s;

	if (future_s > now_s + FUTURE_MAX_S)
		future_s = now_s + FUTURE_MAX_S;
	if (rcpt->is_frozen) {
		entry->park = PARK_FROZEN;
	} else if (!control_rcpt_is_free(rcpt, now_s)) {
		entry->park = PARK_HELD;
		entry->until_s = rcpt->hold_until_s;
	} else if (rcpt->is_scheduled && rcpt->next_s > now_s) {
		entry->park = PARK_SCHEDULED;
		entry->until_s = rcpt->next_s;
	} else if (future_s > now_s && rcpt->tries == 0 &&
	    !rcpt->is_scheduled) {
		entry->park = PARK_FUTURE;	/* RFC 4865 section 4 */
		entry->until_s = future_s;
	}
}

static uint32_t
job_age_at(int64_t moment_s, int64_t born_s)
{
	int64_t age_s = moment_s - born_s;

	return age_s < 1 ? 1 : age_s > UINT32_MAX ? UINT32_MAX :
	    (uint32_t)age_s;
}

/* When it is given up, where that is not what the clause says. */
static void
entry_expire(struct rcpt_entry *entry, const struct control_file *control)
{
	const struct control_rcpt *rcpt = entry->rcpt;
	int64_t born_s = spool_id_time_us(slice_of(control->id)) / 1000000;
	int64_t by_s = control->terms.by_returns ? control->terms.by_s : 0;
	int64_t held_s = control_rcpt_held_s(rcpt);

	if (rcpt->expire_s > 0) {
		entry->expire_s = job_age_at(rcpt->expire_s, born_s);
		entry->is_strict = true;
	} else if (by_s > 0) {		/* RFC 2852 section 4.1 */
		entry->expire_s = job_age_at(by_s, born_s);
		entry->is_strict = true;
	} else if (rcpt->thawed_s > 0) {
		entry->expire_s = job_age_at(rcpt->thawed_s + held_s +
		    entry->thread->ring->clause.expire_s, born_s);
	} else if (rcpt->way_since_s > 0) {
		entry->expire_s = job_age_at(rcpt->way_since_s + held_s +
		    entry->thread->ring->clause.expire_s, born_s);
	} else if (held_s > 0) {
		entry->expire_s = job_age_at(born_s + held_s +
		    entry->thread->ring->clause.expire_s, born_s);
	}
	if (rcpt->way_count > 0 && rcpt->ways[0].after_s > 0) {
		uint32_t end_s = job_age_at(rcpt->ways[0].after_s +
		    (rcpt->way_since_s > 0 ? rcpt->way_since_s : born_s),
		    born_s);

		if (entry->expire_s == 0 || end_s < entry->expire_s) {
			entry->expire_s = end_s;
			entry->is_strict = false;
		}
	}
}

/* ---- vertices ---------------------------------------------------- */

static struct thread_way
entry_way(const struct conf *conf, const struct control_file *control,
    size_t group,
    const struct control_rcpt *rcpt)
{
	const struct conf_zone *zone = conf_zone_for(conf,
	    control->terms.zone.n > 0 ? control->terms.zone : rcpt->zone,
	    rcpt->channel, control->groups[group].sender, rcpt->host);

	return (struct thread_way){ rcpt->channel, rcpt->host,
		slice_of(zone ? zone->name : "") };
}

static void
entry_ended(const struct intake *intake, const struct control_file *control,
    const struct control_rcpt *rcpt, int64_t now_s, struct draft_ended *out)
{
	int64_t kept_s = control_rcpt_kept_until_s(rcpt,
	    intake->queue->conf->keep_failed_ms / 1000, now_s);

	out->failed_count += rcpt->last != NULL &&
	    rcpt->last->verdict.kind == VERDICT_FAILED;
	if (kept_s == 0)
		out->owes |= rcpt_owes(control, rcpt);
	else if (out->kept_s == 0 || kept_s < out->kept_s)
		out->kept_s = kept_s;
}

static void
draft_take_rcpt(struct job_draft *draft, const struct control_rcpt *rcpt,
    int64_t now_ms, int64_t now_s)
{
	struct queue *queue = draft->intake->queue;
	struct rcpt_entry *entry = &draft->entries[draft->count];

	if (rcpt->is_final) {
		entry_ended(draft->intake, draft->control, rcpt, now_s,
		    &draft->ended);
		return;
	}
	*entry = (struct rcpt_entry){ .rcpt = rcpt,
	    .group = (uint32_t)draft->group, .thread =
	    thread_get(&queue->threads, queue->conf,
	    entry_way(queue->conf, draft->control, draft->group, rcpt),
	    now_ms) };
	thread_name(entry->thread);
	orders_apply(&queue->orders, entry->thread);
	entry_park(entry, draft->control, now_s);
	entry_expire(entry, draft->control);
	draft->count++;
}

void
job_draft_begin(struct job_draft *draft, struct intake *intake,
    const struct control_file *control, struct arena *arena)
{
	*draft = (struct job_draft){ .intake = intake, .control = control };
	draft->entries = &draft->one;
	if (control->rcpt_total > 1)
		draft->entries = arena_alloc(arena, control->rcpt_total *
		    sizeof(*draft->entries));
}

bool
job_draft_take(struct job_draft *draft, size_t most)
{
	int64_t now_ms = clock_steady_ms(), now_s = clock_wall_s();
	const struct control_file *control = draft->control;

	for (; draft->group < control->group_count; draft->group++) {
		const struct control_group *group =
		    &control->groups[draft->group];

		for (; draft->next < group->rcpt_count; draft->next++) {
			if (most-- == 0)
				return false;
			draft_take_rcpt(draft, &group->rcpts[draft->next],
			    now_ms, now_s);
		}
		draft->next = 0;
	}
	return true;
}

static size_t
vertices_count(const struct rcpt_entry *entries, size_t count)
{
	size_t vertices = 0, run = 0;

	for (size_t i = 0; i < count; i++) {
		if (i == 0 || entry_compare_way(&entries[i], &entries[i - 1]) !=
		    0 ||
		    run == VERTEX_RCPTS_MAX) {
			vertices++;
			run = 0;
		}
		run++;
	}
	return vertices;
}

/* Notices that were sent, and those whose time had passed when the last try
 * was made: one for several. */
static void
vertex_take_notices(struct vertex *vertex, const struct control_rcpt *rcpt)
{
	const struct conf_schedule *clause = &vertex->thread->ring->clause;
	unsigned notices = rcpt->delay_notices;
	int64_t born_s = spool_id_time_us(slice_of(vertex->job->id)) /
	    1000000;

	if (notices > 0 && rcpt->last_try_s > born_s) {
		unsigned passed = queue_notices_due(vertex->job, clause,
		    (rcpt->last_try_s - born_s) * 1000);

		notices = passed > notices ? passed : notices;
	}
	if (notices < vertex->notices)
		vertex->notices = (uint8_t)notices;
}

/* When the vertex's earliest recipient is due, from its records. */
static void
vertex_take(struct vertex *vertex, const struct control_rcpt *rcpt,
    bool is_queue_only, int64_t now_ms, int64_t now_s)
{
	const struct conf_schedule *clause = &vertex->thread->ring->clause;
	/* it costs a system call, and is for those that were tried */
	uint32_t random = rcpt->tries > 0 || rcpt->next_s > 0 ?
	    arc4random() : 0;
	int64_t left_ms = retry_left_ms(retry_waits_of(clause), rcpt->tries,
	    rcpt->last_try_s, rcpt->next_s, now_s, random);
	unsigned tries = rcpt->tries > UINT16_MAX ? UINT16_MAX : rcpt->tries;

	if ((clause->is_queue_only || is_queue_only) && rcpt->tries == 0 &&
	    rcpt->next_s == 0) {
		left_ms = vertex->job->born_ms + retry_delay_ms(
		    retry_waits_of(clause), 1, arc4random()) - now_ms;
		left_ms = left_ms > 0 ? left_ms : 0;
	}
	if (vertex->rcpt_count == 0 || now_ms + left_ms < vertex->moment_ms)
		vertex->moment_ms = now_ms + left_ms;
	if (tries > vertex->tries)
		vertex->tries = (uint16_t)tries;
	if (job_owes(vertex->job->rcpts[vertex->rcpt_first +
	    vertex->rcpt_count].notify, VERDICT_DEFERRED))
		vertex_take_notices(vertex, rcpt);
	vertex->rcpt_count++;
}

/* Somebody wanted it later, once or now. */
static bool
entry_is_apart(const struct rcpt_entry *entry,
    const struct control_file *control)
{
	const struct control_rcpt *rcpt = entry->rcpt;

	return entry->park != PARK_NONE || control->terms.hold_until_s > 0 ||
	    control->terms.is_queue_only || rcpt->is_scheduled ||
	    rcpt->thawed_s > 0 || control_rcpt_held_s(rcpt) > 0 ||
	    entry->thread->ring->clause.is_queue_only;
}

static void
draft_next_vertex(struct job_draft *draft, const struct rcpt_entry *entry)
{
	const struct control_group *group =
	    &draft->control->groups[entry->group];
	struct vertex *vertex = draft->vertex ? draft->vertex + 1 :
	    draft->job->vertices;

	thread_take_vertex(entry->thread, vertex);
	vertex->park = entry->park;
	vertex->expire_s = entry->expire_s;
	vertex->is_strict = entry->is_strict;
	vertex->has_ways = entry->rcpt->way_count > 0;
	vertex->sender_offset = group->sender_offset;
	vertex->header_offset = group->header_offset;
	vertex->rcpt_first = (uint32_t)draft->filled;
	vertex->notices = NOTICES_NONE;
	draft->vertex = vertex;
}

static void
draft_fill_rcpt(struct job_draft *draft, const struct rcpt_entry *entry,
    int64_t now_ms, int64_t now_s)
{
	const struct control_file *control = draft->control;
	struct rcpt *rcpt = &draft->job->rcpts[draft->filled];
	struct vertex *vertex = draft->vertex;

	rcpt->offset = entry->rcpt->offset;
	rcpt->notify = (uint8_t)rcpt_notify(control, entry->rcpt);
	rcpt->objective = (uint8_t)objectives_for(
	    &draft->intake->queue->objectives, entry->rcpt->user);
	vertex_take(vertex, entry->rcpt, control->terms.is_queue_only, now_ms,
	    now_s);
	if (entry_is_apart(entry, control))
		vertex->is_apart = true;
	if (vertex->park != PARK_NONE)
		vertex->moment_ms = entry->until_s == 0 ? 0 :
		    now_ms + (entry->until_s - now_s) * 1000;
	if (control->errors_to.n == 0)
		vertex->notices = NOTICES_NONE;
}

bool
job_draft_fill(struct job_draft *draft, size_t most)
{
	int64_t now_ms = clock_steady_ms(), now_s = clock_wall_s();

	for (; draft->filled < draft->count; draft->filled++) {
		const struct rcpt_entry *entry =
		    &draft->entries[draft->filled];

		if (most-- == 0)
			return false;
		if (draft->filled == 0 || entry_compare_way(entry, entry - 1) !=
		    0 || draft->vertex->rcpt_count == VERTEX_RCPTS_MAX)
			draft_next_vertex(draft, entry);
		draft_fill_rcpt(draft, entry, now_ms, now_s);
		thread_unname(entry->thread);
	}
	return true;
}

void
job_draft_drop(struct job_draft *draft)
{
	for (; draft->filled < draft->count; draft->filled++)
		thread_unname(draft->entries[draft->filled].thread);
	if (draft->job == NULL)
		return;
	thread_forget_job(draft->job);
	job_free(&draft->job);
}

/* When it was accepted, on our steady clock.  The id's time may lie in the
 * future when the clock went back: then it is new. */
static int64_t
job_born_ms(const char *id)
{
	int64_t age_ms = (clock_wall_us() -
	    spool_id_time_us(slice_of(id))) / 1000;

	return clock_steady_ms() - (age_ms < 0 ? 0 : age_ms);
}

/* Does the client wait for what becomes of it?  Then it goes first; but of what
 * others answer for (the owners of lists) the client hears nothing. */
static void
job_attend(struct queue *queue, struct job *job,
    const struct control_file *control)
{
	struct hearer *hearer = hearers_find(&queue->hearers, job->id);

	if (hearer == NULL || hearer->verdict == HEARER_DELIVERED ||
	    hearer->verdict == HEARER_QUEUED)
		return;
	hearer->inode = job->inode;
	job->flags |= JOB_AWAITED;
	if (job->priority < 1)
		job->priority = 1;
	for (size_t i = 0; i < control->group_count; i++)
		if (!slice_equal(control_group_errors(control,
		    &control->groups[i]), control->errors_to))
			queue_tell_later(queue, job,
			    SLICE("others hear of its failure"));
}

void
job_draft_sort(struct job_draft *draft)
{
	if (draft->count > 1)
		qsort(draft->entries, draft->count, sizeof(*draft->entries),
		    entry_compare);
	draft->job = job_new(vertices_count(draft->entries, draft->count),
	    draft->count);
}

void
job_draft_make(struct job_draft *draft)
{
	struct intake *intake = draft->intake;
	const struct control_file *control = draft->control;
	struct job *job = draft->job;

	job->inode = control->inode;
	strlcpy(job->id, control->id, sizeof(job->id));
	job->born_ms = job_born_ms(control->id);
	job->rcpt_total = (uint32_t)control->rcpt_total;
	job->source = crc32c(0, control->source.p, control->source.n);
	job->priority = (int8_t)control->terms.priority;
	job->steered = (uint8_t)control->terms.steered;
	if (control->terms.is_tls_optional)
		job->flags |= JOB_TLS_OPTIONAL;
	job->objectives = intake->queue->objectives.generation;
	job_attend(intake->queue, job, control);
	job->failed_count = draft->ended.failed_count;
	if (draft->ended.owes)
		job->flags |= JOB_OWES;
	if (control->cancelled_total > 0)
		job->flags |= JOB_TRASH;
	if (control->terms.by_s > 0 && !control->terms.by_returns)
		job->by_s = job_age_at(control->terms.by_s,
		    spool_id_time_us(slice_of(control->id)) / 1000000);
}

struct job *
job_build(struct intake *intake, const struct control_file *control,
    struct arena *scratch, int64_t *out_kept_s)
{
	struct job_draft draft;

	job_draft_begin(&draft, intake, control, scratch);
	(void)job_draft_take(&draft, SIZE_MAX);
	job_draft_sort(&draft);
	job_draft_make(&draft);
	(void)job_draft_fill(&draft, SIZE_MAX);
	*out_kept_s = draft.ended.kept_s;
	return draft.job;
}
