/* state.c - who waits for copies, and whether the database answers
 *
 * In     moments, lists
 * Out    answers; events
 * Holds  nothing of its own
 * Spec   state.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "journal/event.h"
#include "share/copies/state.h"

#include "base/banned.h"

/* ---- who waits --------------------------------------------------------- */

void
copies_free_wait(struct copies *copies, struct copies_wait *wait)
{
	copies->wait_count--;
	waits_free(&wait);
}

void
copies_answer_list(struct copies *copies, struct waits_list *list,
    const char *why)
{
	struct copies_wait *wait;

	while ((wait = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, wait, entry);
		waits_answer_away(wait, why);
		copies_free_wait(copies, wait);
	}
}

/* What comes in one turn goes together. */
void
copies_turn_soon(struct copies *copies)
{
	if (copies->turn_timer.at_ms == 0)
		timer_set(copies->process->loop, &copies->turn_timer,
		    clock_steady_ms(), copies->turn_fn, copies);
}

/* Nobody waits for longer than he was told, also not behind others. */
static void
copies_on_late(void *context)
{
	struct copies *copies = context;
	int64_t now_ms = clock_steady_ms();
	struct copies_wait *wait, *next;

	TAILQ_FOREACH(wait, &copies->bundle.waits, entry)
		if (wait->fn != NULL && wait->until_ms <= now_ms)
			waits_answer_away(wait, "no answer within 5 s");
	wait = copies->single.wait;
	if (wait != NULL && wait->until_ms <= now_ms)
		waits_answer_away(wait, "no answer within 5 s");
	TAILQ_FOREACH_SAFE(wait, &copies->queue, entry, next)
		if (wait->until_ms <= now_ms) {
			TAILQ_REMOVE(&copies->queue, wait, entry);
			waits_answer_away(wait, "no answer within 5 s");
			copies_free_wait(copies, wait);
		}
	copies_watch_late(copies);
}

void
copies_watch_late(struct copies *copies)
{
	const struct copies_wait *wait;
	int64_t until_ms = INT64_MAX;

	TAILQ_FOREACH(wait, &copies->bundle.waits, entry)
		if (wait->fn != NULL && wait->until_ms < until_ms)
			until_ms = wait->until_ms;
	TAILQ_FOREACH(wait, &copies->queue, entry)
		if (wait->until_ms < until_ms)
			until_ms = wait->until_ms;
	wait = copies->single.wait;
	if (wait != NULL && wait->fn != NULL && wait->until_ms < until_ms)
		until_ms = wait->until_ms;
	if (until_ms == INT64_MAX)
		timer_clear(&copies->late_timer);
	else
		timer_set(copies->process->loop, &copies->late_timer,
		    until_ms, copies_on_late, copies);
}

/* ---- up and away ------------------------------------------------------- */

void
copies_tell_away(struct copies *copies)
{
	if (copies->was_told && !copies->is_up)
		return;
	copies->was_told = true;
	copies->is_up = false;
	copies->since_ms = clock_steady_ms();
	event(EV_COPIES_LOST, NULL, "postgres",
	    slice_of(wire_place(copies->wire)), "reason",
	    slice_of(copies->why), NULL);
}

void
copies_tell_up(struct copies *copies)
{
	if (copies->is_up)
		return;
	event(EV_COPIES_BACK, NULL, "postgres",
	    slice_of(wire_place(copies->wire)), "seconds",
	    event_number((clock_steady_ms() - copies->since_ms) / 1000),
	    NULL);
	copies->is_up = copies->was_told = true;
	copies->since_ms = clock_steady_ms();
}
