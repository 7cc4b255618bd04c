/* copies.c - copies of accepted mail in the PostgreSQL of the cluster
 *
 * In     questions; what the wire says
 * Out    answers
 * Holds  who waits, with descriptors; the epoch and the lease of this node
 * Trusts nobody with more than COPIES_WAITS_MAX questions
 * Spec   copies.h; doc/protocol/share.md sections 4 and 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "share/copies/jobs.h"
#include "share/copies/state.h"

#include "base/banned.h"

/* The process that follows this one looks its names up. */
static void
copies_look_again(void *context)
{
	struct copies *copies = context;

	loop_stop(copies->process->loop);
}

/* wire_kind */
static void
copies_on_lost(void *context, const char *why)
{
	struct copies *copies = context;

	snprintf(copies->why, sizeof(copies->why), "%s", why);
	copies->is_greeted = false;
	timer_clear(&copies->lease_timer);
	copies_tell_away(copies);
	copies_answer_list(copies, &copies->queue, copies->why);
	copies_watch_late(copies);
	if (copies->goal->has_names && clock_steady_ms() >=
	    copies->since_ms + COPIES_LOOK_AGAIN_MS)
		copies_look_again(copies);
}

/* wire_kind */
static void
copies_on_open(void *context)
{
	copies_turn_soon(context);
}

/* ---- public ------------------------------------------------------------ */

struct copies *
copies_new(struct process *process, const struct copies_goal *goal)
{
	static const struct wire_kind kind = { copies_on_open,
	    copies_on_lost };
	struct copies *copies = mem_alloc(1, sizeof(*copies));

	copies->process = process;
	copies->goal = goal;
	copies->cluster = &process->conf->cluster;
	copies->turn_fn = jobs_turn;
	copies->single.cluster = copies->cluster;
	copies->since_ms = clock_steady_ms();
	TAILQ_INIT(&copies->queue);
	bundle_init(&copies->bundle, copies->cluster);
	str_init(&copies->single.array);
	snprintf(copies->why, sizeof(copies->why), "not asked yet");
	copies->wire = wire_new(process->loop, goal, &kind, copies);
	if (goal->place_count == 0) {
		copies_on_lost(copies, goal->trouble);
		timer_set(process->loop, &copies->lease_timer,
		    copies->since_ms + COPIES_LOOK_AGAIN_MS,
		    copies_look_again, copies);
	}
	return copies;
}

void
copies_free(struct copies **pcopies)
{
	struct copies *copies = *pcopies;
	struct copies_wait *wait;

	if (copies == NULL)
		return;
	wire_free(&copies->wire);
	timer_clear(&copies->turn_timer);
	timer_clear(&copies->lease_timer);
	timer_clear(&copies->late_timer);
	while ((wait = TAILQ_FIRST(&copies->queue)) != NULL) {
		TAILQ_REMOVE(&copies->queue, wait, entry);
		waits_free(&wait);
	}
	if (copies->single.wait != NULL)
		waits_free(&copies->single.wait);
	str_release(&copies->single.array);
	bundle_release(&copies->bundle);
	mem_free(pcopies);
}

/* NULL: it is answered. */
static struct copies_wait *
copies_refuse(struct copies_wait *wait, const char *why)
{
	waits_answer_away(wait, why);
	waits_free(&wait);
	return NULL;
}

static struct copies_wait *
copies_push(struct copies *copies, struct copies_wait *wait)
{
	struct err err;

	if (copies->was_told && !copies->is_up)
		return copies_refuse(wait, copies->why);
	if (copies->wait_count >= copies->goal->waits_max)
		return copies_refuse(wait, "too many wait");
	if (waits_measure(wait, copies->cluster->copy_bytes_max, &err) < 0)
		return copies_refuse(wait, err.text);
	wait->copies = copies;
	wait->until_ms = clock_steady_ms() + (wait->is_status ?
	    COPIES_STATUS_MS : COPIES_PATIENCE_MS);
	TAILQ_INSERT_TAIL(&copies->queue, wait, entry);
	copies->wait_count++;
	copies_turn_soon(copies);
	if (copies->late_timer.at_ms == 0 ||
	    wait->until_ms < copies->late_timer.at_ms)
		copies_watch_late(copies);
	return wait;
}

/* Nobody has to wait for what is known here. */
static void
copies_say_lease(const struct copies *copies, copies_answer_fn *fn,
    void *context)
{
	int64_t left_ms = bounds_lease_ms(copies->lease_asked_ms,
	    clock_steady_ms());
	struct str line = STR_INIT;

	if (left_ms > 0)
		str_addf(&line, "ok held %" PRId64 " %" PRIu64 "\n", left_ms,
		    copies->epoch);
	else
		str_addf(&line, "ok none %s\n", copies->is_up ?
		    "this node was taken over" : copies->why);
	fn(context, str_slice(&line));
	str_release(&line);
}

struct copies_wait *
copies_ask(struct copies *copies, const struct copying *question,
    const int *fds, copies_answer_fn *fn, void *context)
{
	struct copies_wait *wait;

	if (question->verb == COPYING_LEASE) {
		copies_say_lease(copies, fn, context);
		return NULL;
	}
	wait = waits_new(question, fds);
	wait->fn = fn;
	wait->context = context;
	if (question->verb == COPYING_TAKEOVER &&
	    slice_is(question->node, copies->cluster->self)) {
		waits_answer(wait, SLICE("ok none it is this node\n"));
		waits_free(&wait);
		return NULL;
	}
	return copies_push(copies, wait);
}

struct copies_wait *
copies_ask_status(struct copies *copies, copies_answer_fn *fn, void *context)
{
	struct copies_wait *wait = waits_new(NULL, NULL);

	wait->is_status = true;
	wait->fn = fn;
	wait->context = context;
	str_addf(&wait->lines, "copies %s %" PRId64 " %zu %s\n",
	    copies->is_up ? "up" : "away",
	    (clock_steady_ms() - copies->since_ms) / 1000,
	    copies->wait_count, copies->is_up ? "-" : copies->why);
	if (copies->is_up)
		return copies_push(copies, wait);
	str_adds(&wait->lines, "ok\n");
	waits_answer(wait, str_slice(&wait->lines));
	waits_free(&wait);
	return NULL;
}

void
copies_forget(struct copies_wait **wait)
{
	if (*wait != NULL)
		(*wait)->fn = NULL;
	*wait = NULL;
}
