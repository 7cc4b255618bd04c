/* pace.c - how many sessions and how fast, by what a destination answers
 *
 * In     successes and troubles with their moments; the clause's limits
 * Out    a number of sessions, a moment before which nothing goes
 * Holds  nothing: all of it is in the thread
 * Trusts the caller's clock not to go back
 *
 * SPDX-License-Identifier: ISC
 */
#include "scheduler/plan/shaping/pace.h"
#include "scheduler/plan/thread.h"

#include "base/banned.h"

enum {
	GAP_MAX_US = 60000000,	/* a longer silence tells nothing */
	SLOW_FIRST_MAX_US = 10000000,
	GAP_SHARE = 8,		/* of the newest in the mean */
	SLOW_SHARE = 8		/* of a pause that a step takes away */
};

static unsigned
pace_most(const struct thread *thread)
{
	unsigned parallel = thread->ring->clause.parallel;

	return parallel > 0 ? parallel : 1;
}

void
pace_init(struct thread *thread)
{
	unsigned most = pace_most(thread);

	thread->pace = (struct pace){ .threshold = most };
	thread->pace_index = HEAP_NONE;
	thread->limit = most < THREAD_LIMIT_START ||
	    !thread->ring->clause.has_feedback ? most : THREAD_LIMIT_START;
}

void
pace_rematch(struct thread *thread)
{
	unsigned most = pace_most(thread);

	if (thread->pace.threshold > most || thread->pace.reduced_ms == 0)
		thread->pace.threshold = most;
	if (thread->limit > most || (!thread->ring->clause.has_feedback &&
	    thread->trouble_count == 0))
		thread->limit = most;
}

unsigned
pace_limit(const struct thread *thread)
{
	return thread->pin > 0 ? thread->pin : thread->limit;
}

bool
pace_is_throttled(const struct thread *thread)
{
	return thread->ring->clause.has_feedback &&
	    (thread->pace.slow_us > 0 || (thread->pace.reduced_ms != 0 &&
	    thread->limit < pace_most(thread)));
}

/* ---- how fast ------------------------------------------------------- */

static int64_t
pace_spacing_us(const struct thread *thread)
{
	const struct conf_schedule *clause = &thread->ring->clause;
	int64_t own_us = clause->rate_count == 0 ? 0 : clause->rate_per_ms *
	    1000 / (int64_t)clause->rate_count;

	return own_us > thread->pace.slow_us ? own_us : thread->pace.slow_us;
}

/* The moment from which the next one may go, as free_us and the burst say. */
static int64_t
pace_until_ms(const struct thread *thread, int64_t now_ms)
{
	const struct pace *pace = &thread->pace;
	int64_t space_us = pace_spacing_us(thread);
	int64_t burst_us = space_us < PACE_BURST_US && pace->slow_us == 0 ?
	    PACE_BURST_US - space_us : 0;

	if (pace->free_us - burst_us <= now_ms * 1000)
		return 0;
	return (pace->free_us - burst_us + 999) / 1000;
}

int64_t
pace_taken(struct thread *thread, int64_t now_ms)
{
	struct pace *pace = &thread->pace;
	int64_t now_us = now_ms * 1000, space_us = pace_spacing_us(thread);
	int64_t gap_us = now_us - pace->taken_us;

	if (gap_us > GAP_MAX_US)
		gap_us = GAP_MAX_US;
	if (pace->gap_us == 0 && pace->taken_us != 0)
		pace->gap_us = gap_us;
	else if (pace->taken_us != 0)
		pace->gap_us += (gap_us - pace->gap_us) / GAP_SHARE;
	pace->taken_us = now_us;
	if (space_us == 0) {
		pace->free_us = 0;
		return 0;
	}
	if (pace->free_us < now_us)
		pace->free_us = now_us;
	pace->free_us += space_us;
	return pace_until_ms(thread, now_ms);
}

