/* copies.c - copies of accepted mail in the PostgreSQL of the cluster
 *
 * In     questions; what the wire says
 * Out    answers; jobs for the wire, one at a time
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
#include "journal/counters.h"
#include "journal/event.h"
#include "share/copies/group.h"
#include "share/copies/single.h"

#include "base/banned.h"

struct copies {
	struct process		*process;
	const struct copies_goal *goal;
	const struct conf_cluster *cluster;
	struct wire		*wire;
	struct waits_list	 queue;
	size_t			 wait_count;	/* in queue, group, single */
	struct group		 group;
	struct single		 single;
	bool			 is_greeted;	/* epoch is what it is */
	bool			 is_up, was_told;
	int64_t			 since_ms;
	char			 why[ERR_TEXT_BYTES];
	uint64_t		 epoch;
	int64_t			 lease_asked_ms;	/* of the lease we have;
						 * 0: none */
	int64_t			 asking_ms;	/* of the one that is asked */
	uint64_t		 heard_epoch;	/* in its answer; 0: none */
	size_t			 step;		/* statements said, of it */
	char			 number[24], epoch_text[24];
	struct timer		 turn_timer, lease_timer, late_timer;
};

static void copies_turn(void *context);

/* ---- who waits --------------------------------------------------------- */

static void
copies_free_wait(struct copies *copies, struct copies_wait *wait)
{
	copies->wait_count--;
	waits_free(&wait);
}

static void
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
static void
copies_turn_soon(struct copies *copies)
{
	if (copies->turn_timer.at_ms == 0)
		timer_set(copies->process->loop, &copies->turn_timer,
		    clock_steady_ms(), copies_turn, copies);
}

static void
copies_watch_late(struct copies *copies);

/* Nobody waits for longer than he was told, also not behind others. */
static void
copies_on_late(void *context)
{
	struct copies *copies = context;
	int64_t now_ms = clock_steady_ms();
	struct copies_wait *wait, *next;

	TAILQ_FOREACH(wait, &copies->group.waits, entry)
		if (wait->fn != NULL && wait->until_ms <= now_ms)
			waits_answer_away(wait, "no answer within 5 s");
	TAILQ_FOREACH_SAFE(wait, &copies->queue, entry, next)
		if (wait->until_ms <= now_ms) {
			TAILQ_REMOVE(&copies->queue, wait, entry);
			waits_answer_away(wait, "no answer within 5 s");
			copies_free_wait(copies, wait);
		}
	copies_watch_late(copies);
}

static void
copies_watch_late(struct copies *copies)
{
	const struct copies_wait *wait;
	int64_t until_ms = INT64_MAX;

	TAILQ_FOREACH(wait, &copies->group.waits, entry)
		if (wait->fn != NULL && wait->until_ms < until_ms)
			until_ms = wait->until_ms;
	TAILQ_FOREACH(wait, &copies->queue, entry)
		if (wait->until_ms < until_ms)
			until_ms = wait->until_ms;
	if (until_ms == INT64_MAX)
		timer_clear(&copies->late_timer);
	else
		timer_set(copies->process->loop, &copies->late_timer,
		    until_ms, copies_on_late, copies);
}

/* ---- up and away ------------------------------------------------------- */

static void
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

static void
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

/* What is wrong with all of it, not with one message: a table is missing, it
 * takes no writes any more. */
static void
copies_give_up(struct copies *copies, const struct wire_trouble *trouble)
{
	bool is_bare = strcmp(trouble->state, "42P01") == 0 ||
	    strcmp(trouble->state, "42501") == 0 ||
	    strcmp(trouble->state, "42703") == 0;
	char why[ERR_TEXT_BYTES];

	snprintf(why, sizeof(why), "it says %.300s%s", trouble->text,
	    is_bare ? " (zmailer cluster init prints what it needs)" : "");
	wire_give_up(copies->wire, why);
}

/* ---- the lease --------------------------------------------------------- */

static const char *
copies_number(struct copies *copies, uint64_t number)
{
	snprintf(copies->number, sizeof(copies->number), "%" PRIu64, number);
	return copies->number;
}

static void
copies_say_place(struct copies *copies, enum copies_statement which,
    struct wire_statement *out)
{
	statement_begin(out, which);
	statement_add(out, slice_of(copies->cluster->name));
	statement_add(out, slice_of(copies->cluster->self));
}

/* Say who we are, hear which epoch it is, and have a lease with it. */
static bool
copies_next_of_greet(void *context, struct wire_statement *out)
{
	static const enum copies_statement steps[] = {
		SAY_PATIENCE, SAY_REGISTER, SAY_GREET, SAY_TIDY
	};
	struct copies *copies = context;
	size_t step = copies->step++;

	if (step >= sizeof(steps) / sizeof(steps[0]))
		return false;
	if (steps[step] == SAY_PATIENCE) {
		statement_begin(out, SAY_PATIENCE);
		statement_add_digits(out, copies_number(copies,
		    COPIES_PATIENCE_MS));
		return true;
	}
	copies_say_place(copies, steps[step], out);
	if (steps[step] == SAY_GREET)
		statement_add_digits(out, copies_number(copies,
		    COPIES_LEASE_MS));
	return true;
}

