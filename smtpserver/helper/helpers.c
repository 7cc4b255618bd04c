/* helpers.c - the listener's side of the helper processes
 *
 * In     questions of workers
 * Out    each question to a helper with room; each answer to its asker
 * Holds  a queue for each kind
 * Trusts no worker: queues are bounded in questions, bytes and time
 * Spec   helpers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "smtpserver/helper/helpers_internal.h"

#include "base/banned.h"

enum {
	TICK_MS = 500,
	AWAIT_MS = 50			/* until it is looked for again */
};

/* ---- questions -------------------------------------------------------- */

static bool
question_is_told(const struct helper_question *question)
{
	return question->asker_token == ASK_NOBODY;
}

static void
question_dequeue(struct kind *kind, struct helper_question *question)
{
	struct helper_question *before = TAILQ_PREV(question, question_list,
	    entry);

	if (kind->last_told == question)
		kind->last_told = before != NULL && question_is_told(before) ?
		    before : NULL;
	TAILQ_REMOVE(&kind->queue, question, entry);
	kind->queued--;
	kind->queued_bytes -= question->text.len;
}

static void
question_free(struct helper_question **question)
{
	explicit_bzero((*question)->text.buf, (*question)->text.len);
	str_release(&(*question)->text);
	mem_free(question);
}

void
question_answer(struct helpers *helpers, struct helper_question *question,
    struct slice rest)
{
	struct str line = STR_INIT;

	asks_close(helpers->asks, &question->token);
	str_addf(&line, "answer %" PRIu64 " ", question->asker_token);
	str_add_slice(&line, rest);
	str_addc(&line, '\n');
	helpers->answer_fn(helpers->context, question->asker,
	    str_slice(&line));
	str_release(&line);
	question_free(&question);
}

void
question_requeue(struct kind *kind, struct helper_question *question)
{
	asks_close(kind->all->asks, &question->token);
	question->helper = NULL;
	question->is_again = true;
	TAILQ_INSERT_HEAD(&kind->queue, question, entry);
	if (kind->last_told == NULL && question_is_told(question))
		kind->last_told = question;
	kind->queued++;
	kind->queued_bytes += question->text.len;
}

static void
queue_trouble(struct kind *kind, const char *why)
{
	struct helper_question *question;

	while ((question = TAILQ_FIRST(&kind->queue)) != NULL) {
		question_dequeue(kind, question);
		question_answer(kind->all, question, slice_of(why));
	}
}

static void helpers_on_tick(void *context);

/* ---- kinds ------------------------------------------------------------ */

static struct helper *
helper_choose(struct kind *kind)
{
	struct helper *helper, *best = NULL;

	TAILQ_FOREACH(helper, &kind->helpers, entry)
		if (!helper->is_leaving && !helper->is_hanging &&
		    helper->in_hand_count < kind->row->at_once &&
		    (best == NULL ||
		    helper->in_hand_count < best->in_hand_count))
			best = helper;
	return best;
}

/* One with room, a fresh one if all are busy and there may be more. */
static struct helper *
helper_find(struct kind *kind, struct err *err)
{
	struct helper *best = helper_choose(kind);

	err->text[0] = '\0';
	if ((best != NULL && best->in_hand_count == 0) ||
	    kind->staying >= kind->row->processes ||
	    clock_steady_ms() < kind->not_before_ms)
		return best;
	(void)helper_start(kind, err);
	return helper_choose(kind);
}

/* Who has what this question goes on with.  false: it is for anybody. */
static bool
helper_addressed(const struct kind *kind,
    const struct helper_question *question, struct helper **out)
{
	struct slice text = str_slice(&question->text);
	size_t dash = slice_find(text, '-');
	uint64_t pid;

	*out = NULL;
	if (!kind->row->keeps || dash == text.n ||
	    !slice_number(slice_first(text, dash), 1, INT32_MAX, &pid))
		return false;
	TAILQ_FOREACH(*out, &kind->helpers, entry)
		if (child_pid((*out)->child) == (pid_t)pid)
			break;
	return true;
}

static void
question_give(struct helper_question *question, struct helper *helper)
{
	struct str *outbox = child_outbox(helper->child);
	struct kind *kind = helper->kind;

	question_dequeue(kind, question);
	question->helper = helper;
	question->token = asks_open(kind->all->asks, question);
	question->until_ms = clock_steady_ms() + kind->row->for_ms;
	TAILQ_INSERT_TAIL(&helper->in_hand, question, entry);
	helper->in_hand_count++;
	str_addf(outbox, "%" PRIu64 " ", question->token);
	str_add_slice(outbox, str_slice(&question->text));
	str_addc(outbox, '\n');
}

/* Is it gone for longer than any question waits?  Then no other one waits for
 * it: a router that is down would keep each recipient as long. */
