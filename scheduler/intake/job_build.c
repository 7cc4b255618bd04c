/* job_build.c - a parsed control file becomes a job and joins the plan
 *
 * In     recipients with their states, in the order of the file
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
#include "base/mem.h"
#include "scheduler/intake/job_build.h"
#include "scheduler/plan/retry.h"

#include "base/banned.h"

enum { FUTURE_MAX_S = 366 * 86400 };	/* whatever a clock says */

/* ---- what was ordered -------------------------------------------- */

static void
kind_park(struct draft_kind *kind, const struct control_file *control,
    const struct control_rcpt *rcpt, int64_t now_s)
{
	int64_t future_s = control->terms.hold_until_s;

	if (future_s > now_s + FUTURE_MAX_S)
		future_s = now_s + FUTURE_MAX_S;
	if (rcpt->is_frozen) {
		kind->park = PARK_FROZEN;
	} else if (!control_rcpt_is_free(rcpt, now_s)) {
		kind->park = PARK_HELD;
		kind->until_s = rcpt->hold_until_s;
	} else if (rcpt->is_scheduled && rcpt->next_s > now_s) {
		kind->park = PARK_SCHEDULED;
		kind->until_s = rcpt->next_s;
	} else if (future_s > now_s && rcpt->tries == 0 &&
	    !rcpt->is_scheduled) {
		kind->park = PARK_FUTURE;	/* RFC 4865 section 4 */
		kind->until_s = future_s;
	}
}

/* The message's age at a moment; of one that is new because the clock went back
 * (job_born_ms), at a moment of the clock since then, from now on. */
static uint32_t
job_age_at(int64_t moment_s, int64_t born_s)
{
	int64_t now_s = clock_wall_s();
	int64_t age_s = moment_s - (moment_s <= born_s && now_s < born_s ?
	    now_s : born_s);

	return age_s < 1 ? 1 : age_s > UINT32_MAX ? UINT32_MAX :
	    (uint32_t)age_s;
}

/* When it is given up, where that is not what the clause says. */
static void
kind_expire(struct draft_kind *kind, const struct control_file *control,
    const struct control_rcpt *rcpt)
{
	int64_t born_s = spool_id_time_us(slice_of(control->id)) / 1000000;
	int64_t by_s = control->terms.by_returns ? control->terms.by_s : 0;
	int64_t held_s = control_rcpt_held_s(rcpt);

	if (rcpt->expire_s > 0) {
		kind->expire_s = job_age_at(rcpt->expire_s, born_s);
		kind->is_strict = true;
	} else if (by_s > 0) {		/* RFC 2852 section 4.1 */
		kind->expire_s = job_age_at(by_s, born_s);
		kind->is_strict = true;
	} else if (rcpt->thawed_s > 0) {
		kind->expire_s = job_age_at(rcpt->thawed_s + held_s +
		    kind->thread->ring->clause.expire_s, born_s);
	} else if (rcpt->way_since_s > 0) {
		kind->expire_s = job_age_at(rcpt->way_since_s + held_s +
		    kind->thread->ring->clause.expire_s, born_s);
	} else if (held_s > 0) {
		kind->expire_s = job_age_at(born_s + held_s +
		    kind->thread->ring->clause.expire_s, born_s);
	}
	if (rcpt->way_count > 0 && rcpt->ways[0].after_s > 0) {
		uint32_t end_s = job_age_at(rcpt->ways[0].after_s +
		    (rcpt->way_since_s > 0 ? rcpt->way_since_s : born_s),
		    born_s);

		if (kind->expire_s == 0 || end_s < kind->expire_s) {
			kind->expire_s = end_s;
			kind->is_strict = false;
		}
	}
}

/* ---- recipients -------------------------------------------------- */

static struct thread_way
rcpt_way(const struct conf *conf, const struct control_file *control,
    const struct control_group *group, const struct control_rcpt *rcpt)
{
	const struct conf_zone *zone = conf_zone_for(conf,
	    control->terms.zone.n > 0 ? control->terms.zone : rcpt->zone,
	    rcpt->channel, group->sender, rcpt->host);

	return (struct thread_way){ rcpt->channel, rcpt->host,
		slice_of(zone ? zone->name : "") };
}

