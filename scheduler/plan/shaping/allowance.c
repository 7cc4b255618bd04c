/* allowance.c - what this node may send of a warm-up that all nodes share
 *
 * In     messages about to be fed, answers of share, the configuration's plan
 * Out    yes, later or no; questions for share
 * Holds  what was sent today, and may be sent still, of each zone and provider
 * Trusts share's word; the day is that of Redis, by the wall clock only as long
 *        as none was heard
 * Spec   allowance.h; doc/CLUSTER.md; doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/mem.h"
#include "scheduler/plan/shaping/allowance.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/shaping/shape_line.h"

#include "base/banned.h"

enum { DAY_S = 86400, DAYS_MAX = 3000000, CHAINS = 1024,
	KEPT_MS = 2 * DAY_S * 1000 };
static const int64_t DAY_MS = (int64_t)DAY_S * 1000;

enum allowance_state { UNKNOWN, GIVEN, ALONE };

struct allowance {
	struct allowance *next;
	TAILQ_ENTRY(allowance) entry;	/* of wanting, or asked */
	enum allowance_state state;
	int64_t		 day;		/* since 1970; 0: unknown */
	int64_t		 end_ms;	/* of the day */
	int64_t		 first;		/* day of the plan, as heard, for
					 * people; -1: unknown */
	uint64_t	 used;		/* recipients, of the day */
	uint64_t	 left, grant;	/* of what was given; the last */
	uint64_t	 sent;		/* of all nodes, as heard */
	uint64_t	 need, want;	/* to be asked for */
	uint64_t	 small;		/* recipients of the smallest message
					 * that did not fit; 0: none */
	uint64_t	 number;	/* of the question */
	bool		 is_wanting, is_asked;
	bool		 is_over;	/* what was needed is not left */
	unsigned	 misfits, nodes;
	int64_t		 asked_ms, since_ms;	/* waits since; 0: not */
	int64_t		 used_ms, again_ms;
	char		 words[ALLOWANCE_WORDS_BYTES];
	const char	*key;		/* after the zone */
	char		 zone[];
};

/* ---- the table --------------------------------------------------------- */

static struct slice
allowance_key(const struct thread *thread)
{
	return slice_of(thread->provider ? thread->provider->name :
	    thread->host);
}

static struct allowance **
allowance_place(const struct allowance_table *table, struct slice zone,
    struct slice key)
{
	uint32_t crc = crc32c(crc32c(0, zone.p, zone.n), key.p, key.n);
	struct allowance **link = &table->buckets[crc & (CHAINS - 1)];

	while (*link != NULL && !(slice_is(zone, (*link)->zone) &&
	    slice_is(key, (*link)->key)))
		link = &(*link)->next;
	return link;
}

static struct allowance *
allowance_make(struct allowance_table *table, struct slice zone,
    struct slice key)
{
	struct allowance **link, *made;

	if (table->buckets == NULL) {
		table->buckets = mem_alloc(CHAINS, sizeof(*table->buckets));
		TAILQ_INIT(&table->wanting);
		TAILQ_INIT(&table->asked);
	}
	link = allowance_place(table, zone, key);
	if (*link != NULL || table->count >= ALLOWANCES_MAX)
		return *link;
	made = mem_alloc(1, sizeof(*made) + zone.n + key.n + 2);
	memcpy(made->zone, zone.p, zone.n);
	memcpy(made->zone + zone.n + 1, key.p, key.n);
	made->key = made->zone + zone.n + 1;
	made->first = -1;
	*link = made;
	table->count++;
	return made;
}

struct allowance *
allowance_get(struct allowance_table *table, const struct thread *thread)
{
	return allowance_make(table, slice_of(thread->zone),
	    allowance_key(thread));
}

struct allowance *
allowance_find(const struct allowance_table *table,
    const struct thread *thread)
{
	return table->buckets == NULL ? NULL : *allowance_place(table,
	    slice_of(thread->zone), allowance_key(thread));
}

static void
allowance_free(struct allowance_table *table, struct allowance **link)
{
	struct allowance *allowance = *link;

	*link = allowance->next;
	if (allowance->is_wanting)
		TAILQ_REMOVE(&table->wanting, allowance, entry);
	if (allowance->is_asked)
		TAILQ_REMOVE(&table->asked, allowance, entry);
	table->asked_count -= allowance->is_asked;
	table->count--;
	mem_free(&allowance);
}