static bool
kind_is_long_gone(const struct kind *kind)
{
	return kind->gone_ms != 0 &&
	    clock_steady_ms() - kind->gone_ms >= kind->row->for_ms;
}

/* Nobody listens there: somebody else's process may just be replaced.  What
 * waits goes on to wait, as long as its time is. */
static void
kind_await(struct kind *kind, const struct err *err)
{
	struct helpers *helpers = kind->all;
	int64_t now_ms = clock_steady_ms();

	kind->trouble = *err;
	if (kind->gone_ms == 0)
		kind->gone_ms = now_ms;
	kind->not_before_ms = now_ms + AWAIT_MS;
	timer_set(helpers->process->loop, &helpers->tick, now_ms + AWAIT_MS,
	    helpers_on_tick, helpers);
}

/* Its time is over. */
static void
question_give_up(struct kind *kind, struct helper_question *question)
{
	struct str why = STR_INIT;

	question_dequeue(kind, question);
	str_addf(&why, "trouble %s", TAILQ_EMPTY(&kind->helpers) &&
	    kind->trouble.text[0] != '\0' ? kind->trouble.text :
	    "all helpers are busy");
	question_answer(kind->all, question, str_slice(&why));
	str_release(&why);
}

static void
kind_run(struct kind *kind)
{
	struct helper_question *question;
	struct helper *helper;
	struct err err;

	while ((question = TAILQ_FIRST(&kind->queue)) != NULL) {
		err.text[0] = '\0';
		if (helper_addressed(kind, question, &helper)) {
			if (helper == NULL) {
				question_dequeue(kind, question);
				question_answer(kind->all, question,
				    SLICE("trouble it is gone"));
				continue;
			}
		} else {
			helper = helper_find(kind, &err);
		}
		if (helper == NULL)
			break;
		kind->gone_ms = 0;
		question_give(question, helper);
	}
	if (question != NULL && err.text[0] != '\0' && kind->row->awaits &&
	    !kind_is_long_gone(kind)) {
		kind_await(kind, &err);
	} else if (question != NULL && err.text[0] != '\0' &&
	    TAILQ_EMPTY(&kind->helpers)) {
		struct str why = STR_INIT;

		str_addf(&why, "trouble %s", err.text);
		queue_trouble(kind, why.buf);
		str_release(&why);
	}
	TAILQ_FOREACH(helper, &kind->helpers, entry)
		child_send(helper->child);
}

static void
on_stir(void *context)
{
	struct helpers *helpers = context;

	for (size_t i = 0; i < helpers->kind_count; i++)
		if (helpers->kinds[i].is_stirred) {
			helpers->kinds[i].is_stirred = false;
			kind_run(&helpers->kinds[i]);
		}
}

/* A timer that is due comes after all reading of its turn. */
void
kind_stir(struct kind *kind)
{
	struct helpers *helpers = kind->all;

	kind->is_stirred = true;
	if (helpers->stir.at_ms == 0)
		timer_set(helpers->process->loop, &helpers->stir,
		    clock_steady_ms(), on_stir, helpers);
}

/* Lists are in order of time, so their heads tell. */
static bool
kind_tick(struct kind *kind, int64_t now_ms)
{
	struct helper *helper, *next;
	struct helper_question *question;

	for (helper = TAILQ_FIRST(&kind->helpers); helper != NULL;
	    helper = next) {
		next = TAILQ_NEXT(helper, entry);
		question = TAILQ_FIRST(&helper->in_hand);
		if (question != NULL && now_ms >= question->until_ms)
			helper_kill(helper);
	}
	while ((question = TAILQ_FIRST(&kind->queue)) != NULL &&
	    now_ms >= question->until_ms)
		question_give_up(kind, question);
	kind_run(kind);
	if (!TAILQ_EMPTY(&kind->queue))
		return true;
	TAILQ_FOREACH(helper, &kind->helpers, entry)
		if (helper->in_hand_count > 0)
			return true;
	return false;
}

static void
helpers_on_tick(void *context)
{
	struct helpers *helpers = context;
	int64_t now_ms = clock_steady_ms();
	bool is_busy = false;

	for (size_t i = 0; i < helpers->kind_count; i++)
		is_busy = kind_tick(&helpers->kinds[i], now_ms) || is_busy;
	if (is_busy && helpers->tick.at_ms == 0)
		timer_set(helpers->process->loop, &helpers->tick,
		    now_ms + TICK_MS, helpers_on_tick, helpers);
}

/* ---- the listener's calls --------------------------------------------- */

struct helpers *
helpers_new(struct process *process, const struct helper_kind *kinds,
    loop_fn *child_fn, helpers_answer_fn *answer_fn, void *context)
{
	struct helpers *helpers = mem_alloc(1, sizeof(*helpers));

	helpers->process = process;
	helpers->asks = asks_new();
	helpers->child_fn = child_fn;
	helpers->answer_fn = answer_fn;
	helpers->context = context;
	while (kinds[helpers->kind_count].name != NULL)
		helpers->kind_count++;
	helpers->kinds = mem_alloc(helpers->kind_count,
	    sizeof(*helpers->kinds));
	for (size_t i = 0; i < helpers->kind_count; i++)
		kind_init(&helpers->kinds[i], helpers, &kinds[i]);
	return helpers;
}

