/* delays.c - how long mail that came would have waited under a schedule
 *
 * In     the journal of a window; a clause
 * Out    averages in words
 * Holds  some bytes for each message and destination, up to a bound
 * Trusts nothing in a line
 * Spec   delays.h; zmailer-replay(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/replay/delays.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "journal/event.h"
#include "mail/classify.h"
#include "past/names.h"

#include "base/banned.h"

enum { COMERS_MAX = 1 << 20, COMER_SLOTS = 1 << 22, BUSY_MAX_MS = 3600000 };

struct comer {			/* a message for a destination */
	uint64_t	key, dest;	/* hashes */
	int64_t		came_ms;
	int64_t		deferred_ms;	/* the last time; 0: never */
	int64_t		done_ms;	/* answered for good; 0: not yet */
	uint32_t	busy_ms;	/* that took so long */
	int8_t		class;		/* of the deferral; -1: none */
};

struct delays {
	struct comer	*comers;	/* sorted by destination, then came */
	size_t		 count;
	uint32_t	*slots;		/* of comers, from 1 */
	uint64_t	 left_out;
	struct str	 channel, host, dest, value;
};

/* ---- reading ----------------------------------------------------------- */

static uint64_t
delays_hash(struct slice text)
{
	return siphash(siphash_process_key(), text).low | 1;
}

/* Its entry, made when it is the first time; NULL: too many. */
static struct comer *
comer_get(struct delays *delays, uint64_t dest, uint64_t key, int64_t at_ms)
{
	size_t at = key % COMER_SLOTS;

	for (; delays->slots[at] != 0; at = (at + 1) % COMER_SLOTS)
		if (delays->comers[delays->slots[at] - 1].key == key)
			return &delays->comers[delays->slots[at] - 1];
	if (delays->count == COMERS_MAX) {
		delays->left_out++;
		return NULL;
	}
	delays->comers = mem_grow(delays->comers, delays->count + 1,
	    sizeof(*delays->comers));
	delays->comers[delays->count] = (struct comer){ .key = key,
	    .dest = dest, .came_ms = at_ms, .class = -1 };
	delays->slots[at] = (uint32_t)++delays->count;
	return &delays->comers[delays->count - 1];
}

static struct comer *
comer_of_line(struct delays *delays, struct slice line, int64_t at_ms)
{
	struct slice id = journal_line_id(line);
	uint64_t dest;

	if (!json_get(line, "channel", &delays->channel) ||
	    !json_get(line, "host", &delays->host) || id.n == 0 ||
	    slice_is(str_slice(&delays->channel), "error"))
		return NULL;
	str_reset(&delays->dest);
	str_addf(&delays->dest, "%s/%s", delays->channel.buf,
	    delays->host.buf);
	dest = delays_hash(str_slice(&delays->dest));
	str_addc(&delays->dest, '\n');
	str_add_slice(&delays->dest, id);
	return comer_get(delays, dest, delays_hash(str_slice(&delays->dest)),
	    at_ms);
}

static void
delays_take_line(struct delays *delays, struct slice line, int64_t at_ms)
{
	struct comer *comer;
	struct slice name;
	int64_t busy_ms;
	bool is_routed, is_defer;

	if (!journal_line_has(line, "ev", &name))
		return;
	is_routed = slice_is(name, event_rows[EV_RCPT_ROUTED].name);
	is_defer = slice_is(name, event_rows[EV_RCPT_DEFER].name);
	if (!is_routed && !is_defer &&
	    !slice_is(name, event_rows[EV_RCPT_OK].name) &&
	    !slice_is(name, event_rows[EV_RCPT_FAIL].name))
		return;
	comer = comer_of_line(delays, line, at_ms);
	if (comer == NULL || is_routed)
		return;
	if (is_defer) {
		comer->deferred_ms = at_ms;
		comer->class = json_get(line, "class", &delays->value) ?
		    (int8_t)mail_class_parse(str_slice(&delays->value)) : -1;
		return;
	}
	busy_ms = json_get_number(line, "ms");
	if (busy_ms > 0 && busy_ms < BUSY_MAX_MS && busy_ms > comer->busy_ms)
		comer->busy_ms = (uint32_t)busy_ms;
	comer->done_ms = at_ms;
}