static void
rcpt_ended(const struct intake *intake, const struct control_file *control,
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

/* ---- which go together -------------------------------------------- */

enum { KINDS_FEW = 8, BUCKETS_FEW = 16 };

/* Room for one more after so many; the first one has its own. */
static void *
draft_room(void *array, size_t count, size_t size)
{
	return count == 0 || (count & (count - 1)) != 0 ? array :
	    mem_grow(array, count * 2, size);
}

/* The same from an array of one in the draft. */
#define DRAFT_ROOM(draft, list, one, count) do { \
		if ((count) != 1) { \
			(draft)->list = draft_room((draft)->list, (count), \
			    sizeof(*(draft)->list)); \
		} else { \
			(draft)->list = mem_alloc(2, \
			    sizeof(*(draft)->list)); \
			(draft)->list[0] = (draft)->one; \
		} \
	} while (0)

static bool
kind_is(const struct draft_kind *a, const struct draft_kind *b)
{
	return a->thread == b->thread &&
	    a->sender_offset == b->sender_offset && a->park == b->park &&
	    a->until_s == b->until_s && a->expire_s == b->expire_s &&
	    a->has_ways == b->has_ways && a->is_strict == b->is_strict;
}

/* Kinds of other groups may still be named there. */
static uint32_t *
draft_bucket(struct job_draft *draft, const struct draft_kind *kind)
{
	uint32_t crc = crc32c(0, &kind->thread, sizeof(kind->thread));

	crc = crc32c(crc, &kind->until_s, sizeof(kind->until_s));
	crc = crc32c(crc, &kind->expire_s, sizeof(kind->expire_s));
	if (draft->buckets == NULL) {
		draft->bucket_count = BUCKETS_FEW;
		while (draft->bucket_count < draft->common->rcpt_total / 4)
			draft->bucket_count *= 2;
		draft->buckets = mem_alloc(draft->bucket_count,
		    sizeof(*draft->buckets));
	}
	return &draft->buckets[crc & (draft->bucket_count - 1)];
}

static void
draft_file_kind(struct job_draft *draft, size_t index)
{
	uint32_t *bucket = draft_bucket(draft, &draft->kinds[index]);

	draft->kinds[index].next = *bucket;
	*bucket = (uint32_t)index + 1;
}

/* Its index; kind_count: there is none.  Of a group most often there are few,
 * and the next recipient is like the one before. */
static size_t
draft_find_kind(struct job_draft *draft, const struct draft_kind *kind)
{
	size_t few = draft->kind_count - draft->kinds_from;

	if (few <= KINDS_FEW) {
		for (size_t i = draft->kind_count; i-- > draft->kinds_from;)
			if (kind_is(&draft->kinds[i], kind))
				return i;
		return draft->kind_count;
	}
	for (size_t i = *draft_bucket(draft, kind); i > draft->kinds_from;
	    i = draft->kinds[i - 1].next)
		if (kind_is(&draft->kinds[i - 1], kind))
			return i - 1;
	return draft->kind_count;
}

static size_t
draft_take_kind(struct job_draft *draft, const struct draft_kind *kind)
{
	size_t at = draft_find_kind(draft, kind);

	if (at < draft->kind_count)
		return at;
	DRAFT_ROOM(draft, kinds, one_kind, draft->kind_count);
	draft->kinds[at] = *kind;
	draft->kind_count++;
	thread_name(kind->thread);
	/* as soon as there are more than a few, all are filed */
	if (at - draft->kinds_from == KINDS_FEW)
		for (size_t i = draft->kinds_from; i <= at; i++)
			draft_file_kind(draft, i);
	else if (at - draft->kinds_from > KINDS_FEW)
		draft_file_kind(draft, at);
	return at;
}

/* The vertex of this kind that has room. */
static size_t
draft_take_vertex(struct job_draft *draft, size_t kind_at)
{
	struct draft_kind *kind = &draft->kinds[kind_at];

	if (kind->vertex_count > 0 && draft->vertices[kind->last].rcpt_count <
	    VERTEX_RCPTS_MAX)
		return kind->last;
	DRAFT_ROOM(draft, vertices, one_vertex, draft->vertex_count);
	draft->vertices[draft->vertex_count] = (struct draft_vertex){
		.kind = (uint32_t)kind_at,
		.notices = NOTICES_NONE
	};
	kind->vertex_count++;
	return kind->last = (uint32_t)draft->vertex_count++;
}

/* ---- a recipient ------------------------------------------------- */

/* Notices that were sent, and those whose time had passed when the last try
 * was made: one for several. */
