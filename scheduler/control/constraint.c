/* constraint.c - what keeps a recipient from being tried now
 *
 * In     an open message; threads, rings, orders
 * Out    the binding constraint, its numbers, who said so
 * Holds  nothing
 * Spec   doc/protocol/control.md section 4, why; mail/cause.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "scheduler/control/act/act.h"
#include "scheduler/control/constraint.h"
#include "scheduler/sharing/sharing.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/agents/capacity.h"

#include "base/banned.h"

int64_t
constraint_next_s(const struct vertex *vertex)
{
	if (vertex == NULL)
		return 0;
	if (vertex->state == VERTEX_WAIT && vertex->park != PARK_HELD)
		return act_wall_s(vertex->next_ms > 0 ? vertex->next_ms :
		    vertex->moment_ms);
	if (vertex->state == VERTEX_READY)
		return act_wall_s(vertex->thread->wake_ms);
	return 0;
}

/* ---- in line: limits --------------------------------------------- */

/* It may have a session more, and there is no agent for it. */
static void
constraint_of_capacity(const struct agents *agents, const struct ring *ring,
    struct constraint *out)
{
	static const enum cause causes[] = {
		[CAPACITY_FREE] = CAUSE_LINE, [CAPACITY_ZONE] = CAUSE_ZONE,
		[CAPACITY_RING] = CAUSE_AGENTS, [CAPACITY_CHANNEL] =
		    CAUSE_AGENTS,
		[CAPACITY_TOTAL] = CAUSE_AGENTS, [CAPACITY_START] = CAUSE_START,
		[CAPACITY_FILES] = CAUSE_FILES
	};
	enum capacity_limit limit = capacity_bound(agents, ring,
	    clock_steady_ms(), &out->limit, &out->used);

	out->cause = causes[limit];
	if (limit == CAPACITY_START)
		out->until_s = act_wall_s(ring->start_after_ms);
}

static void
constraint_find_limit(const struct agents *agents, const struct thread *thread,
    struct constraint *out)
{
	if (thread->paced_ms != 0) {
		out->cause = CAUSE_RATE;
		out->until_s = act_wall_s(thread->paced_ms);
	} else if (thread->is_blocked || provider_is_full(thread)) {
		out->cause = CAUSE_PROVIDER;
		out->reason = slice_of(thread->provider->name);
		out->limit = provider_limit(thread);
		out->used = thread->provider->serving;
	} else if (thread->serving >= plan_sessions(thread)) {
		out->cause = CAUSE_LIMIT;
		out->limit = plan_sessions(thread);
		out->used = thread->serving;
	} else if (capacity_files_are_used_up(agents)) {
		out->cause = CAUSE_FILES;
		out->limit = agents->fd_budget;
		out->used = capacity_files(agents);
	} else {
		constraint_of_capacity(agents, thread->ring, out);
	}
}

/* ---- in line: orders about the destination ----------------------- */

static void
constraint_take_order(const struct order *order, struct constraint *out)
{
	if (order == NULL)
		return;
	out->since_s = order->since_s;
	out->until_s = order->until_s;
	out->by = slice_of(order->by);
	out->reason = slice_of(order->reason);
}

static void
constraint_find_suspension(const struct orders *orders,
    const struct thread *thread,
    struct constraint *out)
{
	const struct order *order = orders_for(orders, ORDER_SUSPEND,
	    thread);

	out->cause = order != NULL && strcmp(order->channel, "zone") == 0 ?
	    CAUSE_ZONE_SUSPENDED : CAUSE_SUSPENDED;
	constraint_take_order(order, out);
}

/* Of all nodes together: how it stands, and when the day ends. */
static void
constraint_take_warm_up(const struct queue *queue, const struct thread *thread,
    struct constraint *out)
{
	const struct conf_zone *zone = conf_zone_find(queue->conf,
	    slice_of(thread->zone));
	struct allowance *allowance = zone == NULL || !zone->warm_is_shared ?
	    NULL : allowance_find(&queue->warms.shared, thread);
	int64_t end_ms;

	if (allowance == NULL)
		return;
	out->reason = allowance_words(allowance, zone, &end_ms);
	if (end_ms > 0)
		out->until_s = act_wall_s(end_ms);
}

/* The destination is held until a moment. */
static void
constraint_find_hold(const struct queue *queue, const struct thread *thread,
    struct constraint *out)
{
	out->until_s = act_wall_s(thread->wake_ms);
	if (thread->warming_ms != 0) {
		out->cause = CAUSE_WARM_UP;
		out->since_s = act_wall_s(thread->warming_ms);
		constraint_take_warm_up(queue, thread, out);
		return;
	}
	out->cause = thread->is_firm ? CAUSE_RULE : CAUSE_HOST_DOWN;
	out->since_s = act_wall_s(thread->trouble_ms);
	out->reason = slice_of(thread->reason);
}