void
allowance_release(struct allowance_table *table)
{
	for (size_t i = 0; table->buckets != NULL && i < CHAINS; i++)
		while (table->buckets[i] != NULL)
			allowance_free(table, &table->buckets[i]);
	mem_free(&table->buckets);
}

/* ---- the day ----------------------------------------------------------- */

static void
allowance_begin_day(struct allowance *allowance, int64_t day)
{
	if (allowance->day == day)
		return;
	allowance->day = day;
	allowance->used = allowance->left = allowance->grant = 0;
	allowance->is_over = false;
}

/* Its day is over: share knows the next one; who is alone begins it. */
static void
allowance_pass(struct allowance *allowance, const struct allowance_now *now)
{
	if (allowance->end_ms == 0 || now->ms < allowance->end_ms)
		return;
	if (allowance->state == ALONE) {
		int64_t days = (now->ms - allowance->end_ms) / DAY_MS + 1;

		allowance_begin_day(allowance, allowance->day + days);
		allowance->end_ms += days * DAY_MS;
		return;
	}
	allowance->state = UNKNOWN;
	allowance->left = 0;
	allowance->is_over = false;
}

/* nodes 0: as many as were heard of before, else those of the
 * configuration. */
static void
allowance_go_alone(struct allowance *allowance, unsigned nodes,
    const struct allowance_now *now)
{
	if (nodes > 0)
		allowance->nodes = nodes;
	else if (allowance->nodes == 0)
		allowance->nodes = now->nodes > 0 ? now->nodes : 1;
	if (allowance->end_ms == 0) {
		allowance_begin_day(allowance, now->s / DAY_S);
		allowance->end_ms = now->ms +
		    (DAY_S - now->s % DAY_S) * 1000;
	}
	allowance->state = ALONE;
	allowance_pass(allowance, now);
	allowance->again_ms = now->ms + ALLOWANCE_ALONE_MS;
	allowance->since_ms = 0;
}

/* Of the day, by our own plan: who can write to that Redis does not end it by
 * a first day that was long ago.  UINT64_MAX: any number. */
static uint64_t
allowance_cap(const struct allowance *allowance, const struct conf_zone *zone)
{
	int64_t first = zone->warm_start_s / DAY_S, day;

	day = allowance->day < first ? 0 : allowance->day - first;
	return (uint64_t)day >= zone->warm_count ? UINT64_MAX :
	    zone->warm_caps[day];
}

/* What our own plan has left of the day, whoever counts for all; more is not
 * asked for, so that others may have it. */
static uint64_t
allowance_plan_left(const struct allowance *allowance,
    const struct conf_zone *zone)
{
	uint64_t cap = allowance_cap(allowance, zone);

	return cap == UINT64_MAX ? cap : cap > allowance->used ?
	    cap - allowance->used : 0;
}

/* How many may go now. */
static uint64_t
allowance_left(const struct allowance *allowance,
    const struct conf_zone *zone)
{
	uint64_t cap = allowance_cap(allowance, zone), part;

	if (allowance->state == UNKNOWN)
		return 0;
	if (cap == UINT64_MAX)
		return cap;
	/* one larger than the day goes first */
	if (allowance->state == GIVEN) {
		part = allowance_plan_left(allowance, zone);
		return allowance->used == 0 || allowance->left < part ?
		    allowance->left : part;
	}
	part = cap / allowance->nodes;
	part = part > 0 ? part : 1;
	part = part > allowance->used ? part - allowance->used : 0;
	return part > allowance->left ? part : allowance->left;
}

static int64_t
allowance_patience_ms(const struct allowance_now *now)
{
	return now->patience_ms > ALLOWANCE_PATIENCE_MS ? now->patience_ms :
	    ALLOWANCE_PATIENCE_MS;
}

/* ---- may it go? --------------------------------------------------------- */

static void
allowance_want(struct allowance_table *table, struct allowance *allowance,
    uint64_t need, uint64_t want)
{
	if (allowance->is_asked)
		return;
	if (want > ALLOWANCE_WANT_MAX)
		want = ALLOWANCE_WANT_MAX;
	allowance->need = need;
	allowance->want = want > need ? want : need;
	if (!allowance->is_wanting)
		TAILQ_INSERT_TAIL(&table->wanting, allowance, entry);
	allowance->is_wanting = true;
}