int64_t
pace_again(struct thread *thread, int64_t now_ms)
{
	struct pace *pace = &thread->pace;
	int64_t own_us = pace->taken_us + pace_spacing_us(thread);

	if (pace->free_us > own_us)
		pace->free_us = own_us;
	return pace_until_ms(thread, now_ms);
}

void
pace_slow(struct thread *thread, int64_t begun_ms, int64_t now_ms)
{
	struct pace *pace = &thread->pace;
	int64_t slow_us = pace->slow_us * 3 / 2;

	if (!thread->ring->clause.has_feedback || (pace->slowed_ms != 0 &&
	    begun_ms <= pace->slowed_ms))
		return;
	if (slow_us == 0) {
		slow_us = pace_spacing_us(thread) > pace->gap_us ?
		    pace_spacing_us(thread) * 3 / 2 : pace->gap_us * 3 / 2;
		if (slow_us < PACE_SLOW_FIRST_US)
			slow_us = PACE_SLOW_FIRST_US;
		if (slow_us > SLOW_FIRST_MAX_US)
			slow_us = SLOW_FIRST_MAX_US;
	}
	pace->slow_us = slow_us > PACE_SLOW_MAX_US ? PACE_SLOW_MAX_US :
	    slow_us;
	pace->slowed_ms = pace->eased_ms = now_ms;
}

/* ---- how many ------------------------------------------------------- */

static void
pace_step_begin(struct pace *pace)
{
	pace->step_good = 0;
	pace->step_ms = pace->step_took_ms = 0;
}

/* Are as many at work as there may be?  Those that are too many run dry. */
static bool
pace_is_full(const struct thread *thread)
{
	unsigned eighth = thread->limit / 8;

	return thread->serving >= thread->limit - eighth &&
	    thread->serving <= thread->limit + eighth;
}

/* What the sessions of a step bring: how many there are by how long one takes
 * for a message (Little's law), the mean of as many as each of them may have
 * two of, begun after all had come to work.  Successes counted by the clock say
 * less: they come in waves, of which one more or less falls into any time. */
static bool
pace_step_is_over(struct thread *thread, int64_t since_ms, int64_t took_ms,
    int64_t now_ms, int64_t *out_rate)
{
	struct pace *pace = &thread->pace;

	if (pace->step_ms == 0) {
		if (++pace->step_good >= thread->limit) {
			pace->step_good = 0;
			pace->step_ms = now_ms;
		}
		return false;
	}
	if (since_ms < pace->step_ms)
		return false;
	pace->step_took_ms += took_ms;
	if (++pace->step_good < 2 * thread->limit || pace->step_took_ms == 0)
		return false;
	*out_rate = (int64_t)thread->limit * pace->step_good * 1000000 /
	    pace->step_took_ms;
	pace_step_begin(pace);
	return pace_is_full(thread);
}

/* They brought nothing, as far as could be seen: where we are busy, answers are
 * heard late.  So that is asked again soon, then later. */
static void
pace_was_vain(struct pace *pace, int64_t now_ms)
{
	pace->step_rate = 0;
	pace->vain_ms = now_ms;
	pace->vain_wait_ms *= 2;
	if (pace->vain_wait_ms < PACE_VAIN_MIN_MS)
		pace->vain_wait_ms = PACE_VAIN_MIN_MS;
	if (pace->vain_wait_ms > PACE_VAIN_MAX_MS)
		pace->vain_wait_ms = PACE_VAIN_MAX_MS;
}

/* By half, as long as half of that is gained: then what limits is the time to
 * answer.  A host that gets slower with them answers no more for it, and is
 * left with what it had. */