static void
copies_take_greet(void *context, size_t index, const struct wire_rows *rows)
{
	struct copies *copies = context;

	if (index == 2)
		(void)wire_number(rows, 0, 0, &copies->heard_epoch);
}

static bool
copies_next_of_renew(void *context, struct wire_statement *out)
{
	struct copies *copies = context;

	if (copies->step++ > 0)
		return false;
	copies_say_place(copies, SAY_RENEW, out);
	statement_add_digits(out, copies_number(copies, COPIES_LEASE_MS));
	statement_add_digits(out, copies->epoch_text);
	return true;
}

static void
copies_take_renew(void *context, size_t index, const struct wire_rows *rows)
{
	struct copies *copies = context;

	(void)wire_number(rows, 0, 0, &copies->heard_epoch);
}

/* Another node has taken over: what we have said is without effect, and no
 * lease is ours, until we have heard the new epoch. */
static void
copies_is_fenced(struct copies *copies)
{
	copies->is_greeted = false;
	copies->lease_asked_ms = 0;
	event(EV_COPIES_FENCED, NULL, "node",
	    slice_of(copies->cluster->self), NULL);
	copies_turn_soon(copies);
}

static void
copies_on_renew(void *context)
{
	copies_turn_soon(context);
}

static void
copies_have_lease(struct copies *copies)
{
	copies->lease_asked_ms = copies->asking_ms;
	wire_praise(copies->wire);
	timer_set(copies->process->loop, &copies->lease_timer,
	    copies->asking_ms + COPIES_RENEW_MS, copies_on_renew, copies);
	copies_turn_soon(copies);
}

static void
copies_end_greet(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;

	if (end == WIRE_LOST)
		return;
	if (end == WIRE_REFUSED || copies->heard_epoch == 0) {
		copies_give_up(copies, trouble);
		return;
	}
	copies->epoch = copies->heard_epoch;
	snprintf(copies->epoch_text, sizeof(copies->epoch_text), "%" PRIu64,
	    copies->epoch);
	copies->is_greeted = true;
	copies_have_lease(copies);
	copies_tell_up(copies);
}

static void
copies_end_renew(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;

	if (end == WIRE_REFUSED)
		copies_give_up(copies, trouble);
	else if (end == WIRE_DONE && copies->heard_epoch == 0)
		copies_is_fenced(copies);
	else if (end == WIRE_DONE)
		copies_have_lease(copies);
}

static void
copies_run(struct copies *copies, const struct wire_job *job)
{
	wire_run(copies->wire, job, copies, clock_steady_ms() +
	    COPIES_PATIENCE_MS);
}

static void
copies_ask_lease(struct copies *copies)
{
	static const struct wire_job greet = { copies_next_of_greet,
	    copies_take_greet, copies_end_greet };
	static const struct wire_job renew = { copies_next_of_renew,
	    copies_take_renew, copies_end_renew };

	copies->step = 0;
	copies->heard_epoch = 0;
	copies->asking_ms = clock_steady_ms();
	copies_run(copies, copies->is_greeted ? &renew : &greet);
}

/* ---- a group ----------------------------------------------------------- */

static bool
copies_next_of_group(void *context, struct wire_statement *out)
{
	struct copies *copies = context;

	return group_next(&copies->group, out);
}

static void
copies_tell_made(struct copies *copies)
{
	struct copies_wait *wait;

	while ((wait = TAILQ_FIRST(&copies->group.waits)) != NULL) {
		TAILQ_REMOVE(&copies->group.waits, wait, entry);
		if (wait->question.verb == COPYING_COPY || wait->is_body_said)
			counters_tally(TALLY_COPIES_MADE);
		waits_answer(wait, SLICE("ok ok\n"));
		copies_free_wait(copies, wait);
	}
	wire_praise(copies->wire);
}

