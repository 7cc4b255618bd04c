/* jobs.c - what the database is asked next
 *
 * In     who waits; what the wire says
 * Out    jobs for the wire, one at a time; answers
 * Holds  what is under way, in struct copies
 * Trusts nothing: a lease counts from before the question
 * Spec   jobs.h; doc/protocol/share.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "journal/event.h"
#include "share/copies/jobs.h"
#include "share/copies/state.h"

#include "base/banned.h"

/* What is wrong with all of it, not with one message: a table is missing, it
 * takes no writes any more. */
static void
job_give_up(struct copies *copies, const struct wire_trouble *trouble)
{
	bool is_bare = strcmp(trouble->code, "42P01") == 0 ||
	    strcmp(trouble->code, "42501") == 0 ||
	    strcmp(trouble->code, "42703") == 0;
	char why[ERR_TEXT_BYTES];

	snprintf(why, sizeof(why), "it says %.300s%s", trouble->text,
	    is_bare ? " (zmailer cluster init prints what it needs)" : "");
	wire_give_up(copies->wire, why);
}

/* ---- the lease --------------------------------------------------------- */

static const char *
job_number(struct copies *copies, uint64_t number)
{
	snprintf(copies->number, sizeof(copies->number), "%" PRIu64, number);
	return copies->number;
}

static void
job_say_place(struct copies *copies, enum copies_statement which,
    struct wire_statement *out)
{
	sql_begin(out, which);
	sql_add(out, slice_of(copies->cluster->name));
	sql_add(out, slice_of(copies->cluster->self));
}

/* Say who we are, hear which epoch it is, and have a lease with it. */
static bool
job_next_of_greet(void *context, struct wire_statement *out)
{
	static const enum copies_statement steps[] = {
		SAY_PATIENCE, SAY_REGISTER, SAY_GREET, SAY_TIDY, SAY_COLUMNS
	};
	struct copies *copies = context;
	size_t step = copies->step++;

	if (step >= sizeof(steps) / sizeof(steps[0]))
		return false;
	if (steps[step] == SAY_PATIENCE) {
		sql_begin(out, SAY_PATIENCE);
		sql_add_digits(out, job_number(copies,
		    COPIES_PATIENCE_MS));
		return true;
	}
	if (steps[step] == SAY_COLUMNS) {
		sql_begin(out, SAY_COLUMNS);
		return true;
	}
	job_say_place(copies, steps[step], out);
	if (steps[step] == SAY_GREET)
		sql_add_digits(out, job_number(copies,
		    COPIES_LEASE_MS));
	return true;
}

static void
job_take_greet(void *context, size_t index, const struct wire_rows *rows)
{
	struct copies *copies = context;

	if (index != 2)
		return;
	(void)wire_number(rows, 0, 0, &copies->heard_epoch);
	(void)wire_number(rows, 0, 1, &copies->heard_us);
}

static bool
job_next_of_renew(void *context, struct wire_statement *out)
{
	struct copies *copies = context;

	if (copies->step++ > 0)
		return false;
	job_say_place(copies, SAY_RENEW, out);
	sql_add_digits(out, job_number(copies, COPIES_LEASE_MS));
	sql_add_digits(out, copies->epoch_text);
	return true;
}

static void
job_take_renew(void *context, size_t index, const struct wire_rows *rows)
{
	struct copies *copies = context;

	(void)wire_number(rows, 0, 0, &copies->heard_epoch);
	(void)wire_number(rows, 0, 1, &copies->heard_us);
}

/* Another node has taken over: what we have said is without effect, and no
 * lease is ours, until we have heard the new epoch. */
static void
job_is_fenced(struct copies *copies)
{
	copies->is_greeted = false;
	copies->lease_asked_ms = 0;
	event(EV_COPIES_FENCED, NULL, "node",
	    slice_of(copies->cluster->self), NULL);
	copies_turn_soon(copies);
}

static void
job_on_renew(void *context)
{
	copies_turn_soon(context);
}

