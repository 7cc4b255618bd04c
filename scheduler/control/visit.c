/* visit.c - the messages that a request means, one after the other
 *
 * In     a request; the table of jobs, their control files
 * Out    messages from old to new, and which of their recipients are meant
 * Holds  16 bytes a message while it lasts
 * Trusts control files as far as control_file_parse does
 * Spec   doc/protocol/control.md section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "mail/classify.h"
#include "mail/state.h"
#include "scheduler/control/visit.h"
#include "scheduler/report/report.h"

#include "base/banned.h"

enum {
	/* keys that memory knows */
	KEYS_IN_MEMORY = 1u << SELECTOR_KEY_ID | 1u << SELECTOR_KEY_DEST |
	    1u << SELECTOR_KEY_DEST_STATE |
	    1u << SELECTOR_KEY_STATE | 1u << SELECTOR_KEY_AREA |
	    1u << SELECTOR_KEY_AGE | 1u << SELECTOR_KEY_TRIES,
	KEY_CLASS = 1u << SELECTOR_KEY_CLASS,
	KEY_DEST_STATE = 1u << SELECTOR_KEY_DEST_STATE
};

/* ---- the list ---------------------------------------------------- */

static bool
visit_is_older(struct visit_pick a, struct visit_pick b)
{
	return a.ticks != b.ticks ? a.ticks < b.ticks : a.inode < b.inode;
}

static void
visit_heap_down(struct visit_pick *heap, size_t count, size_t at)
{
	struct visit_pick pick = heap[at];

	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && visit_is_older(heap[child + 1],
		    heap[child]))
			child++;
		if (!visit_is_older(heap[child], pick))
			break;
		heap[at] = heap[child];
	}
	heap[at] = pick;
}

static void
visit_heap_up(struct visit_pick *heap, size_t at)
{
	struct visit_pick pick = heap[at];

	for (size_t parent; at > 0; at = parent) {
		parent = (at - 1) / 2;
		if (!visit_is_older(pick, heap[parent]))
			break;
		heap[at] = heap[parent];
	}
	heap[at] = pick;
}

static struct visit_pick
visit_pick_of(const char *id, ino_t inode)
{
	return (struct visit_pick){
	    (uint64_t)spool_id_time_us(slice_of(id)), inode };
}

/* Only what comes after a page's end. */
static void
visit_add_pick(struct control_visit *visit, const struct job *job)
{
	struct visit_pick pick = visit_pick_of(job->id, job->inode);

	if (visit->request->after != NULL && !visit_is_older(visit->cut, pick))
		return;
	ARRAY_GROW(visit->heap, visit->count, visit->capacity);
	visit->heap[visit->count] = pick;
	visit_heap_up(visit->heap, visit->count++);
}

/* Ids that are whole are found at once, and read before their turn: they hold
 * the inode (but for a file that was copied back).  returns how many were
 * not. */
static size_t
visit_find_ids(struct control_visit *visit)
{
	const struct request *request = visit->request;
	size_t left = 0;

	for (size_t i = 0; i < request->id_count; i++) {
		struct slice id = request->ids[i];
		bool is_busy;
		const struct job *job = intake_find(visit->intake,
		    spool_id_inode(id), &is_busy);

		visit->busy += is_busy;
		visit->is_found[i] = job != NULL && slice_is(id, job->id);
		if (visit->is_found[i])
			visit_add_pick(visit, job);
		left += !visit->is_found[i];
	}
	visit->known = visit->count;
	return left;
}

static bool
visit_id_begins(const struct control_visit *visit, const char *id)
{
	const struct request *request = visit->request;
	struct slice whole = slice_of(id);

	for (size_t i = 0; i < request->id_count; i++)
		if (!visit->is_found[i] && whole.n >= request->ids[i].n &&
		    slice_equal(slice_first(whole, request->ids[i].n),
		    request->ids[i]))
			return true;
	return false;
}