/* Each is tried once more alone: in their order, before all others. */
static void
copies_try_each(struct copies *copies, const char *why)
{
	struct copies_wait *wait;
	bool was_alone = copies->group.count == 1;

	while ((wait = TAILQ_LAST(&copies->group.waits, waits_list)) !=
	    NULL) {
		TAILQ_REMOVE(&copies->group.waits, wait, entry);
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
copies_group_refused(struct copies *copies,
    const struct wire_trouble *trouble)
{
	bool is_none = strcmp(trouble->state, SAY_DIVIDED_BY_NONE) == 0;

	if (is_none && trouble->index == 0) {
		copies_answer_list(copies, &copies->group.waits,
		    "this node was taken over");
		copies_is_fenced(copies);
		return;
	}
	copies_try_each(copies, is_none ?
	    "another node has a message of that id" : trouble->text);
	if (strcmp(trouble->state, "25006") == 0)	/* a standby now */
		copies_give_up(copies, trouble);
}

static void
copies_end_group(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;

	if (end == WIRE_DONE)
		copies_tell_made(copies);
	else if (end == WIRE_LOST)
		copies_answer_list(copies, &copies->group.waits,
		    trouble->text);
	else
		copies_group_refused(copies, trouble);
	copies_watch_late(copies);
	copies_turn_soon(copies);
}

static void
copies_write_group(struct copies *copies)
{
	static const struct wire_job write = { copies_next_of_group, NULL,
	    copies_end_group };

	group_begin(&copies->group, copies->epoch);
	copies_run(copies, &write);
}

static bool
copies_next_of_lines(void *context, struct wire_statement *out)
{
	struct copies *copies = context;

	if (copies->step++ > 0)
		return false;
	group_say_lines(&copies->group, out);
	return true;
}

static void
copies_take_lines(void *context, size_t index, const struct wire_rows *rows)
{
	struct copies *copies = context;

	group_take_lines(&copies->group, rows);
}

static void
copies_end_lines(void *context, enum wire_end end,
    const struct wire_trouble *trouble)
{
	struct copies *copies = context;

	if (end == WIRE_DONE)
		copies_write_group(copies);
	else
		copies_end_group(copies, end, trouble);
}

static void
copies_run_group(struct copies *copies)
{
	static const struct wire_job lines = { copies_next_of_lines,
	    copies_take_lines, copies_end_lines };

	group_fill(&copies->group, &copies->queue);
	if (!group_has_kept(&copies->group)) {
		copies_write_group(copies);
		return;
	}
	copies->step = 0;
	copies_run(copies, &lines);
}

/* ---- one that is alone ------------------------------------------------- */

static bool
copies_next_of_single(void *context, struct wire_statement *out)
{
	struct copies *copies = context;

	return single_next(&copies->single, out);
}

static void
copies_take_single(void *context, size_t index, const struct wire_rows *rows)
{
	struct copies *copies = context;

	single_take_rows(&copies->single, index, rows);
}

static void
copies_end_single(void *context, enum wire_end end,
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
	} else
		single_refused(&copies->single, trouble);
	if (wait != NULL)
		copies_free_wait(copies, wait);
	copies_turn_soon(copies);
}

static void
copies_run_single(struct copies *copies)
{
	static const struct wire_job alone = { copies_next_of_single,
	    copies_take_single, copies_end_single };
	struct copies_wait *wait = TAILQ_FIRST(&copies->queue);

	TAILQ_REMOVE(&copies->queue, wait, entry);
	single_begin(&copies->single, wait, copies->epoch);
	copies_run(copies, &alone);
}

/* Nobody waits for it, and nothing is changed by leaving it out. */
static bool
copies_is_idle(const struct copies_wait *wait)
{
	return wait->fn == NULL && (wait->is_status ||
	    (wait->question.verb != COPYING_KEPT &&
	    wait->question.verb != COPYING_DONE &&
	    wait->question.verb != COPYING_TOOK));
}

/* What is to be asked next; the lease before all else. */
static void
copies_turn(void *context)
{
	struct copies *copies = context;
	struct copies_wait *wait;

	while ((wait = TAILQ_FIRST(&copies->queue)) != NULL &&
	    copies_is_idle(wait)) {
		TAILQ_REMOVE(&copies->queue, wait, entry);
		copies_free_wait(copies, wait);
	}
	if (!wire_is_free(copies->wire))
		return;
	if (!copies->is_greeted ||
	    clock_steady_ms() >= copies->asking_ms + COPIES_RENEW_MS)
		copies_ask_lease(copies);
	else if (wait != NULL && waits_is_grouped(wait))
		copies_run_group(copies);
	else if (wait != NULL)
		copies_run_single(copies);
	copies_watch_late(copies);
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
	copies->single.cluster = copies->cluster;
	copies->since_ms = clock_steady_ms();
	TAILQ_INIT(&copies->queue);
	group_init(&copies->group, copies->cluster);
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
	group_release(&copies->group);
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
	if (copies->wait_count >= COPIES_WAITS_MAX)
		return copies_refuse(wait, "too many wait");
	if (waits_measure(wait, copies->cluster->copy_bytes_max, &err) < 0)
		return copies_refuse(wait, err.text);
	wait->copies = copies;
	wait->until_ms = clock_steady_ms() + COPIES_PATIENCE_MS;
	TAILQ_INSERT_TAIL(&copies->queue, wait, entry);
	copies->wait_count++;
	copies_turn_soon(copies);
	if (copies->late_timer.at_ms == 0)
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
	if (copies->is_up && copies->wait_count < COPIES_WAITS_MAX)
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
