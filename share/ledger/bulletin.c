/* bulletin.c - what nodes tell each other: failed logins, and who is blocked
 *
 * In     questions; answers of the store
 * Out    lines for who asked
 * Holds  who waits, and for news a timer
 * Trusts no answer: what is no news is left out (news.c)
 * Spec   bulletin.h; doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/mem.h"
#include "journal/event.h"
#include "share/count/pace.h"
#include "share/ledger/bulletin.h"

#include "base/banned.h"

enum {
	LINES_BYTES_MAX = 4 << 20,
	OPENING_MS = 20		/* look again whether Redis answers: after the
				 * start nobody knows yet */
};

struct bulletin_wait {
	struct bulletin		*bulletin;
	bulletin_answer_fn	*fn;		/* NULL: forgotten */
	void			*context;
	enum news_verb		 verb;
	bool			 is_asked;	/* Redis has the question */
	char			 after[NEWS_AFTER_BYTES];
	char			 counter[NEWS_COUNTER_BYTES];
	struct str		 field;		/* of a block: the last that was
						 * told, or the one to change */
	struct str		 value;
	struct str		 lines;		/* blocks, so far */
	struct timer		 timer;
	LIST_ENTRY(bulletin_wait) entry;
};

struct bulletin {
	struct process		*process;
	struct store		*store;
	struct news_pace	 pace;
	LIST_HEAD(, bulletin_wait) waits;
};

static void bulletin_wait_say(struct bulletin_wait *wait);
static void bulletin_on_time(void *context);

struct bulletin *
bulletin_new(struct process *process, struct store *store)
{
	struct bulletin *bulletin = mem_alloc(1, sizeof(*bulletin));

	bulletin->process = process;
	bulletin->store = store;
	LIST_INIT(&bulletin->waits);
	return bulletin;
}

static void
bulletin_wait_free(struct bulletin_wait *wait)
{
	LIST_REMOVE(wait, entry);
	timer_clear(&wait->timer);
	str_release(&wait->field);
	str_release(&wait->value);
	str_release(&wait->lines);
	mem_free(&wait);
}

void
bulletin_free(struct bulletin **pbulletin)
{
	struct bulletin *bulletin = *pbulletin;

	if (bulletin == NULL)
		return;
	while (!LIST_EMPTY(&bulletin->waits))
		bulletin_wait_free(LIST_FIRST(&bulletin->waits));
	mem_free(pbulletin);
}

/* ---- telling ------------------------------------------------------------ */

/* store_answer_fn: nobody waits. */
static void
bulletin_on_told(void *context, bool is_away, struct slice text)
{
	(void)context;
	(void)is_away;
	(void)text;
}

void
bulletin_tell(struct bulletin *bulletin, const struct news_question *question)
{
	const struct conf_cluster *cluster = &bulletin->process->conf->cluster;
	const struct slice args[3] = { slice_of(cluster->self),
		question->verb == NEWS_FAILED ? SLICE("failed") :
		SLICE("cleared"), question->sum };
	struct str key = STR_INIT;
	struct slice name;

	news_add_failures_key(&key, cluster->name);
	name = str_slice(&key);
	store_ask(bulletin->store, &(struct store_question){ SCRIPT_TELL,
	    &name, args, 1, 3 }, bulletin_on_told, NULL);
	str_release(&key);
}

/* ---- answers ------------------------------------------------------------ */

/* Of an order, or of a list, which ends as all lists do. */
static void
bulletin_add_away(struct str *out, enum news_verb verb, struct slice words)
{
	str_adds(out, verb == NEWS_BLOCKS ? "away " : "ok away ");
	str_add_escaped(out, words);
	str_adds(out, verb == NEWS_BLOCKS ? "\nok\n" : "\n");
}

static void
bulletin_wait_end(struct bulletin_wait *wait, struct slice lines)
{
	bulletin_answer_fn *fn = wait->fn;
	void *context = wait->context;

	if (fn != NULL)
		fn(context, lines);
	bulletin_wait_free(wait);
}

static void
bulletin_wait_fail(struct bulletin_wait *wait, struct slice words)
{
	struct str line = STR_INIT;

	bulletin_add_away(&line, wait->verb, words);
	bulletin_wait_end(wait, str_slice(&line));
	str_release(&line);
}