bool
visit_job_is_over(const struct job *job)
{
	return job_is_finished(job) || job->id[0] == '\0';
}

int
visit_begin(struct control_visit *visit, struct agents *agents,
    const struct request *request, const char *user, struct err *err)
{
	size_t left;

	*visit = (struct control_visit){ .queue = agents->queue,
	    .intake = agents->intake, .agents = agents, .request = request,
	    .user = user, .now_s = clock_wall_s(),
	    .now_ms = clock_steady_ms() };
	if (request->selector != NULL)
		visit->keys = selector_keys_used(request->selector);
	if (request->after != NULL)
		visit->cut = visit_pick_of(request->after,
		    spool_id_inode(slice_of(request->after)));
	visit->is_found = mem_alloc(request->id_count + 1, sizeof(bool));
	left = visit_find_ids(visit);
	job_walk_init(&visit->walk, &visit->queue->jobs);
	visit->is_listed = request->id_count > 0 &&
	    (left == 0 || left > REQUEST_PREFIXES_MAX);
	if (left > REQUEST_PREFIXES_MAX && visit->count == 0)
		return err_set(err, "none of these ids is here");
	return 0;
}

bool
visit_list(struct control_visit *visit, unsigned budget)
{
	const struct job_table *jobs = &visit->queue->jobs;
	const struct job *job;

	while (!visit->is_listed && budget > 0) {
		job = job_walk_next(&visit->walk, jobs, &budget);
		if (job == NULL)
			visit->is_listed = visit->walk.is_over;
		else if (!visit_job_is_over(job) && (visit->request->id_count ==
		    0 ||
		    visit_id_begins(visit, job->id)))
			visit_add_pick(visit, job);
	}
	return visit->is_listed;
}

void
visit_end(struct control_visit *visit)
{
	mem_free(&visit->heap);
	mem_free(&visit->rcpts);
	mem_free(&visit->is_found);
	visit_leave(visit);
	visit->capacity = visit->count = visit->rcpt_count =
	    visit->rcpt_capacity =
	    0;
}

/* ---- states ------------------------------------------------------ */

const char *
visit_vertex_state(const struct vertex *vertex)
{
	if (vertex->state == VERTEX_DONE || vertex->is_expired)
		return MAIL_STATE_WORD(DONE);
	if (vertex->state == VERTEX_FLIGHT)
		return MAIL_STATE_WORD(ACTIVE);
	if (vertex->park == PARK_FROZEN)
		return MAIL_STATE_WORD(FROZEN);
	if (vertex->park == PARK_HELD)
		return MAIL_STATE_WORD(HELD);
	if (vertex->park == PARK_ASKED)
		return MAIL_STATE_WORD(ASKED);
	if (vertex->state != VERTEX_READY)
		return MAIL_STATE_WORD(WAITING);
	if (vertex->thread->is_suspended)
		return MAIL_STATE_WORD(SUSPENDED);
	return vertex->thread->wake_ms != 0 ? MAIL_STATE_WORD(DOWN) :
	    MAIL_STATE_WORD(READY);
}

const char *
visit_dest_state(const struct thread *thread)
{
	struct destination_look look = {
		.is_suspended = thread->is_suspended,
		.is_down = thread->wake_ms > clock_steady_ms(),
		.is_throttled = pace_is_throttled(thread),
		.ready = (int64_t)thread->ready_count,
		.waiting = (int64_t)thread->wait_count,
		.active = (int64_t)thread->flight_count,
		.held = (int64_t)thread->parked_count };

	return destination_states[destination_state_of(&look)].name;
}