static void
vertex_take_notices(struct job_draft *draft, struct draft_vertex *vertex,
    const struct control_rcpt *rcpt)
{
	const struct conf_schedule *clause =
	    &draft->kinds[vertex->kind].thread->ring->clause;
	unsigned notices = rcpt->delay_notices;
	int64_t born_s = spool_id_time_us(slice_of(draft->common->id)) /
	    1000000;

	if (notices > 0 && rcpt->last_try_s > born_s) {
		unsigned passed = queue_notices_passed(draft->by_s, clause,
		    (rcpt->last_try_s - born_s) * 1000);

		notices = passed > notices ? passed : notices;
	}
	if (notices < vertex->notices)
		vertex->notices = (uint8_t)notices;
}

/* When the vertex's earliest recipient is due, from its records. */
static void
vertex_take(struct job_draft *draft, struct draft_vertex *vertex,
    const struct control_rcpt *rcpt, int64_t now_ms, int64_t now_s)
{
	const struct conf_schedule *clause =
	    &draft->kinds[vertex->kind].thread->ring->clause;
	/* it costs a system call, and is for those that were tried */
	uint32_t random = rcpt->tries > 0 || rcpt->next_s > 0 ?
	    arc4random() : 0;
	int64_t left_ms = retry_left_ms(retry_waits_of(clause), rcpt->tries,
	    rcpt->last_try_s, rcpt->next_s, now_s, random);
	unsigned tries = rcpt->tries > UINT16_MAX ? UINT16_MAX : rcpt->tries;

	if ((clause->is_queue_only || draft->common->terms.is_queue_only) &&
	    rcpt->tries == 0 && rcpt->next_s == 0) {
		left_ms = draft->born_ms + retry_delay_ms(
		    retry_waits_of(clause), 1, arc4random()) - now_ms;
		left_ms = left_ms > 0 ? left_ms : 0;
	}
	if (vertex->rcpt_count == 0 || now_ms + left_ms < vertex->moment_ms)
		vertex->moment_ms = now_ms + left_ms;
	if (tries > vertex->tries)
		vertex->tries = (uint16_t)tries;
	if (job_owes(rcpt_notify(draft->common, rcpt), VERDICT_DEFERRED))
		vertex_take_notices(draft, vertex, rcpt);
	vertex->rcpt_count++;
}

/* Somebody wanted it later, once or now. */
static bool
rcpt_is_apart(const struct draft_kind *kind,
    const struct control_file *control, const struct control_rcpt *rcpt)
{
	return kind->park != PARK_NONE || control->terms.hold_until_s > 0 ||
	    control->terms.is_queue_only || rcpt->is_scheduled ||
	    rcpt->thawed_s > 0 || control_rcpt_held_s(rcpt) > 0 ||
	    kind->thread->ring->clause.is_queue_only;
}

static void
draft_add_rcpt(struct job_draft *draft, size_t kind_at,
    const struct control_rcpt *rcpt, int64_t now_ms, int64_t now_s)
{
	size_t vertex_at = draft_take_vertex(draft, kind_at);
	const struct draft_kind *kind = &draft->kinds[kind_at];
	struct draft_vertex *vertex = &draft->vertices[vertex_at];

	draft->rcpts[draft->count++] = (struct job_draft_rcpt){
		.rcpt = { .offset = rcpt->offset,
		    .notify = (uint8_t)rcpt_notify(draft->common, rcpt),
		    .objective = (uint8_t)
			objectives_for(&draft->intake->queue->objectives,
			    rcpt->user) },
		.vertex = (uint32_t)vertex_at
	};
	vertex_take(draft, vertex, rcpt, now_ms, now_s);
	if (rcpt_is_apart(kind, draft->common, rcpt))
		vertex->is_apart = true;
	if (kind->park != PARK_NONE)
		vertex->moment_ms = kind->until_s == 0 ? 0 :
		    now_ms + (kind->until_s - now_s) * 1000;
	if (draft->common->errors_to.n == 0 ||
	    draft->common->terms.is_never_reported)
		vertex->notices = NOTICES_NONE;
}