void
helpers_open_with(struct helpers *helpers, helpers_open_fn *fn)
{
	helpers->open_fn = fn;
}

static void
helpers_drop_answer(void *context, uint64_t asker, struct slice line)
{
}

void
helpers_free(struct helpers **helpers)
{
	struct helpers *h = *helpers;
	struct helper *helper;

	if (h == NULL)
		return;
	h->answer_fn = helpers_drop_answer;
	timer_clear(&h->tick);
	timer_clear(&h->stir);
	for (size_t i = 0; i < h->kind_count; i++) {
		queue_trouble(&h->kinds[i], "");
		while ((helper = TAILQ_FIRST(&h->kinds[i].helpers)) != NULL) {
			helper->is_leaving = true;
			h->kinds[i].staying--;
			helper_end(helper, "");
		}
		str_release(&h->kinds[i].title);
	}
	asks_free(&h->asks);
	mem_free(&h->kinds);
	mem_free(helpers);
}

static struct kind *
kind_find(struct helpers *helpers, struct slice name)
{
	for (size_t i = 0; i < helpers->kind_count; i++)
		if (slice_is(name, helpers->kinds[i].row->name))
			return &helpers->kinds[i];
	return NULL;
}

static bool
has_room_for(const struct kind *kind, const struct helper_question *question)
{
	return kind->queued < HELPERS_QUEUED_MAX && kind->queued_bytes +
	    question->text.len <= HELPERS_QUEUED_BYTES_MAX;
}

/* What is only told goes in front, in its order: a place that was given back is
 * free for all that was asked in the same turn. */
static void
question_enqueue(struct kind *kind, struct helper_question *question)
{
	struct helper_question *first = TAILQ_FIRST(&kind->queue);

	kind->queued++;
	kind->queued_bytes += question->text.len;
	if (!question_is_told(question)) {
		TAILQ_INSERT_TAIL(&kind->queue, question, entry);
		return;
	}
	/* the list is in order of time */
	if (kind->last_told != NULL) {
		question->until_ms = kind->last_told->until_ms;
		TAILQ_INSERT_AFTER(&kind->queue, kind->last_told, question,
		    entry);
	} else {
		if (first != NULL)
			question->until_ms = first->until_ms;
		TAILQ_INSERT_HEAD(&kind->queue, question, entry);
	}
	kind->last_told = question;
}

static void
question_queue(struct kind *kind, struct helper_question *question)
{
	int64_t now_ms = clock_steady_ms();

	if (!has_room_for(kind, question))
		kind_run(kind);
	if (!has_room_for(kind, question)) {
		question_answer(kind->all, question,
		    SLICE("trouble too many questions wait"));
		return;
	}
	question->until_ms = now_ms + kind->row->for_ms;
	question_enqueue(kind, question);
	if (kind->all->tick.at_ms == 0)
		timer_set(kind->all->process->loop, &kind->all->tick,
		    now_ms + TICK_MS, helpers_on_tick, kind->all);
	kind_stir(kind);
}

bool
helpers_ask(struct helpers *helpers, uint64_t asker, struct slice line)
{
	struct slice token_text, name;
	struct helper_question *question;
	struct kind *kind;
	uint64_t token;

	if (!slice_word(&line, &token_text) ||
	    !slice_number(token_text, 1, UINT64_MAX, &token) ||
	    !slice_word(&line, &name) ||
	    (kind = kind_find(helpers, name)) == NULL ||
	    line.n > ASK_TEXT_BYTES_MAX + 1)
		return false;
	question = mem_alloc(1, sizeof(*question));
	question->asker = asker;
	question->asker_token = token;
	str_init(&question->text);
	str_add_slice(&question->text, slice_from(line, line.n > 0));
	question_queue(kind, question);
	return true;
}

void
helpers_reload(struct helpers *helpers)
{
	struct helper *helper;

	for (size_t i = 0; i < helpers->kind_count; i++)
		TAILQ_FOREACH(helper, &helpers->kinds[i].helpers, entry)
			if (!helper->is_leaving &&
			    !helpers->kinds[i].row->outlives_reload) {
				helper->is_leaving = true;
				helpers->kinds[i].staying--;
				helper_ask_to_leave(helper);
			}
}

unsigned
helpers_count(const struct helpers *helpers)
{
	const struct helper *helper;
	unsigned count = 0;

	for (size_t i = 0; i < helpers->kind_count; i++)
		TAILQ_FOREACH(helper, &helpers->kinds[i].helpers, entry)
			count++;
	return count;
}