static int64_t
allowance_first_of(int64_t a_ms, int64_t b_ms)
{
	return a_ms == 0 || b_ms < a_ms ? b_ms : a_ms;
}

/* Half of what was given is spent: the rest is for the time of a trip. */
static void
allowance_look_ahead(struct allowance_table *table,
    struct allowance *allowance, const struct conf_zone *zone, unsigned ready,
    const struct allowance_now *now)
{
	if (allowance->state == GIVEN && allowance->left < ready &&
	    allowance->left < allowance_plan_left(allowance, zone) &&
	    allowance->left <= allowance->grant / 2 &&
	    now->ms >= allowance->again_ms)
		allowance_want(table, allowance, 0, ready);
	else if (allowance->state == ALONE && now->ms >= allowance->again_ms)
		allowance_want(table, allowance, 0, ready);
}

enum allowance_verdict
allowance_admits(struct allowance_table *table, struct allowance *allowance,
    const struct conf_zone *zone, unsigned ready,
    const struct allowance_now *now, int64_t *out_until_ms)
{
	uint64_t left;

	allowance_pass(allowance, now);
	if (allowance->since_ms != 0 && now->ms >= allowance->since_ms +
	    allowance_patience_ms(now))
		allowance_go_alone(allowance, 0, now);
	left = allowance_left(allowance, zone);
	if (left == UINT64_MAX)
		return ALLOWANCE_YES;
	if (left > 0) {
		allowance_look_ahead(table, allowance, zone, ready, now);
		return ALLOWANCE_YES;
	}
	*out_until_ms = allowance_first_of(allowance->end_ms, now->ms +
	    ALLOWANCE_AGAIN_MS);
	if (allowance->state == ALONE) {
		allowance_look_ahead(table, allowance, zone, ready, now);
		*out_until_ms = allowance_first_of(*out_until_ms, now->ms +
		    ALLOWANCE_ALONE_MS);
		return ALLOWANCE_NO;
	}
	if ((allowance->is_over && now->ms < allowance->again_ms) ||
	    (allowance->state == GIVEN &&
	    allowance_plan_left(allowance, zone) == 0))
		return ALLOWANCE_NO;
	*out_until_ms = now->ms + ALLOWANCE_LOOK_MS;
	if (allowance->since_ms == 0)
		allowance->since_ms = now->ms;
	if (allowance->state == GIVEN || now->ms >= allowance->again_ms)
		allowance_want(table, allowance, 1, ready);
	return ALLOWANCE_WAIT;
}

bool
allowance_fits(struct allowance_table *table, struct allowance *allowance,
    const struct conf_zone *zone, unsigned rcpts, unsigned ready,
    const struct allowance_now *now, int64_t *out_until_ms)
{
	uint64_t left = allowance_left(allowance, zone);

	*out_until_ms = 0;
	if (left >= rcpts || (allowance->state == ALONE &&
	    allowance->used == 0)) {
		allowance->misfits = 0;
		return true;
	}
	if (allowance->small == 0 || rcpts < allowance->small)
		allowance->small = rcpts;
	if (++allowance->misfits < ALLOWANCE_TRIES &&
	    allowance->misfits < ready)
		return false;
	*out_until_ms = now->ms + ALLOWANCE_LOOK_MS;
	if (allowance->state == ALONE || (allowance->is_over && now->ms <
	    allowance->again_ms) || (allowance->used > 0 &&
	    allowance_plan_left(allowance, zone) < allowance->small))
		*out_until_ms = allowance_first_of(allowance->end_ms,
		    now->ms + ALLOWANCE_MISFIT_MS);
	else
		allowance_want(table, allowance, allowance->small - left,
		    allowance->small - left + ready);
	allowance->misfits = 0;
	allowance->small = 0;
	return false;
}

void
allowance_spend(struct allowance *allowance, unsigned rcpts, int64_t now_ms)
{
	allowance->used += rcpts;
	allowance->left -= rcpts < allowance->left ? rcpts : allowance->left;
	allowance->used_ms = now_ms;
}