static void
pace_grow_far(struct thread *thread, int64_t since_ms, int64_t took_ms,
    int64_t now_ms)
{
	struct pace *pace = &thread->pace;
	unsigned most = pace_most(thread), more;
	int64_t rate;

	if ((pace->vain_ms != 0 && now_ms - pace->vain_ms <
	    pace->vain_wait_ms) ||
	    !pace_step_is_over(thread, since_ms, took_ms, now_ms, &rate))
		return;
	if (pace->step_rate > 0 && pace->step_limit < thread->limit &&
	    rate - pace->step_rate < pace->step_rate * (int64_t)(thread->limit -
	    pace->step_limit) / pace->step_limit / 2) {
		thread->limit = pace->step_limit;
		pace_was_vain(pace, now_ms);
		return;
	}
	if (pace->step_rate > 0)
		pace->vain_wait_ms = 0;
	more = thread->limit + thread->limit / 2;
	pace->step_limit = thread->limit;
	pace->step_rate = rate;
	thread->limit = more > most ? most : more;
}

/* More sessions only as they bring more: pace_worked sees to it. */
static bool
pace_is_far(const struct thread *thread)
{
	return thread->ring->clause.has_feedback &&
	    thread->pace.reduced_ms == 0 && thread->limit >= PACE_NEAR &&
	    (thread->limit < pace_most(thread) || thread->limit > PACE_NEAR);
}

void
pace_worked(struct thread *thread, int64_t since_ms, int64_t took_ms,
    int64_t now_ms)
{
	if (pace_is_far(thread))
		pace_grow_far(thread, since_ms, took_ms, now_ms);
}

static void
pace_grow(struct thread *thread)
{
	struct pace *pace = &thread->pace;
	unsigned most = pace_most(thread);

	if (!thread->ring->clause.has_feedback) {
		thread->limit = most;
		return;
	}
	if (pace_is_far(thread))
		return;
	if (thread->limit >= most) {
		thread->limit = most;
		return;
	}
	if (thread->limit >= pace->threshold &&
	    ++pace->credit < thread->limit)
		return;
	pace->credit = 0;
	thread->limit++;
}

void
pace_good(struct thread *thread, int64_t begun_ms, int64_t now_ms)
{
	struct pace *pace = &thread->pace;

	pace->good_ms = now_ms;
	pace->failures = 0;
	if (pace->reduced_ms == 0 || begun_ms > pace->reduced_ms)
		pace_grow(thread);
	if (pace->slow_us == 0 || begun_ms <= pace->slowed_ms ||
	    now_ms - pace->eased_ms < PACE_EASE_MS)
		return;
	pace->eased_ms = now_ms;
	pace->slow_us -= pace->slow_us / SLOW_SHARE + 1;
	if (pace->slow_us < PACE_SLOW_MIN_US)
		pace->slow_us = 0;
}

bool
pace_less(struct thread *thread, int64_t begun_ms, int64_t now_ms)
{
	struct pace *pace = &thread->pace;

	if (!thread->ring->clause.has_feedback || (pace->reduced_ms != 0 &&
	    begun_ms <= pace->reduced_ms))
		return false;
	thread->limit = thread->limit > 1 ? thread->limit / 2 : 1;
	pace->threshold = thread->limit;
	pace->credit = 0;
	pace->reduced_ms = now_ms;
	pace->step_rate = 0;
	return true;
}

bool
pace_is_down(struct thread *thread, int64_t begun_ms, int64_t now_ms)
{
	struct pace *pace = &thread->pace;

	if (!thread->ring->clause.has_feedback || pace->good_ms == 0 ||
	    now_ms - pace->good_ms >= PACE_RECENT_MS)
		return true;
	pace->failures++;
	pace_less(thread, begun_ms, now_ms);
	return pace->failures > thread->limit;
}

void
pace_down(struct thread *thread, int64_t now_ms)
{
	struct pace *pace = &thread->pace;

	if (thread->limit > 1)
		pace->threshold = thread->limit > 3 ? thread->limit / 2 : 2;
	if (pace->threshold > pace_most(thread))
		pace->threshold = pace_most(thread);
	thread->limit = 1;
	pace->credit = pace->failures = 0;
	pace->reduced_ms = now_ms;
	pace->good_ms = 0;
}
