/* dest.c - destinations: shown, suspended, pinned; drain
 *
 * In     globs
 * Out    standing orders, durable; threads that know them
 * Holds  nothing
 * Spec   doc/protocol/control.md sections 4 and 6
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/units.h"
#include "scheduler/control/act/act.h"
#include "scheduler/control/control.h"

#include "base/banned.h"

enum {
	ORDER_LOOK_MS = 5,
	DRAIN_LOOK_MS = 100,
	DRAIN_LEFT_MAX = 100	/* destinations that are named */
};

static const char *
order_glob(const char *glob)
{
	return glob != NULL && glob[0] != '\0' ? glob : "*";
}

bool
act_is_meant(const struct act *act, struct slice channel, struct slice host)
{
	return glob_match(slice_of(order_glob(act->request.channel)),
	    channel) && glob_match(slice_of(order_glob(act->request.host)),
	    host);
}

bool
act_is_dest(const struct act *act, const struct thread *thread)
{
	const char *channel = order_glob(act->request.channel);
	struct slice host = slice_of(order_glob(act->request.host));

	if (strcmp(channel, "zone") == 0)
		return thread->zone[0] != '\0' &&
		    glob_match(host, slice_of(thread->zone));
	return act_is_meant(act, slice_of(thread->channel),
	    slice_of(thread->host));
}

static uint64_t
dest_mail(const struct thread *thread)
{
	return thread->ready_count + thread->wait_count +
	    thread->flight_count;
}

static void
dest_count_threads(struct act *act)
{
	struct thread *thread = NULL;
	size_t bucket = 0;

	while (thread_next(&act->queue->threads, &bucket, &thread))
		if (act_is_dest(act, thread)) {
			act->count.destinations++;
			act->count.messages += dest_mail(thread);
		}
}

/* ---- shown ------------------------------------------------------- */

/* Of all nodes together. */
static void
dest_add_warm_up(const struct queue *queue, const struct thread *thread,
    struct str *out)
{
	const struct conf_zone *zone = conf_zone_find(queue->conf,
	    slice_of(thread->zone));
	const struct allowance *allowance = zone == NULL ||
	    !zone->warm_is_shared ? NULL :
	    allowance_find(&queue->warms.shared, thread);
	bool is_alone;
	int64_t cap;

	if (allowance == NULL)
		return;
	cap = allowance_cap_today(allowance, zone, &is_alone);
	if (cap >= 0)
		json_number(out, "warm_up", cap);
	json_bool(out, "warm_up_alone", is_alone);
}

static void
dest_add_thread(const struct queue *queue, const struct thread *thread,
    struct str *out)
{
	json_open(out);
	control_thread_name(thread, out);
	json_text(out, "state", slice_of(visit_dest_state(thread)));
	json_number(out, "active", thread->flight_count);
	json_number(out, "parked", thread->parked_count);
	json_number(out, "agents", thread->serving);
	json_number(out, "limit", thread->limit);
	json_number(out, "pin", thread->pin);
	json_number(out, "troubles", thread->trouble_count);
	json_number(out, "down_since", thread->trouble_count > 0 ?
	    act_wall_s(thread->trouble_ms) : 0);
	json_number(out, "held_until", act_wall_s(thread->wake_ms));
	json_text(out, "reason", slice_of(thread->trouble_count > 0 ?
	    thread->reason : ""));
	json_bool(out, "suspended", thread->is_suspended);
	control_thread(thread, out);
	control_estimate_thread(queue, thread, out);
	dest_add_warm_up(queue, thread, out);
	json_close(out);
}

enum act_step
act_destinations(struct act *act, struct str *out)
{
	const struct thread_table *threads = &act->queue->threads;
	unsigned looks = ACT_LOOKS;
	struct thread *thread;

	if (!act->is_begun)
		thread_walk_init(&act->threads, threads);
	act->is_begun = true;
	while ((thread = thread_walk_next(&act->threads, threads,
	    &looks)) != NULL) {
		if (!act_is_dest(act, thread))
			continue;
		dest_add_thread(act->queue, thread, out);
		act->count.destinations++;
		if (out->len >= ACT_OUT_BYTES)
			looks = 0;
	}
	if (!act->threads.is_over)
		return ACT_MORE;
	act_done(act, out);
	json_number(out, "destinations", (int64_t)act->count.destinations);
	json_number(out, "messages", (int64_t)act->queue->jobs.count);
	json_number(out, "bodies_alone",
	    (int64_t)act->intake->strays.bodies.left);
	json_number(out, "controls_alone",
	    (int64_t)act->intake->strays.controls.left);
	json_close(out);
	return ACT_DONE;
}

/* In the order given; what is given or taken back meanwhile moves nobody
 * else's place. */
enum act_step
act_orders(struct act *act, struct str *out)
{
	const struct orders *orders = &act->queue->orders;

	for (size_t i = 0; i < orders->count; i++) {
		if (orders->all[i].serial <= act->order ||
		    orders->all[i].kind == ORDER_SEARCH)
			continue;
		if (out->len >= ACT_OUT_BYTES)
			return ACT_MORE;
		order_format(&orders->all[i], out);
		act->order = orders->all[i].serial;
		act->count.destinations++;
	}
	act_done(act, out);
	json_number(out, "orders", (int64_t)act->count.destinations);
	json_close(out);
	return ACT_DONE;
}

/* ---- given and taken back ---------------------------------------- */