/* Redis tells more than is handed on: the rest is asked for later. */
static void
bulletin_wait_paced(struct bulletin_wait *wait, int64_t now_ms,
    int64_t wait_ms)
{
	struct bulletin *bulletin = wait->bulletin;
	const char *place = store_state(bulletin->store).place;
	char text[24];

	if (pace_tells(&bulletin->pace, now_ms)) {
		snprintf(text, sizeof(text), "%" PRId64, wait_ms);
		event(EV_SHARE_FLOODED, NULL, "redis", slice_of(place != NULL ?
		    place : "-"), "wait-ms", slice_of(text), NULL);
	}
	timer_set(bulletin->process->loop, &wait->timer, now_ms + wait_ms,
	    bulletin_on_time, wait);
}

static void
bulletin_on_time(void *context)
{
	struct bulletin_wait *wait = context;
	int64_t now_ms = clock_steady_ms(), wait_ms = wait->verb != NEWS_HEAR ?
	    0 : pace_wait_ms(&wait->bulletin->pace, now_ms);

	if (wait_ms > 0)
		bulletin_wait_paced(wait, now_ms, wait_ms);
	else if (wait->verb != NEWS_HEAR &&
	    store_state(wait->bulletin->store).is_opening)
		timer_set(wait->bulletin->process->loop, &wait->timer,
		    clock_steady_ms() + OPENING_MS, bulletin_on_time, wait);
	else
		bulletin_wait_say(wait);
}

static void
bulletin_wait_later(struct bulletin_wait *wait)
{
	timer_set(wait->bulletin->process->loop, &wait->timer,
	    clock_steady_ms() + BULLETIN_EVERY_MS, bulletin_on_time, wait);
}

/* What others told, and where to go on; what is no news is left out, and is
 * not asked for again, nor is what no honest answer has room for. */
static void
bulletin_take_news(struct bulletin_wait *wait, struct slice text)
{
	const char *self = wait->bulletin->process->conf->cluster.self;
	struct slice counter, after;
	struct str lines = STR_INIT;
	struct news_item item;
	uint64_t count = 0;

	if (!news_head_read(&text, &counter, &after)) {
		bulletin_wait_later(wait);
		return;
	}
	for (; count < PACE_BURST && news_item_next(&text, &item); count++)
		if (!slice_is(item.node, self))
			str_addf(&lines, item.is_failed ? "failed %" PRIu64
			    " " SLICE_FMT "\n" : "cleared %" PRIu64 " "
			    SLICE_FMT "\n", item.age_ms, SLICE_ARG(item.sum));
	pace_take(&wait->bulletin->pace, count, clock_steady_ms());
	memcpy(wait->after, after.p, after.n);
	wait->after[after.n] = '\0';
	if (lines.len == 0 && slice_is(counter, wait->counter)) {
		bulletin_wait_later(wait);
	} else {
		str_addf(&lines, "ok %s " SLICE_FMT "\n", wait->after,
		    SLICE_ARG(counter));
		bulletin_wait_end(wait, str_slice(&lines));
	}
	str_release(&lines);
}

/* "COUNTER more|end", and the blocks.  The counter of the first page counts: a
 * change in between is heard of, and all are asked for once more. */
static void
bulletin_take_blocks(struct bulletin_wait *wait, struct slice text)
{
	struct slice head, counter, rest;
	struct news_block block;
	bool has_more = false;
	uint64_t count = 0;

	slice_cut(&text, '\n', &head);
	if (!slice_word(&head, &counter) || !slice_word(&head, &rest) ||
	    counter.n >= NEWS_COUNTER_BYTES ||
	    wait->lines.len > LINES_BYTES_MAX) {
		bulletin_wait_fail(wait, SLICE("Redis lists no blocks"));
		return;
	}
	if (wait->counter[0] == '\0')
		memcpy(wait->counter, counter.p, counter.n);
	for (; news_block_next(&text, &block); count++) {
		str_addf(&wait->lines, "block %" PRIu64 " " SLICE_FMT " "
		    SLICE_FMT " " SLICE_FMT "\n", block.until_s,
		    SLICE_ARG(block.kind), SLICE_ARG(block.key),
		    SLICE_ARG(block.about));
		has_more = slice_is(rest, "more");
		str_reset(&wait->field);
		news_add_field(&wait->field, &block);
	}
	pace_take(&wait->bulletin->pace, count, clock_steady_ms());
	if (has_more) {
		bulletin_wait_say(wait);
		return;
	}
	str_addf(&wait->lines, "counter %s\nok\n", wait->counter);
	bulletin_wait_end(wait, str_slice(&wait->lines));
}