static void
job_have_lease(struct copies *copies, bool is_new)
{
	copies->since_us = bounds_since_us(is_new ? 0 : copies->since_us,
	    copies->lease_us, copies->heard_us);
	copies->lease_us = copies->heard_us;
	copies->lease_asked_ms = copies->asking_ms;
	wire_praise(copies->wire);
	timer_set(copies->process->loop, &copies->lease_timer,
	    copies->asking_ms + COPIES_RENEW_MS, job_on_renew, copies);
	copies_turn_soon(copies);
}

static void
job_end_greet(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;

	if (end == WIRE_LOST)
		return;
	if (end == WIRE_REFUSED || copies->heard_epoch == 0) {
		job_give_up(copies, trouble);
		return;
	}
	copies->epoch = copies->heard_epoch;
	snprintf(copies->epoch_text, sizeof(copies->epoch_text), "%" PRIu64,
	    copies->epoch);
	copies->is_greeted = true;
	job_have_lease(copies, true);
	copies_tell_up(copies);
}

static void
job_end_renew(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;

	if (end == WIRE_REFUSED)
		job_give_up(copies, trouble);
	else if (end == WIRE_DONE && copies->heard_epoch == 0)
		job_is_fenced(copies);
	else if (end == WIRE_DONE)
		job_have_lease(copies, false);
}

static void
job_run(struct copies *copies, const struct wire_job *job)
{
	wire_run(copies->wire, job, copies, clock_steady_ms() +
	    COPIES_PATIENCE_MS);
}

static void
job_ask_lease(struct copies *copies)
{
	static const struct wire_job greet = { job_next_of_greet,
	    job_take_greet, job_end_greet };
	static const struct wire_job renew = { job_next_of_renew,
	    job_take_renew, job_end_renew };

	copies->step = 0;
	copies->heard_epoch = copies->heard_us = 0;
	copies->asking_ms = clock_steady_ms();
	job_run(copies, copies->is_greeted ? &renew : &greet);
}

/* ---- a group ----------------------------------------------------------- */

static bool
job_next_of_group(void *context, struct wire_statement *out)
{
	struct copies *copies = context;

	return bundle_next(&copies->bundle, out);
}

static void
job_tell_made(struct copies *copies)
{
	struct copies_wait *wait;

	while ((wait = TAILQ_FIRST(&copies->bundle.waits)) != NULL) {
		TAILQ_REMOVE(&copies->bundle.waits, wait, entry);
		if (wait->question.verb == COPYING_COPY || wait->is_body_said)
			counters_tally(TALLY_COPIES_MADE);
		waits_answer(wait, SLICE("ok ok\n"));
		copies_free_wait(copies, wait);
	}
	wire_praise(copies->wire);
}

/* Each is tried once more alone: in their order, before all others. */
static void
job_try_each(struct copies *copies, const char *why)
{
	struct copies_wait *wait;
	bool was_alone = copies->bundle.count == 1;

	while ((wait = TAILQ_LAST(&copies->bundle.waits, waits_list)) !=
	    NULL) {
		TAILQ_REMOVE(&copies->bundle.waits, wait, entry);
		if (wait->is_bad || was_alone) {
			waits_answer_away(wait, wait->is_bad ?
			    "its file cannot be read to its end" : why);
			copies_free_wait(copies, wait);
			continue;
		}
		wait->is_alone = true;
		TAILQ_INSERT_HEAD(&copies->queue, wait, entry);
	}
}

static void
job_group_refused(struct copies *copies,
    const struct wire_trouble *trouble)
{
	bool is_none = strcmp(trouble->code, SAY_DIVIDED_BY_NONE) == 0;

	if (is_none && trouble->index == 0) {
		copies_answer_list(copies, &copies->bundle.waits,
		    "this node was taken over");
		job_is_fenced(copies);
		return;
	}
	job_try_each(copies, is_none ?
	    "another node has a message of that id" : trouble->text);
	if (strcmp(trouble->code, "25006") == 0)	/* a standby now */
		job_give_up(copies, trouble);
}

static void
job_end_group(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;

	if (end == WIRE_DONE)
		job_tell_made(copies);
	else if (end == WIRE_LOST)
		copies_answer_list(copies, &copies->bundle.waits,
		    trouble->text);
	else
		job_group_refused(copies, trouble);
	copies_watch_late(copies);
	copies_turn_soon(copies);
}