struct vertex *
visit_vertex(const struct control_visit *visit, uint32_t offset)
{
	size_t low = 0, high = visit->rcpt_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (visit->rcpts[middle].offset == offset)
			return &visit->job->vertices[
			    visit->rcpts[middle].vertex];
		if (visit->rcpts[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const char *
visit_state(const struct control_visit *visit, const struct control_rcpt *rcpt)
{
	const struct vertex *vertex;

	if (control_rcpt_is_failed(rcpt))
		return MAIL_STATE_WORD(FAILED);
	if (rcpt->is_final)
		return rcpt->is_cancelled ? MAIL_STATE_WORD(DELETED) :
		    MAIL_STATE_WORD(DONE);
	vertex = visit_vertex(visit, rcpt->offset);
	if (vertex != NULL && vertex->state == VERTEX_FLIGHT)
		return MAIL_STATE_WORD(ACTIVE);
	if (rcpt->is_frozen)
		return MAIL_STATE_WORD(FROZEN);
	if (!control_rcpt_is_free(rcpt, visit->now_s))
		return MAIL_STATE_WORD(HELD);
	return vertex != NULL ? visit_vertex_state(vertex) :
	    MAIL_STATE_WORD(WAITING);
}

bool
visit_is_over(const struct control_rcpt *rcpt)
{
	return rcpt->is_final && !rcpt->is_cancelled &&
	    !control_rcpt_is_failed(rcpt);
}

bool
visit_has_outcome(const struct control_visit *visit,
    const struct control_rcpt *rcpt)
{
	const struct vertex *vertex = visit_vertex(visit, rcpt->offset);
	const struct rcpt *now;

	if (rcpt->is_final || vertex == NULL)
		return rcpt->is_final || visit->is_kept;
	now = vertex_rcpt(vertex, rcpt->offset);
	return now != NULL && (now->flags & RCPT_FINAL) != 0;
}

/* ---- matching ---------------------------------------------------- */

static struct slice
visit_add_dest(struct str *out, struct slice channel, struct slice host)
{
	str_reset(out);
	str_add_slice(out, channel);
	str_addc(out, '/');
	str_add_slice(out, host);
	return str_slice(out);
}

static bool
visit_offset_is_meant(const struct request *request, uint32_t offset)
{
	for (size_t i = 0; i < request->offset_count; i++)
		if (request->offsets[i] == offset)
			return true;
	return request->offset_count == 0;
}

/* What memory alone says of a vertex. */
static bool
visit_vertex_may_be(const struct control_visit *visit,
    const struct vertex *vertex)
{
	static struct str dest = STR_INIT;
	struct selector_subject subject = {
	    .id = slice_of(vertex->job->id), .area = SLICE("queue"),
	    .state = slice_of(visit_vertex_state(vertex)),
	    .age_s = (visit->now_ms - vertex->job->born_ms) / 1000,
	    .tries = vertex->tries, .size_bytes = -1, .priority = 0 };

	subject.dest = visit_add_dest(&dest, slice_of(vertex->thread->channel),
	    slice_of(vertex->thread->host));
	if ((visit->keys & KEY_DEST_STATE) != 0)
		subject.dest_state = slice_of(visit_dest_state(
		    vertex->thread));
	return selector_match(visit->request->selector, &subject);
}

/* Orders that a vertex in hand waits for are only in the file, as are
 * recipients that were final when it was read. */
static bool
visit_job_may_be(const struct control_visit *visit, const struct job *job)
{
	if (visit->request->selector == NULL ||
	    (visit->keys & ~(uint32_t)KEYS_IN_MEMORY) != 0 ||
	    (job->flags & (JOB_RELOAD | JOB_TRASH | JOB_OWES |
	    JOB_WRITING)) != 0 ||
	    job_is_in(job, JOB_KEPT) ||
	    job->rcpt_count < job->rcpt_total)
		return true;
	for (size_t i = 0; i < job->vertex_count; i++)
		if (visit_vertex_may_be(visit, &job->vertices[i]))
			return true;
	return false;
}

/* Between two blocks of a large message's job there is none: it is waited for
 * a while. */
static bool
visit_passes(struct control_visit *visit, ino_t inode)
{
	int64_t now_ms = clock_steady_ms();

	visit->is_passing = job_table_find(&visit->queue->jobs, inode) ==
	    NULL && intake_reads_again(visit->intake, inode);
	if (!visit->is_passing) {
		visit->passing_ms = 0;
		return false;
	}
	if (visit->passing_ms == 0)
		visit->passing_ms = now_ms + VISIT_PASSING_MS;
	if (now_ms < visit->passing_ms)
		return true;
	visit->busy++;
	visit->passing_ms = 0;
	return visit->is_passing = false;
}

struct job *
visit_next(struct control_visit *visit, unsigned *budget)
{
	struct job *opened = visit_opened_job(visit);

	visit->is_passing = false;
	if (opened != NULL || visit_is_reading(visit))
		return opened;
	while (visit->count > 0 && *budget > 0) {
		struct visit_pick pick = visit->heap[0];
		struct job *job;

		if (visit_passes(visit, pick.inode))
			break;
		(*budget)--;
		visit->heap[0] = visit->heap[--visit->count];
		visit_heap_down(visit->heap, visit->count, 0);
		if (pick.inode == visit->last.inode &&
		    pick.ticks == visit->last.ticks)
			continue;	/* the list had it twice */
		visit->last = pick;
		job = job_table_find(&visit->queue->jobs, pick.inode);
		if (job != NULL && !visit_job_is_over(job) &&
		    visit_job_may_be(visit,
		    job))
			return job;
	}
	return NULL;
}

/* The zone it waits in; of one that is over, the zone that was asked for. */
static struct slice
visit_zone(const struct control_visit *visit, const struct control_rcpt *rcpt)
{
	const struct vertex *vertex = visit_vertex(visit, rcpt->offset);

	if (vertex != NULL)
		return slice_of(vertex->thread->zone);
	return visit->control.terms.zone.n > 0 ? visit->control.terms.zone :
	    rcpt->zone;
}

/* What an outcome is taken for; nothing when it was good. */
static struct slice
visit_class(const struct verdict *verdict)
{
	struct mail_finding finding;

	if (verdict->kind < VERDICT_DEFERRED)
		return (struct slice){ NULL, 0 };
	classify_verdict(verdict, &finding);
	return slice_of(mail_class_name(finding.class));
}

bool
visit_is_meant(const struct control_visit *visit,
    const struct control_group *group, const struct control_rcpt *rcpt)
{
	static struct str dest = STR_INIT;
	const struct control_file *control = &visit->control;
	const struct vertex *vertex;
	struct selector_subject subject = { .id = slice_of(control->id),
	    .from = group->sender, .to = rcpt->user,
	    .host = slice_of(visit->queue->conf->host), .orcpt = rcpt->orcpt,
	    .given = rcpt->given, .area = SLICE("queue"),
	    .user = control->user, .source = control->source,
	    .msgid = control->msgid,
	    .size_bytes = (int64_t)control->size_bytes, .tries = rcpt->tries,
	    .priority = control->terms.priority };

	if (!visit_offset_is_meant(visit->request, rcpt->offset))
		return false;
	if (visit->request->selector == NULL)
		return true;
	if (subject.from.p == NULL)
		subject.from = SLICE("");
	subject.dest = visit_add_dest(&dest, rcpt->channel, rcpt->host);
	subject.state = slice_of(visit_state(visit, rcpt));
	subject.age_s = (visit->now_ms - visit->job->born_ms) / 1000;
	subject.zone = visit_zone(visit, rcpt);
	vertex = visit_vertex(visit, rcpt->offset);
	if ((visit->keys & KEY_DEST_STATE) != 0 && vertex != NULL)
		subject.dest_state = slice_of(visit_dest_state(
		    vertex->thread));
	if (rcpt->last != NULL) {
		subject.why = slice_of(rcpt->last->verdict.text);
		if ((visit->keys & KEY_CLASS) != 0)
			subject.class = visit_class(&rcpt->last->verdict);
	}
	if (rcpt->order_reason.n > 0)
		subject.why = rcpt->order_reason;
	return selector_match(visit->request->selector, &subject);
}