static int
comer_compare(const void *va, const void *vb)
{
	const struct comer *a = va, *b = vb;

	if (a->dest != b->dest)
		return a->dest < b->dest ? -1 : 1;
	return a->came_ms < b->came_ms ? -1 : a->came_ms > b->came_ms;
}

int
delays_read(struct replay *replay, struct delays **out, struct err *err)
{
	int64_t days = (clock_wall_us() / 1000 - replay->span.since_ms) /
	    JOURNAL_DAY_MS + 2, at_ms;
	struct journal_cursor cursor = { 0, 0, 0 };
	struct journal *journal;
	struct delays *delays;
	struct slice line;

	if (journal_days_open(replay->old->log_dir, (unsigned)days, &journal,
	    err) < 0)
		return -1;
	journal_within(journal, &replay->span);
	delays = mem_alloc(1, sizeof(*delays));
	delays->slots = mem_alloc(COMER_SLOTS, sizeof(*delays->slots));
	str_init(&delays->channel);
	str_init(&delays->host);
	str_init(&delays->dest);
	str_init(&delays->value);
	while (journal_next(journal, &cursor, &line)) {
		at_ms = journal_line_ms(line);
		if (at_ms >= replay->span.since_ms &&
		    at_ms < replay->span.until_ms)
			delays_take_line(delays, line, at_ms);
	}
	journal_close(&journal);
	mem_free(&delays->slots);
	if (delays->count > 1)
		qsort(delays->comers, delays->count, sizeof(*delays->comers),
		    comer_compare);
	replay->left_out += delays->left_out;
	*out = delays;
	return 0;
}

void
delays_free(struct delays **pdelays)
{
	struct delays *delays = *pdelays;

	if (delays == NULL)
		return;
	mem_free(&delays->comers);
	mem_free(&delays->slots);
	str_release(&delays->channel);
	str_release(&delays->host);
	str_release(&delays->dest);
	str_release(&delays->value);
	mem_free(pdelays);
}

/* ---- trying a schedule ------------------------------------------------- */

struct turn {			/* when what is tried, or a session is free */
	int64_t		at_ms;
	size_t		comer;
	unsigned	tries;
};

struct turns {			/* a heap: the earliest first */
	struct turn	*turns;
	size_t		 count;
};

static bool
turn_is_before(const struct turn *a, const struct turn *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms :
	    a->comer < b->comer;
}

static void
turns_add(struct turns *heap, struct turn turn)
{
	size_t at = heap->count++;

	heap->turns = mem_grow(heap->turns, heap->count,
	    sizeof(*heap->turns));
	for (; at > 0 && turn_is_before(&turn, &heap->turns[(at - 1) / 2]);
	    at = (at - 1) / 2)
		heap->turns[at] = heap->turns[(at - 1) / 2];
	heap->turns[at] = turn;
}

static struct turn
turns_take(struct turns *heap)
{
	struct turn first = heap->turns[0], last = heap->turns[--heap->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count && turn_is_before(
		    &heap->turns[child + 1], &heap->turns[child]))
			child++;
		if (!turn_is_before(&heap->turns[child], &last))
			break;
		heap->turns[at] = heap->turns[child];
		at = child;
	}
	heap->turns[at] = last;
	return first;
}

struct trial {
	const struct conf_schedule *clause;
	const struct comer *comers;
	struct turns	 turns, sessions;
	int64_t		 free_ms;	/* by the rate */
	uint64_t	 count, tries, given_up;
	int64_t		 sum_ms, most_ms;
};

/* The time until the next try; -1: there is none. */
static int64_t
trial_wait_ms(const struct conf_schedule *clause, int class, unsigned tries)
{
	const int64_t *wait_s = clause->retry_s;
	size_t count = clause->retry_count;
	bool stops = clause->retry_stops;

	for (size_t i = 0; class >= 0 && i < clause->rule_count; i++) {
		const struct conf_retry_rule *rule = &clause->rules[i];

		if ((rule->classes & UINT32_C(1) << class) == 0)
			continue;
		if (rule->action == RETRY_ON_END)
			return -1;
		if (rule->action == RETRY_ON_SUSPEND)
			return rule->suspend_s * 1000;
		wait_s = rule->wait_s;
		count = rule->wait_count;
		stops = rule->stops;
		break;
	}
	if (count == 0 || (stops && tries > count))
		return -1;
	return wait_s[tries > count ? count - 1 : tries - 1] * 1000;
}

