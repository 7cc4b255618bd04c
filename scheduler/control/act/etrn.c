/* etrn.c - start what waits for a node
 *
 *	HOST            a next hop of this name (with its port, if it is
 *	                named with one), and recipients of this domain
 *	@DOMAIN         that, and all below it
 *	#CHANNEL/HOST   a destination as `zmailer queue` names it, #zone/NAME
 *	                a zone; globs
 *
 * In     what the client named; threads; control files, for the domains of
 *        recipients
 * Out    vertices that are due, destinations that are probed
 * Holds  nothing
 * Spec   doc/protocol/control.md section 6; RFC 1985
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "grammar/units.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

/* "x.example"; "@x.example": that, and all below. */
static bool
etrn_means_host(struct slice wish, struct slice host)
{
	struct slice end;

	if (!slice_starts(wish, "@"))
		return slice_equal_nocase(wish, host);
	wish = slice_from(wish, 1);
	if (host.n == wish.n)
		return slice_equal_nocase(wish, host);
	if (host.n < wish.n + 1)
		return false;
	end = slice_from(host, host.n - wish.n);
	return end.p[-1] == '.' && slice_equal_nocase(wish, end);
}

/* "#CHANNEL/HOST", "#zone/NAME"; "#HOST" in any channel. */
static bool
etrn_means_queue(struct slice name, const struct thread *thread)
{
	size_t cut = slice_find(name, '/');
	struct slice channel = slice_first(name, cut), host =
	    slice_from(name, cut + 1);

	if (cut == name.n)
		return glob_match(name, slice_of(thread->host));
	if (slice_is(channel, "zone"))
		return thread->zone[0] != '\0' &&
		    glob_match(host, slice_of(thread->zone));
	return glob_match(channel, slice_of(thread->channel)) &&
	    glob_match(host, slice_of(thread->host));
}

static bool
etrn_means_thread(const struct act *act, const struct thread *thread)
{
	struct slice wish = slice_of(act->request.host);

	if (slice_starts(wish, "#"))
		return etrn_means_queue(slice_from(wish, 1), thread);
	return etrn_means_host(wish, slice_of(thread->host));
}

/* ---- destinations ------------------------------------------------ */

/* Everything of the threads that are meant, which waits in the plan. */
static void
etrn_kick_waiting(struct act *act)
{
	struct plan_heap *due = &act->queue->plan.due;
	struct vertex **chosen = mem_alloc(due->count + 1, sizeof(*chosen));
	size_t count = 0;

	for (size_t i = 0; i < due->count; i++) {
		struct vertex *vertex = due->slots[i].object;

		if (vertex->park != PARK_HELD &&
		    etrn_means_thread(act, vertex->thread))
			chosen[count++] = vertex;
	}
	for (size_t i = 0; i < count; i++) {
		act_hasten(chosen[i]);
		plan_ready(&act->queue->plan, chosen[i]);
	}
	mem_free(&chosen);
}

static void
etrn_kick_threads(struct act *act)
{
	struct queue *queue = act->queue;
	struct thread *thread = NULL;
	bool waits = false;
	size_t bucket = 0;

	while (thread_next(&queue->threads, &bucket, &thread)) {
		uint64_t mail = thread->ready_count + thread->wait_count +
		    thread->flight_count;

		if (mail == 0 || !etrn_means_thread(act, thread))
			continue;
		act->count.destinations++;
		act->count.messages += mail;
		if (thread->is_suspended)
			act->count.unchanged += mail;
		waits = waits || thread->wait_count > 0;
		if (!act->request.is_dry && !thread->is_suspended)
			plan_wake(&queue->plan, thread);
	}
	if (waits && !act->request.is_dry)
		etrn_kick_waiting(act);
}

/* ---- recipients -------------------------------------------------- */

/* Of an address as the queue or its sender wrote it. */
static bool
etrn_means_address(struct slice wish, struct slice address)
{
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	return at > 0 && etrn_means_host(wish, slice_from(address, at));
}

static bool
etrn_means_rcpt(struct slice wish, const struct control_rcpt *rcpt)
{
	return etrn_means_address(wish, rcpt->user) ||
	    etrn_means_address(wish, rcpt->given) ||
	    etrn_means_address(wish, rcpt->orcpt);
}

static void
etrn_kick_vertex(struct act *act, struct vertex *vertex)
{
	struct planner *plan = &act->queue->plan;

	if (act->request.is_dry || vertex->thread->is_suspended)
		return;
	if (vertex->state == VERTEX_WAIT && vertex->park != PARK_HELD) {
		act_hasten(vertex);
		plan_ready(plan, vertex);
	}
	if (vertex->state == VERTEX_READY && vertex->thread->wake_ms != 0)
		plan_wake(plan, vertex->thread);
}

/* A vertex of recipients of the domain; those of the destination's name had
 * their turn.  *io_last: the one that was counted last. */
static void
etrn_rcpt(struct act *act, const struct control_rcpt *rcpt,
    const struct vertex **io_last)
{
	struct slice wish = slice_of(act->request.host);
	struct vertex *vertex = rcpt->is_final ? NULL :
	    visit_vertex(&act->visit, rcpt->offset);

	if (vertex == NULL || vertex == *io_last ||
	    vertex->state == VERTEX_DONE ||
	    !etrn_means_rcpt(wish, rcpt) ||
	    etrn_means_thread(act, vertex->thread))
		return;
	*io_last = vertex;
	act->count.messages++;
	if (vertex->thread->is_suspended)
		act->count.unchanged++;
	etrn_kick_vertex(act, vertex);
}

static void
etrn_message(struct act *act, struct job *job)
{
	const struct control_file *control = &act->visit.control;
	const struct vertex *last = NULL;

	if (!visit_open(&act->visit, job, false))
		return;
	for (size_t i = 0; i < control->group_count; i++)
		for (size_t k = 0; k < control->groups[i].rcpt_count; k++)
			etrn_rcpt(act, &control->groups[i].rcpts[k], &last);
}

/* ---- the act ----------------------------------------------------- */

static enum act_step
etrn_end(struct act *act, struct str *out)
{
	act_done(act, out);
	json_number(out, "destinations", (int64_t)act->count.destinations);
	json_number(out, "messages", (int64_t)act->count.messages);
	json_number(out, "suspended", (int64_t)act->count.unchanged);
	json_bool(out, "known", act->count.messages > 0);
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}

enum act_step
act_etrn(struct act *act, struct str *out)
{
	unsigned looks = ACT_LOOKS, files = ACT_FILES;
	enum act_step step;
	struct job *job;

	if (!act->is_begun)
		etrn_kick_threads(act);
	if (act->request.host[0] == '#')
		return etrn_end(act, out);
	if (!act_begin(act, out, &step))
		return step;
	/* whoever may say this may start everybody's mail */
	act->visit.user = NULL;
	for (; files > 0 && (job = visit_next(&act->visit, &looks)) != NULL;
	    files--)
		etrn_message(act, job);
	return act->visit.count > 0 ? ACT_MORE : etrn_end(act, out);
}