static void
draft_take_rcpt(struct job_draft *draft, const struct control_group *group,
    const struct control_rcpt *rcpt, int64_t now_ms, int64_t now_s)
{
	struct queue *queue = draft->intake->queue;
	struct draft_kind kind = { .sender_offset = group->sender_offset,
	    .header_offset = group->header_offset,
	    .has_ways = rcpt->way_count > 0 };

	if (rcpt->is_final) {
		rcpt_ended(draft->intake, draft->common, rcpt, now_s,
		    &draft->ended);
		return;
	}
	kind.thread = thread_get(&queue->threads, queue->conf,
	    rcpt_way(queue->conf, draft->common, group, rcpt), now_ms);
	orders_apply(&queue->orders, kind.thread);
	kind_park(&kind, draft->common, rcpt, now_s);
	kind_expire(&kind, draft->common, rcpt);
	draft_add_rcpt(draft, draft_take_kind(draft, &kind), rcpt, now_ms,
	    now_s);
}

/* ---- steps ------------------------------------------------------- */

/* When it was accepted, on our steady clock.  The id's time may lie in the
 * future when the clock went back: then it is new. */
static int64_t
job_born_ms(const char *id)
{
	int64_t age_ms = (clock_wall_us() -
	    spool_id_time_us(slice_of(id))) / 1000;

	return clock_steady_ms() - (age_ms < 0 ? 0 : age_ms);
}

void
job_draft_begin(struct job_draft *draft, struct intake *intake,
    const struct control_file *common)
{
	*draft = (struct job_draft){ .intake = intake, .common = common,
	    .objectives = intake->queue->objectives.generation,
	    .born_ms = job_born_ms(common->id) };
	draft->rcpts = &draft->one_rcpt;
	draft->kinds = &draft->one_kind;
	draft->vertices = &draft->one_vertex;
	if (common->rcpt_total > 1)
		draft->rcpts = mem_alloc(common->rcpt_total,
		    sizeof(*draft->rcpts));
	if (common->terms.by_s > 0 && !common->terms.by_returns)
		draft->by_s = job_age_at(common->terms.by_s,
		    spool_id_time_us(slice_of(common->id)) / 1000000);
}

void
job_draft_window(struct job_draft *draft, const struct control_file *window)
{
	draft->window = window;
	draft->group = draft->next = 0;
	draft->is_trashed |= window->cancelled_total > 0;
}

/* Another group, or one that goes on from the window before. */
static void
draft_begin_group(struct job_draft *draft, const struct control_group *group)
{
	const struct draft_kind *last = draft->kind_count > 0 ?
	    &draft->kinds[draft->kind_count - 1] : NULL;

	if (last == NULL || last->sender_offset != group->sender_offset)
		draft->kinds_from = draft->kind_count;
	draft->others_hear |= !slice_equal(control_group_errors(draft->common,
	    group), draft->common->errors_to);
}

bool
job_draft_take(struct job_draft *draft, size_t most)
{
	int64_t now_ms = clock_steady_ms(), now_s = clock_wall_s();
	const struct control_file *window = draft->window;

	for (; draft->group < window->group_count; draft->group++) {
		const struct control_group *group =
		    &window->groups[draft->group];

		if (draft->next == 0)
			draft_begin_group(draft, group);
		for (; draft->next < group->rcpt_count; draft->next++) {
			if (most-- == 0)
				return false;
			draft_take_rcpt(draft, group,
			    &group->rcpts[draft->next], now_ms, now_s);
		}
		draft->next = 0;
	}
	return true;
}

/* Where each vertex goes in the job: kind after kind, in the order of the
 * file. */
static void
draft_place_vertices(struct job_draft *draft)
{
	uint32_t first = 0;

	for (size_t i = 0; i < draft->kind_count; i++) {
		draft->kinds[i].last = first;
		first += draft->kinds[i].vertex_count;
	}
	for (size_t i = 0; i < draft->vertex_count; i++)
		draft->vertices[i].at =
		    draft->kinds[draft->vertices[i].kind].last++;
}

static void
draft_copy_vertex(const struct job_draft *draft,
    const struct draft_vertex *from, struct vertex *vertex)
{
	const struct draft_kind *kind = &draft->kinds[from->kind];

	vertex->park = kind->park;
	vertex->expire_s = kind->expire_s;
	vertex->is_strict = kind->is_strict;
	vertex->has_ways = kind->has_ways;
	vertex->sender_offset = kind->sender_offset;
	vertex->header_offset = kind->header_offset;
	vertex->rcpt_count = from->rcpt_count;
	vertex->tries = from->tries;
	vertex->notices = from->notices;
	vertex->moment_ms = from->moment_ms;
	vertex->is_apart = from->is_apart;
}