/* store_answer_fn */
static void
bulletin_on_answer(void *context, bool is_away, struct slice text)
{
	struct bulletin_wait *wait = context;
	struct str line = STR_INIT;

	wait->is_asked = false;
	if (wait->fn == NULL) {
		bulletin_wait_free(wait);
	} else if (wait->verb == NEWS_HEAR && is_away) {
		bulletin_wait_later(wait);
	} else if (is_away) {
		bulletin_wait_fail(wait, text);
	} else if (wait->verb == NEWS_HEAR) {
		bulletin_take_news(wait, text);
	} else if (wait->verb == NEWS_BLOCKS) {
		bulletin_take_blocks(wait, text);
	} else {
		str_addf(&line, "ok %s\n", slice_is(text, "ok") ? "ok" :
		    slice_is(text, "full") ? "full" : "none");
		bulletin_wait_end(wait, str_slice(&line));
	}
	str_release(&line);
}

/* ---- questions ----------------------------------------------------------- */

static void
bulletin_wait_say(struct bulletin_wait *wait)
{
	static const enum words_script scripts[] = {
		[NEWS_HEAR] = SCRIPT_NEWS, [NEWS_BLOCKS] = SCRIPT_BLOCKS,
		[NEWS_BLOCK] = SCRIPT_BLOCK, [NEWS_UNBLOCK] = SCRIPT_UNBLOCK
	};
	const char *name = wait->bulletin->process->conf->cluster.name;
	struct str first = STR_INIT, counter = STR_INIT;
	const struct slice args[2] = { wait->verb == NEWS_HEAR ?
		slice_of(wait->after) : str_slice(&wait->field),
		str_slice(&wait->value) };
	struct slice keys[2];

	if (wait->verb == NEWS_HEAR)
		news_add_failures_key(&first, name);
	else
		news_add_blocks_key(&first, name);
	news_add_count_key(&counter, name);
	keys[0] = str_slice(&first);
	keys[1] = str_slice(&counter);
	wait->is_asked = true;
	store_ask(wait->bulletin->store, &(struct store_question){
	    scripts[wait->verb], keys, args, 2, wait->verb == NEWS_BLOCK ? 2 :
	    1 }, bulletin_on_answer, wait);
	str_release(&first);
	str_release(&counter);
}

struct bulletin_wait *
bulletin_ask(struct bulletin *bulletin, const struct news_question *question,
    bulletin_answer_fn *fn, void *context)
{
	struct bulletin_wait *wait;
	struct str line = STR_INIT;

	if (question->verb != NEWS_HEAR && !store_is_open(bulletin->store) &&
	    !store_state(bulletin->store).is_opening) {
		bulletin_add_away(&line, question->verb,
		    slice_of(store_state(bulletin->store).why));
		fn(context, str_slice(&line));
		str_release(&line);
		return NULL;
	}
	wait = mem_alloc(1, sizeof(*wait));
	wait->bulletin = bulletin;
	wait->fn = fn;
	wait->context = context;
	wait->verb = question->verb;
	str_init(&wait->field);
	str_init(&wait->value);
	str_init(&wait->lines);
	LIST_INSERT_HEAD(&bulletin->waits, wait, entry);
	if (question->verb == NEWS_HEAR) {
		memcpy(wait->after, question->after.p, question->after.n);
		memcpy(wait->counter, question->counter.p,
		    question->counter.n);
	} else if (question->verb != NEWS_BLOCKS) {
		news_add_field(&wait->field, &question->block);
		str_addf(&wait->value, "%" PRIu64 " " SLICE_FMT,
		    question->block.until_s,
		    SLICE_ARG(question->block.about));
	}
	timer_set(bulletin->process->loop, &wait->timer, clock_steady_ms(),
	    bulletin_on_time, wait);
	return wait;
}

void
bulletin_forget(struct bulletin_wait **pwait)
{
	struct bulletin_wait *wait = *pwait;

	*pwait = NULL;
	if (wait == NULL)
		return;
	wait->fn = NULL;
	if (!wait->is_asked)
		bulletin_wait_free(wait);
}
