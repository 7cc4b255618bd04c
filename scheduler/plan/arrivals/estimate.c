/* estimate.c - when a message will have arrived, and whether that came true
 *
 * In     what a vertex waits for, spans of others
 * Out    a moment
 * Holds  nothing; a vertex has what was said of it, in two bytes
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "scheduler/plan/arrivals/estimate.h"

#include "base/banned.h"

const char *const estimate_names[] = { "known", "few", "order" };

enum { JUDGED_FEW = 10,		/* estimates; fewer tell nothing */
	PERCENT_MAX = 99 };

struct waiter {			/* who waits, and for what */
	const struct thread *thread;
	int64_t		 age_ms;
	int64_t		 start_ms;	/* from now: not before */
	unsigned	 ahead;		/* in line before it, at most */
	bool		 is_under_way;	/* at an agent: no order keeps it */
	bool		 is_fresh;	/* its age says nothing about the
					 * destination */
};

/* ---- not before ------------------------------------------------------ */

/* False: an order without an end. */
static bool
waiter_take_orders(const struct queue *queue, struct waiter *waiter)
{
	const struct order *order = NULL;
	int64_t start_ms;

	if (waiter->is_under_way)
		return true;
	if (queue->orders.is_draining)
		order = orders_find(&queue->orders, ORDER_DRAIN, SLICE("*"),
		    SLICE("*"));
	else if (waiter->thread->is_suspended)
		order = orders_for(&queue->orders, ORDER_SUSPEND,
		    waiter->thread);
	else
		return true;
	if (order == NULL || order->until_s == 0)
		return false;
	start_ms = (order->until_s - clock_wall_s()) * 1000;
	if (start_ms > waiter->start_ms)
		waiter->start_ms = start_ms;
	return true;
}

static void
waiter_take_hold(struct waiter *waiter, int64_t now_ms)
{
	int64_t wake_ms = waiter->thread->wake_ms;

	if (!waiter->is_under_way && wake_ms - now_ms > waiter->start_ms)
		waiter->start_ms = wake_ms - now_ms;
}

/* ---- spans ----------------------------------------------------------- */

/* So many of a hundred estimates held too few. */
static unsigned
arrival_lacks(const struct arrive *arrive)
{
	unsigned kept = arrive->judged < JUDGED_FEW ? ESTIMATE_PERCENT :
	    arrive->held * 100U / arrive->judged;

	return kept < ESTIMATE_PERCENT ? ESTIMATE_PERCENT - kept : 0;
}

/* After acceptance; -1.  Where estimates have held less often than they
 * promise, more of those that arrived are asked for, and those that were put
 * off and wait still count: of a line that grows, who has arrived tells only
 * how quick the lucky ones were. */
static int64_t
waiter_within_ms(const struct waiter *waiter, const struct arrive *arrive,
    int64_t age_ms)
{
	unsigned lacks = arrival_lacks(arrive);
	unsigned percent = ESTIMATE_PERCENT + lacks;

	if (lacks == 0)
		return arrive_within_ms(arrive, ESTIMATE_PERCENT, age_ms);
	return arrive_within_beside_ms(arrive, percent < PERCENT_MAX ?
	    percent : PERCENT_MAX, age_ms, waiter->thread->wait_count);
}

/* From now, by what is known of one destination or channel; -1. */
static int64_t
waiter_span_ms(const struct waiter *waiter, const struct arrival *by)
{
	/* it begins anew when it may go; or it goes on to wait */
	int64_t age_ms = waiter->is_fresh ? 0 : waiter->age_ms +
	    waiter->start_ms;
	int64_t span_ms, line_ms;

	if (by == NULL)
		return -1;
	span_ms = waiter_within_ms(waiter, &by->arrive, age_ms);
	if (span_ms < 0)
		return -1;
	span_ms -= age_ms;
	line_ms = by->gap_us * waiter->ahead / 1000;
	return waiter->start_ms + (line_ms > span_ms ? line_ms : span_ms);
}

/* Nobody meets its host: for how long has nothing to do with how soon others
 * arrived. */
static bool
waiter_is_in_trouble(const struct waiter *waiter)
{
	return !waiter->is_under_way && waiter->thread->trouble_count > 0;
}

/* It may go at once, and others could not: those of its channel, which could,
 * tell nothing of a destination like that. */
static bool
waiter_is_unlike(const struct waiter *waiter)
{
	return waiter->start_ms <= 0 && waiter->thread->wait_count > 0;
}