static void
job_write_group(struct copies *copies)
{
	static const struct wire_job write = { job_next_of_group, NULL,
	    job_end_group };

	bundle_begin(&copies->bundle, copies->epoch);
	job_run(copies, &write);
}

static bool
job_next_of_lines(void *context, struct wire_statement *out)
{
	struct copies *copies = context;

	if (copies->step++ > 0)
		return false;
	bundle_say_lines(&copies->bundle, out);
	return true;
}

static void
job_take_lines(void *context, size_t index, const struct wire_rows *rows)
{
	struct copies *copies = context;

	bundle_take_lines(&copies->bundle, rows);
}

static void
job_end_lines(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;

	if (end == WIRE_DONE)
		job_write_group(copies);
	else
		job_end_group(copies, end, trouble);
}

static void
job_run_group(struct copies *copies)
{
	static const struct wire_job lines = { job_next_of_lines,
	    job_take_lines, job_end_lines };

	bundle_fill(&copies->bundle, &copies->queue);
	if (!bundle_has_kept(&copies->bundle)) {
		job_write_group(copies);
		return;
	}
	copies->step = 0;
	job_run(copies, &lines);
}

/* ---- one that is alone ------------------------------------------------- */

static bool
job_next_of_single(void *context, struct wire_statement *out)
{
	struct copies *copies = context;

	return single_next(&copies->single, out);
}

static void
job_take_single(void *context, size_t index, const struct wire_rows *rows)
{
	struct copies *copies = context;

	single_take_rows(&copies->single, index, rows);
}

static void
job_end_single(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;
	struct copies_wait *wait = copies->single.wait;

	if (end == WIRE_DONE) {
		if (single_done(&copies->single) == SINGLE_AGAIN) {
			wait->until_ms = clock_steady_ms() +
			    COPIES_PATIENCE_MS;
			TAILQ_INSERT_TAIL(&copies->queue, wait, entry);
			wait = NULL;
		}
		wire_praise(copies->wire);
	} else {
		/* a column is gone: look again which there are */
		if (strcmp(trouble->code, "42703") == 0)
			copies->is_greeted = false;
		single_refused(&copies->single, trouble);
	}
	if (wait != NULL)
		copies_free_wait(copies, wait);
	copies_turn_soon(copies);
}

static void
job_run_single(struct copies *copies)
{
	static const struct wire_job alone = { job_next_of_single,
	    job_take_single, job_end_single };
	struct copies_wait *wait = TAILQ_FIRST(&copies->queue);

	TAILQ_REMOVE(&copies->queue, wait, entry);
	single_begin(&copies->single, wait, copies->epoch,
	    copies->since_us);
	job_run(copies, &alone);
}

/* Nobody waits for it, and nothing is changed by leaving it out. */
static bool
job_is_idle(const struct copies_wait *wait)
{
	return wait->fn == NULL && (wait->is_status ||
	    (wait->question.verb != COPYING_KEPT &&
	    wait->question.verb != COPYING_DONE &&
	    wait->question.verb != COPYING_WITHDRAW &&
	    wait->question.verb != COPYING_ARRIVED));
}

/* What is to be asked next; the lease before all else. */
void
jobs_turn(void *context)
{
	struct copies *copies = context;
	struct copies_wait *wait, *next;

	/* also behind others: it would be of the same transaction */
	TAILQ_FOREACH_SAFE(wait, &copies->queue, entry, next)
		if (job_is_idle(wait)) {
			TAILQ_REMOVE(&copies->queue, wait, entry);
			copies_free_wait(copies, wait);
		}
	wait = TAILQ_FIRST(&copies->queue);
	if (!wire_is_free(copies->wire))
		return;
	if (!copies->is_greeted ||
	    clock_steady_ms() >= copies->asking_ms + COPIES_RENEW_MS)
		job_ask_lease(copies);
	else if (wait != NULL && waits_is_grouped(wait))
		job_run_group(copies);
	else if (wait != NULL)
		job_run_single(copies);
	copies_watch_late(copies);
}