/* ---- questions, answers ------------------------------------------------- */

void
allowance_tick(struct allowance_table *table, int64_t now_ms)
{
	for (size_t i = 0; table->buckets != NULL && i < CHAINS; i++) {
		struct allowance **link = &table->buckets[i];

		while (*link != NULL) {
			struct allowance *one = *link;

			if (!one->is_asked && one->left > 0 && now_ms -
			    one->used_ms >= ALLOWANCE_IDLE_MS)
				allowance_want(table, one, 0, 0);
			if (one->state == ALONE && one->used > 0 &&
			    now_ms >= one->again_ms && !one->is_wanting)
				allowance_want(table, one, 0, 0);
			if (!one->is_asked && !one->is_wanting &&
			    now_ms - one->used_ms >= KEPT_MS &&
			    one->end_ms < now_ms)
				allowance_free(table, link);
			else
				link = &one->next;
		}
	}
}

bool
allowance_wants(const struct allowance_table *table)
{
	return table->buckets != NULL && !TAILQ_EMPTY(&table->wanting) &&
	    table->asked_count < ALLOWANCE_ASKED_MAX;
}

bool
allowance_question(struct allowance_table *table, int64_t now_ms,
    struct str *out)
{
	struct allowance *one;
	uint64_t back;

	if (!allowance_wants(table))
		return false;
	one = TAILQ_FIRST(&table->wanting);
	TAILQ_REMOVE(&table->wanting, one, entry);
	TAILQ_INSERT_TAIL(&table->asked, one, entry);
	table->asked_count++;
	one->is_wanting = false;
	one->is_asked = true;
	one->asked_ms = now_ms;
	one->number = ++table->last_number;
	back = one->want == 0 ? one->left : 0;
	one->left -= back;
	str_addf(out, "w%" PRIu64 " warm %s %" PRId64 " %" PRIu64 " %" PRIu64
	    " %" PRIu64 " %" PRIu64 " %s\n", one->number, one->zone,
	    one->day, one->used, back, one->need, one->want, one->key);
	return true;
}

static void
allowance_leave(struct allowance_table *table, struct allowance *allowance)
{
	TAILQ_REMOVE(&table->asked, allowance, entry);
	table->asked_count--;
	allowance->is_asked = false;
}

void
allowance_lost(struct allowance_table *table)
{
	while (table->buckets != NULL && !TAILQ_EMPTY(&table->asked))
		allowance_leave(table, TAILQ_FIRST(&table->asked));
}

/* "DAY LEFT-S FIRST SENT GIVEN" */
static bool
allowance_take(struct allowance *allowance, struct slice rest,
    const struct allowance_now *now)
{
	uint64_t numbers[5];
	struct slice word;

	for (int i = 0; i < 5; i++)
		if (!slice_word(&rest, &word) ||
		    !slice_number(word, 0, INT64_MAX / 2, &numbers[i]))
			return false;
	if (numbers[0] > DAYS_MAX || numbers[1] > DAY_S ||
	    numbers[2] > DAYS_MAX || slice_trim(rest).n > 0)
		return false;
	allowance_begin_day(allowance, (int64_t)numbers[0]);
	allowance->end_ms = allowance->asked_ms + (int64_t)numbers[1] * 1000;
	allowance->first = (int64_t)numbers[2];
	allowance->sent = numbers[3];
	if (numbers[4] > allowance->want)	/* nobody asked for it */
		numbers[4] = allowance->want;
	allowance->grant = numbers[4];
	allowance->left += numbers[4];
	allowance->state = GIVEN;
	allowance->is_over = numbers[4] < allowance->need;
	allowance->again_ms = numbers[4] > 0 && !allowance->is_over ? 0 :
	    now->ms + ALLOWANCE_AGAIN_MS;
	allowance->used_ms = now->ms;
	allowance->since_ms = 0;
	return true;
}

bool
allowance_answered(struct allowance_table *table, struct slice number,
    struct slice answer, const struct allowance_now *now)
{
	struct allowance *one = NULL;
	uint64_t wanted, nodes;
	struct slice word;