void
job_draft_sort(struct job_draft *draft)
{
	struct job *job = job_new(draft->vertex_count, draft->count);
	uint32_t first = 0;

	draft->job = job;
	draft_place_vertices(draft);
	for (size_t i = 0; i < draft->vertex_count; i++)
		draft_copy_vertex(draft, &draft->vertices[i],
		    &job->vertices[draft->vertices[i].at]);
	for (size_t i = 0; i < draft->vertex_count; i++) {
		job->vertices[i].rcpt_first = first;
		first += job->vertices[i].rcpt_count;
	}
	for (size_t i = 0; i < draft->vertex_count; i++)
		draft->vertices[i].at =
		    job->vertices[draft->vertices[i].at].rcpt_first;
	for (size_t i = 0; i < draft->count; i++)
		job->rcpts[draft->vertices[draft->rcpts[i].vertex].at++] =
		    draft->rcpts[i].rcpt;
}

/* Its vertices lie together, in the order of the kinds. */
bool
job_draft_fill(struct job_draft *draft, size_t most)
{
	struct job *job = draft->job;

	for (; draft->filled < draft->vertex_count; draft->filled++) {
		if (most-- == 0)
			return false;
		while (draft->kinds[draft->filling].last <= draft->filled)
			draft->filling++;
		thread_take_vertex(draft->kinds[draft->filling].thread,
		    &job->vertices[draft->filled]);
	}
	return true;
}

void
job_draft_end(struct job_draft *draft)
{
	for (size_t i = 0; i < draft->kind_count; i++)
		thread_unname(draft->kinds[i].thread);
	if (draft->rcpts != &draft->one_rcpt)
		mem_free(&draft->rcpts);
	if (draft->kinds != &draft->one_kind)
		mem_free(&draft->kinds);
	if (draft->vertices != &draft->one_vertex)
		mem_free(&draft->vertices);
	mem_free(&draft->buckets);
	draft->kind_count = draft->vertex_count = draft->count = 0;
}

void
job_draft_drop(struct job_draft *draft)
{
	job_draft_end(draft);
	if (draft->job == NULL)
		return;
	thread_forget_job(draft->job);
	job_free(&draft->job);
}

/* Does the client wait for what becomes of it?  Then it goes first; but of what
 * others answer for (the owners of lists) the client hears nothing. */
static void
job_attend(struct queue *queue, struct job *job, bool others_hear)
{
	struct hearer *hearer = hearers_find(&queue->hearers, job->id);

	if (hearer == NULL || hearer->verdict == HEARER_DELIVERED ||
	    hearer->verdict == HEARER_QUEUED)
		return;
	hearer->inode = job->inode;
	job->flags |= JOB_AWAITED;
	if (job->priority < 1)
		job->priority = 1;
	if (others_hear)
		queue_tell_later(queue, job,
		    SLICE("others hear of its failure"));
}

void
job_draft_make(struct job_draft *draft)
{
	struct intake *intake = draft->intake;
	const struct control_file *control = draft->common;
	struct job *job = draft->job;

	job->inode = control->inode;
	strlcpy(job->id, control->id, sizeof(job->id));
	job->born_ms = draft->born_ms;
	job->rcpt_total = (uint32_t)control->rcpt_total;
	job->source = crc32c(0, control->source.p, control->source.n);
	job->priority = (int8_t)control->terms.priority;
	job->steered = (uint8_t)control->terms.steered;
	if (control->terms.is_tls_optional)
		job->flags |= JOB_TLS_OPTIONAL;
	job->objectives = draft->objectives;
	job->by_s = draft->by_s;
	job_attend(intake->queue, job, draft->others_hear);
	job->failed_count = draft->ended.failed_count;
	if (draft->ended.owes)
		job->flags |= JOB_OWES;
	if (draft->is_trashed)
		job->flags |= JOB_TRASH;
}

struct job *
job_build(struct intake *intake, const struct control_file *control,
    int64_t *out_kept_s)
{
	struct job_draft draft;

	job_draft_begin(&draft, intake, control);
	job_draft_window(&draft, control);
	(void)job_draft_take(&draft, SIZE_MAX);
	job_draft_sort(&draft);
	job_draft_make(&draft);
	(void)job_draft_fill(&draft, SIZE_MAX);
	*out_kept_s = draft.ended.kept_s;
	job_draft_end(&draft);
	return draft.job;
}