/* When it gets a session and the rate has room. */
static int64_t
trial_begin(struct trial *trial, int64_t at_ms, uint32_t busy_ms)
{
	const struct conf_schedule *clause = trial->clause;
	struct turn session = { .at_ms = 0 };

	if (clause->parallel > 0 && trial->sessions.count >= clause->parallel)
		session = turns_take(&trial->sessions);
	if (session.at_ms > at_ms)
		at_ms = session.at_ms;
	if (clause->rate_count > 0) {
		if (trial->free_ms > at_ms)
			at_ms = trial->free_ms;
		trial->free_ms = at_ms + clause->rate_per_ms /
		    (int64_t)clause->rate_count;
	}
	if (clause->parallel > 0)
		turns_add(&trial->sessions, (struct turn){
		    .at_ms = at_ms + busy_ms });
	return at_ms;
}

static void
trial_turn(struct trial *trial, struct turn turn)
{
	const struct comer *comer = &trial->comers[turn.comer];
	int64_t at_ms = trial_begin(trial, turn.at_ms, comer->busy_ms);
	int64_t age_ms = at_ms - comer->came_ms, wait_ms = -1;

	trial->tries++;
	if (at_ms > comer->deferred_ms) {
		trial->sum_ms += age_ms;
		if (age_ms > trial->most_ms)
			trial->most_ms = age_ms;
		return;
	}
	if (age_ms < trial->clause->expire_s * 1000)
		wait_ms = trial_wait_ms(trial->clause, comer->class,
		    turn.tries + 1);
	if (wait_ms < 0) {
		trial->given_up++;
		return;
	}
	turns_add(&trial->turns, (struct turn){ .comer = turn.comer,
	    .at_ms = at_ms + (wait_ms > 1000 ? wait_ms : 1000),
	    .tries = turn.tries + 1 });
}

static void
trial_say(const struct trial *trial, struct str *out)
{
	uint64_t arrived = trial->count - trial->given_up;
	char mean[CLOCK_TEXT_BYTES], most[CLOCK_TEXT_BYTES];

	str_addf(out, ", %" PRIu64 " message%s", trial->count,
	    trial->count == 1 ? "" : "s");
	if (arrived > 0) {
		clock_span(trial->sum_ms / 1000 / (int64_t)arrived, mean);
		clock_span(trial->most_ms / 1000, most);
		str_addf(out, " waited %s on the average, %s at most", mean,
		    most);
	}
	str_addf(out, ", %" PRIu64 " tr%s", trial->tries,
	    trial->tries == 1 ? "y" : "ies");
	if (trial->given_up > 0)
		str_addf(out, ", %" PRIu64 " given up", trial->given_up);
}

/* The first of this destination, or count. */
static size_t
delays_first(const struct delays *delays, uint64_t dest)
{
	size_t low = 0, high = delays->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (delays->comers[middle].dest < dest)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
delays_say(const struct delays *delays, struct slice dest,
    const struct conf_schedule *clause, struct str *out)
{
	struct trial trial = { .clause = clause, .comers = delays->comers };
	uint64_t hash = delays_hash(dest);

	for (size_t i = delays_first(delays, hash); i < delays->count &&
	    delays->comers[i].dest == hash; i++) {
		if (delays->comers[i].done_ms == 0)
			continue;
		trial.count++;
		turns_add(&trial.turns, (struct turn){
		    .at_ms = delays->comers[i].came_ms, .comer = i });
	}
	while (trial.turns.count > 0)
		trial_turn(&trial, turns_take(&trial.turns));
	if (trial.count > 0)
		trial_say(&trial, out);
	mem_free(&trial.turns.turns);
	mem_free(&trial.sessions.turns);
}