	if (table->buckets == NULL || !slice_number(number, 1, INT64_MAX,
	    &wanted))
		return false;
	TAILQ_FOREACH(one, &table->asked, entry)
		if (one->number == wanted)
			break;
	if (one == NULL)
		return false;
	allowance_leave(table, one);
	if (!slice_word(&answer, &word))
		return false;
	answer = slice_trim(answer);
	if (slice_is(word, "given"))
		return allowance_take(one, answer, now);
	if (slice_is(word, "later")) {
		one->again_ms = now->ms + ALLOWANCE_LATER_MS;
		return true;
	}
	if (!slice_is(word, "alone") ||
	    !slice_number(answer, 1, UINT16_MAX, &nodes))
		return false;
	allowance_go_alone(one, (unsigned)nodes, now);
	return true;
}

/* ---- for people --------------------------------------------------------- */

int64_t
allowance_cap_today(const struct allowance *allowance,
    const struct conf_zone *zone, bool *out_is_alone)
{
	uint64_t cap = allowance_cap(allowance, zone);

	*out_is_alone = allowance->state == ALONE;
	return allowance->state == UNKNOWN || cap == UINT64_MAX ? -1 :
	    (int64_t)cap;
}

/* A first day that is not ours: of another node, or of nobody. */
static void
allowance_add_doubt(struct allowance *allowance, const struct conf_zone *zone)
{
	int64_t first = zone->warm_start_s / DAY_S;
	char heard[CLOCK_TEXT_BYTES], words[ALLOWANCE_WORDS_BYTES];

	if (allowance->first < 0 || allowance->first == first)
		return;
	clock_rfc3339(allowance->first * DAY_MS * 1000, heard);
	snprintf(words, sizeof(words), "; Redis says that the first day was "
	    "%.10s, which is not believed", heard);
	strlcat(allowance->words, words, sizeof(allowance->words));
}

struct slice
allowance_words(struct allowance *allowance, const struct conf_zone *zone,
    int64_t *out_end_ms)
{
	uint64_t cap = allowance_cap(allowance, zone);

	*out_end_ms = allowance->end_ms;
	allowance->words[0] = '\0';
	if (allowance->state == GIVEN && cap != UINT64_MAX)
		snprintf(allowance->words, sizeof(allowance->words),
		    "all nodes together: %" PRIu64 " of %" PRIu64 " today",
		    allowance->sent, cap);
	else if (allowance->state == ALONE && cap != UINT64_MAX)
		snprintf(allowance->words, sizeof(allowance->words),
		    "Redis is away: this node's part of %" PRIu64
		    " today, of %u; it has sent %" PRIu64, cap,
		    allowance->nodes, allowance->used);
	else if (allowance->state == UNKNOWN)
		snprintf(allowance->words, sizeof(allowance->words),
		    "the process share is asked");
	if (allowance->state == GIVEN && cap != UINT64_MAX)
		allowance_add_doubt(allowance, zone);
	return slice_of(allowance->words);
}

/* ---- the file's lines --------------------------------------------------- */

void
allowance_add_lines(const struct allowance_table *table, struct str *out)
{
	for (size_t i = 0; table->buckets != NULL && i < CHAINS; i++)
		for (const struct allowance *one = table->buckets[i];
		    one != NULL; one = one->next)
			if (one->used > 0 &&
			    strpbrk(one->key, "\t\n") == NULL)
				str_addf(out, "%%warms\t%s\t%s\t%" PRId64
				    "\t%" PRIu64 "\n", one->zone, one->key,
				    one->day, one->used);
}

void
allowance_read(struct allowance_table *table, struct slice text)
{
	struct slice line, word, zone, key, day_text;
	uint64_t day, used;
	struct allowance *one;

	while (slice_cut(&text, '\n', &line)) {
		if (!shape_line_is_text(line) ||
		    !slice_cut(&line, '\t', &word) ||
		    !slice_is(word, "%warms") ||
		    !slice_cut(&line, '\t', &zone) ||
		    !slice_cut(&line, '\t', &key) ||
		    !slice_cut(&line, '\t', &day_text) ||
		    !slice_number(day_text, 1, INT32_MAX, &day) ||
		    !slice_number(line, 1, UINT32_MAX, &used))
			continue;
		one = allowance_make(table, zone, key);
		if (one != NULL && (int64_t)day >= one->day) {
			one->day = (int64_t)day;
			one->used = used;
		}
	}
}