static void
constraint_find_ready(const struct agents *agents, const struct thread *thread,
    struct constraint *out)
{
	const struct orders *orders = &agents->queue->orders;

	if (orders->is_draining) {
		out->cause = CAUSE_DRAIN;
		constraint_take_order(orders_find(orders, ORDER_DRAIN,
		    SLICE("*"),
		    SLICE("*")), out);
	} else if (!sharing_may_deliver(agents->queue->sharing)) {
		out->cause = CAUSE_LEASE;
		out->reason = slice_of(sharing_why(agents->queue->sharing));
	} else if (thread->is_suspended) {
		constraint_find_suspension(orders, thread, out);
	} else if (thread->wake_ms != 0) {
		constraint_find_hold(agents->queue, thread, out);
	} else {
		constraint_find_limit(agents, thread, out);
	}
}

/* ---- its own moment ---------------------------------------------- */

static enum cause
constraint_wait_cause(const struct vertex *vertex, bool is_queue_only)
{
	if (vertex->park == PARK_FUTURE)
		return CAUSE_FUTURE;
	if (vertex->park == PARK_SCHEDULED)
		return CAUSE_SCHEDULED;
	if (vertex->park == PARK_ASKED)
		return CAUSE_ASKED;
	if (vertex->tries == 0 && !vertex->was_tried &&
	    (vertex->thread->ring->clause.is_queue_only || is_queue_only))
		return CAUSE_QUEUE_ONLY;
	return CAUSE_TIMER;
}

/* Given to another node. */
static bool
constraint_find_move(const struct queue *queue, const struct job *job,
    struct constraint *out)
{
	const struct move_order *order = queue->sharing == NULL ? NULL :
	    sharing_move_of(queue->sharing, job, &out->since_s);

	if (order == NULL)
		return false;
	out->cause = CAUSE_MOVING;
	out->reason = slice_of(order->node);
	return true;
}

static void
constraint_find_vertex(const struct agents *agents,
    const struct vertex *vertex, bool is_queue_only, struct constraint *out)
{
	if (vertex != NULL && constraint_find_move(agents->queue,
	    vertex->job, out)) {
		;
	} else if (vertex == NULL || vertex->state == VERTEX_IDLE) {
		out->cause = CAUSE_REREAD;
	} else if (vertex->state == VERTEX_FLIGHT) {
		out->cause = CAUSE_ACTIVE;
		out->since_s = act_wall_s(vertex->moment_ms);
	} else if (vertex->state == VERTEX_READY) {
		constraint_find_ready(agents, vertex->thread, out);
	} else {
		out->cause = constraint_wait_cause(vertex, is_queue_only);
		out->until_s = constraint_next_s(vertex);
	}
}

void
constraint_of_vertex(const struct agents *agents,
    const struct vertex *vertex, struct constraint *out)
{
	*out = (struct constraint){ .by = SLICE(""), .reason = SLICE("") };
	if (vertex->park == PARK_FROZEN)
		out->cause = CAUSE_FROZEN;
	else if (vertex->park == PARK_HELD)
		out->cause = CAUSE_HELD;
	else
		constraint_find_vertex(agents, vertex, false, out);
}

/* ---- orders about the recipient ---------------------------------- */

void
constraint_find(const struct control_visit *visit,
    const struct control_rcpt *rcpt, struct constraint *out)
{
	const struct vertex *vertex = visit_vertex(visit, rcpt->offset);
	bool is_active = vertex != NULL && vertex->state == VERTEX_FLIGHT;

	*out = (struct constraint){ .by = rcpt->ordered_by,
	    .reason = rcpt->order_reason };
	if (!rcpt->is_final && constraint_find_move(visit->queue,
	    visit->job, out)) {
		out->by = SLICE("");
	} else if (rcpt->is_cancelled) {
		out->cause = CAUSE_DELETED;
	} else if (control_rcpt_is_failed(rcpt)) {
		out->cause = CAUSE_FAILED;
		out->until_s = control_rcpt_kept_until_s(rcpt,
		    visit->queue->conf->keep_failed_ms / 1000, visit->now_s);
		out->since_s = rcpt->last_try_s;
	} else if (!is_active && rcpt->is_frozen) {
		out->cause = CAUSE_FROZEN;
	} else if (!is_active && !control_rcpt_is_free(rcpt, visit->now_s)) {
		out->cause = CAUSE_HELD;
		out->until_s = rcpt->hold_until_s;
	} else {
		out->by = out->reason = SLICE("");
		constraint_find_vertex(visit->agents, vertex,
		    visit->control.terms.is_queue_only, out);
		if (out->cause == CAUSE_SCHEDULED && rcpt->is_order_of_next) {
			out->by = rcpt->ordered_by;
			out->reason = rcpt->order_reason;
		}
	}
}