static int
order_give(struct act *act, enum order_kind kind, struct orders_change *out,
    struct err *err)
{
	const struct request *request = &act->request;
	bool is_drain = kind == ORDER_DRAIN;
	struct order order = { .kind = kind,
	    .limit = kind == ORDER_PIN ? (unsigned)request->limit : 0,
	    .channel = (char *)(is_drain ? "*" :
		order_glob(request->channel)),
	    .host = (char *)(is_drain ? "*" : order_glob(request->host)),
	    .by = act->by, .reason = (char *)request->reason,
	    .since_s = clock_wall_s(), .until_s = request->until_s };

	return orders_give(&act->queue->orders, act->queue->spool, &order,
	    out, err);
}

/* False: there is none. */
static bool
order_take_back(struct act *act, enum order_kind kind,
    struct orders_change *out)
{
	const struct request *request = &act->request;
	bool is_every = request->is_all || kind == ORDER_DRAIN;

	return orders_take_back(&act->queue->orders, act->queue->spool, kind,
	    is_every ? NULL : order_glob(request->channel),
	    is_every ? NULL : order_glob(request->host), out);
}

bool
act_order_change(struct act *act, enum order_kind kind, bool is_given,
    struct str *out, enum act_step *step)
{
	struct orders_change change;
	struct err err = { "" };
	int result = act_sync_end(act, &err);

	*step = ACT_SYNC;
	if (act->is_given || act->request.is_dry) {
		if (result < 0)
			*step = act_trouble(act, &err, out);
		return result == 0;
	}
	if (act->queue->orders.is_changing) {	/* another's */
		act->wake_ms = clock_steady_ms() + ORDER_LOOK_MS;
		*step = ACT_WAIT;
		return false;
	}
	act->is_given = true;
	if (!is_given && !order_take_back(act, kind, &change))
		return true;
	if (is_given && order_give(act, kind, &change, &err) < 0) {
		*step = act_trouble(act, &err, out);
		return false;
	}
	act->order_count = change.count;
	act_sync_orders(act, &change);
	return false;
}

static enum act_step
order_end(struct act *act, struct str *out)
{
	json_close(out);
	act_journal(act);
	return ACT_DONE;
}

enum act_step
act_suspend(struct act *act, struct str *out)
{
	enum act_step step;

	if (!act_order_change(act, ORDER_SUSPEND, true, out, &step))
		return step;
	dest_count_threads(act);
	act_done(act, out);
	json_number(out, "destinations", (int64_t)act->count.destinations);
	json_number(out, "messages", (int64_t)act->count.messages);
	return order_end(act, out);
}

enum act_step
act_resume(struct act *act, struct str *out)
{
	struct thread *thread = NULL;
	enum act_step step;
	size_t bucket = 0;

	if (!act_order_change(act, ORDER_SUSPEND, false, out, &step))
		return step;
	while (thread_next(&act->queue->threads, &bucket, &thread))
		act->count.destinations += !thread->is_suspended &&
		    act_is_dest(act, thread);
	act_done(act, out);
	json_number(out, "orders", (int64_t)act->order_count);
	json_number(out, "destinations", (int64_t)act->count.destinations);
	return order_end(act, out);
}

enum act_step
act_pin(struct act *act, struct str *out)
{
	bool is_given = act->request.limit > 0;
	enum act_step step;

	if (!act_order_change(act, ORDER_PIN, is_given, out, &step))
		return step;
	dest_count_threads(act);
	act_done(act, out);
	if (!is_given)
		json_number(out, "orders", (int64_t)act->order_count);
	json_number(out, "destinations", (int64_t)act->count.destinations);
	return order_end(act, out);
}

/* ---- drain ------------------------------------------------------- */

/* A line for each destination that has deliveries under way, so many. */
static void
drain_add_left(const struct act *act, struct str *out)
{
	struct thread *thread = NULL;
	size_t bucket = 0;
	unsigned count = 0;

	while (act->queue->plan.flight_count > 0 && count < DRAIN_LEFT_MAX &&
	    thread_next(&act->queue->threads, &bucket, &thread)) {
		if (thread->flight_count == 0)
			continue;
		json_open(out);
		control_thread_name(thread, out);
		json_number(out, "active", thread->flight_count);
		json_close(out);
		count++;
	}
}

static enum act_step
drain_end(struct act *act, struct str *out)
{
	drain_add_left(act, out);
	act_done(act, out);
	json_number(out, "active", act->queue->plan.flight_count);
	return order_end(act, out);
}

enum act_step
act_drain(struct act *act, struct str *out)
{
	int64_t now_ms = clock_steady_ms();
	int64_t timeout_s = act->request.timeout_s;
	enum act_step step;

	if (act->end_ms == 0) {
		if (!act_order_change(act, ORDER_DRAIN, true, out, &step))
			return step;
		act->end_ms = now_ms + (timeout_s < 0 ? 3600 : timeout_s) *
		    1000;
	}
	if (act->queue->plan.flight_count == 0 || act->request.is_dry ||
	    now_ms >= act->end_ms)
		return drain_end(act, out);
	act->wake_ms = now_ms + DRAIN_LOOK_MS;
	return ACT_WAIT;
}

enum act_step
act_undrain(struct act *act, struct str *out)
{
	enum act_step step;

	if (!act->is_given)
		act->was_draining = act->queue->orders.is_draining;
	if (!act_order_change(act, ORDER_DRAIN, false, out, &step))
		return step;
	act_done(act, out);
	json_bool(out, "was", act->was_draining);
	return order_end(act, out);
}