static void
waiter_estimate(const struct queue *queue, struct waiter *waiter,
    int64_t now_ms, struct estimate *out)
{
	const char *hosts[] = { waiter->thread->host, "*" };
	int64_t span_ms = -1;

	*out = (struct estimate){ .kind = ESTIMATE_ORDER };
	if (!waiter_take_orders(queue, waiter))
		return;
	waiter_take_hold(waiter, now_ms);
	for (int i = 0; i < 2 && span_ms < 0 &&
	    !waiter_is_in_trouble(waiter); i++) {
		if (i == 1 && waiter_is_unlike(waiter))
			break;
		out->is_own = i == 0;
		out->by = arrivals_find(&queue->arrivals,
		    waiter->thread->channel, hosts[i]);
		span_ms = waiter_span_ms(waiter, out->by);
	}
	if (span_ms < 0) {
		*out = (struct estimate){ .kind = ESTIMATE_FEW };
		return;
	}
	out->kind = ESTIMATE_KNOWN;
	out->at_ms = now_ms + span_ms;
}

void
estimate_vertex(const struct queue *queue, const struct vertex *vertex,
    int64_t now_ms, struct estimate *out)
{
	struct waiter waiter = { .thread = vertex->thread,
	    .age_ms = now_ms - vertex->job->born_ms,
	    .is_under_way = vertex->state == VERTEX_FLIGHT,
	    .is_fresh = vertex->is_apart };

	if (vertex->state == VERTEX_PARKED) {
		*out = (struct estimate){ .kind = ESTIMATE_ORDER };
		return;
	}
	if (vertex->state == VERTEX_WAIT && vertex->park != PARK_ASKED)
		waiter.start_ms = (vertex->next_ms > 0 ? vertex->next_ms :
		    vertex->moment_ms) - now_ms;
	if (waiter.start_ms < 0)
		waiter.start_ms = 0;
	if (vertex->state == VERTEX_READY)
		waiter.ahead = vertex->thread->ready_count;
	/* kept back by others, and never deferred: what it will take from
	 * then on is what it takes anybody */
	if (vertex->tries == 0 && (vertex->thread->is_suspended ||
	    queue->orders.is_draining))
		waiter.is_fresh = true;
	waiter_estimate(queue, &waiter, now_ms, out);
}

void
estimate_thread(const struct queue *queue, const struct thread *thread,
    int64_t now_ms, struct estimate *out)
{
	struct waiter waiter = { .thread = thread,
	    .ahead = thread->ready_count };

	waiter_estimate(queue, &waiter, now_ms, out);
}

/* ---- what was said --------------------------------------------------- */

/* A promise is a span from acceptance: so many seconds, or with the highest
 * bit so many minutes, up to three weeks. */
enum { PROMISE_MINUTES = 0x8000, PROMISE_MAX = 0x7fff };

static uint16_t
promise_of(int64_t span_ms)
{
	int64_t span_s = (span_ms + 999) / 1000;

	if (span_s <= 0)
		return 1;
	if (span_s <= PROMISE_MAX)
		return (uint16_t)span_s;
	span_s = (span_s + 59) / 60;
	return (uint16_t)(PROMISE_MINUTES | (span_s < PROMISE_MAX ? span_s :
	    PROMISE_MAX));
}

static int64_t
promise_ms(const struct vertex *vertex)
{
	int64_t span = vertex->promised & PROMISE_MAX;

	return vertex->job->born_ms + span *
	    ((vertex->promised & PROMISE_MINUTES) != 0 ? 60000 : 1000);
}

void
estimate_waits(struct queue *queue, struct vertex *vertex, int64_t due_ms)
{
	if (vertex->promised == 0 || due_ms <= promise_ms(vertex))
		return;
	arrivals_judge(&queue->arrivals, vertex->thread, false,
	    clock_wall_s());
	vertex->promised = 0;
}

void
estimate_promise(struct queue *queue, struct vertex *vertex,
    const struct estimate *estimate, int64_t now_ms)
{
	uint16_t promised = promise_of(estimate->at_ms -
	    vertex->job->born_ms);

	estimate_waits(queue, vertex, now_ms);
	/* the number rises with the span */
	if (estimate->kind == ESTIMATE_KNOWN &&
	    (vertex->promised == 0 || promised < vertex->promised))
		vertex->promised = promised;
}

void
estimate_arrived(struct queue *queue, const struct vertex *vertex,
    int64_t now_ms)
{
	int64_t now_s = clock_wall_s();

	arrivals_took(&queue->arrivals, vertex->thread, vertex->is_apart ? -1 :
	    now_ms - vertex->job->born_ms, now_ms, now_s);
	if (vertex->promised != 0)
		arrivals_judge(&queue->arrivals, vertex->thread,
		    now_ms <= promise_ms(vertex), now_s);
}
