/* ledger.c - who may take what of the limits that all nodes share
 *
 * In     questions; answers of the store
 * Out    yes, or how long to wait
 * Holds  a meter for each key that waits or has something left; buckets
 *        of this node; the nodes as they were seen last
 * Trusts no key: the hash is seeded, what waits is bounded
 * Spec   ledger.h; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/buckets.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "share/count/budget.h"
#include "share/ledger/ledger.h"
#include "share/ledger/members.h"
#include "share/ledger/holdings.h"
#include "share/redis/store.h"

#include "base/banned.h"

enum { CHAINS = 4096, NUMBER_BYTES = 24, TRIP_SPAN_MS = 5000 };

struct ledger_wait {
	struct meter		*meter;
	ledger_answer_fn	*fn;		/* NULL: forgotten */
	void			*context;
	TAILQ_ENTRY(ledger_wait) entry;
};

struct meter {			/* of one key and its limit */
	struct ledger		*ledger;
	struct meter		*next;		/* of its chain */
	uint64_t		 count;
	int64_t			 span_ms;
	struct purse		 purse;
	TAILQ_HEAD(, ledger_wait) waits;
	size_t			 wait_count;
	size_t			 asked_for;	/* waits; 0: not in flight */
	bool			 is_idle;	/* in ledger->idle */
	TAILQ_ENTRY(meter)	 entry;
	size_t			 key_bytes;
	char			 key[];
};

struct ledger {
	struct process		*process;
	struct store		*store;
	struct buckets		*alone;
	struct members		*members;
	struct holdings		*holdings;
	struct greetings	*greetings;
	struct bulletin		*bulletin;
	struct warmups		*warmups;
	struct meter		*chains[CHAINS];
	TAILQ_HEAD(, meter)	 idle;		/* oldest batch first */
	size_t			 meter_count, wait_count;
	struct timer		 sweep_timer, seen_timer;
	bool			 is_seen_asked;
	uint64_t		 trips_before;	/* at trips_at_ms */
	int64_t			 trips_at_ms;
	double			 trips_a_second;
	struct timer		 trips_timer;
};

static void meter_turn(struct meter *meter);

/* ---- meters ----------------------------------------------------------- */

static struct meter **
meter_chain(struct ledger *ledger, struct slice key)
{
	return &ledger->chains[siphash(siphash_process_key(), key).low %
	    CHAINS];
}

static struct meter *
meter_find(struct ledger *ledger, struct slice key, uint64_t count,
    int64_t span_ms)
{
	struct meter **chain = meter_chain(ledger, key), *meter;

	for (meter = *chain; meter != NULL; meter = meter->next)
		if (meter->count == count && meter->span_ms == span_ms &&
		    meter->key_bytes == key.n &&
		    memcmp(meter->key, key.p, key.n) == 0)
			return meter;
	meter = mem_alloc(1, sizeof(*meter) + key.n + 1);
	meter->ledger = ledger;
	meter->count = count;
	meter->span_ms = span_ms;
	meter->key_bytes = key.n;
	memcpy(meter->key, key.p, key.n);
	TAILQ_INIT(&meter->waits);
	meter->next = *chain;
	*chain = meter;
	ledger->meter_count++;
	return meter;
}

static struct slice
meter_key(const struct meter *meter)
{
	return (struct slice){ meter->key, meter->key_bytes };
}

static void
meter_free(struct meter *meter)
{
	struct ledger *ledger = meter->ledger;
	struct meter **at = meter_chain(ledger, meter_key(meter));
	struct ledger_wait *wait;

	while (*at != meter)
		at = &(*at)->next;
	*at = meter->next;
	while ((wait = TAILQ_FIRST(&meter->waits)) != NULL) {
		TAILQ_REMOVE(&meter->waits, wait, entry);
		ledger->wait_count--;
		mem_free(&wait);
	}
	if (meter->is_idle)
		TAILQ_REMOVE(&ledger->idle, meter, entry);
	ledger->meter_count--;
	mem_free(&meter);
}

static void
ledger_on_sweep(void *context)
{
	struct ledger *ledger = context;
	int64_t now_ms = clock_steady_ms();
	struct meter *meter;

	while ((meter = TAILQ_FIRST(&ledger->idle)) != NULL &&
	    purse_is_empty(&meter->purse, now_ms))
		meter_free(meter);
	if (meter != NULL)
		timer_set(ledger->process->loop, &ledger->sweep_timer,
		    meter->purse.until_ms, ledger_on_sweep, ledger);
}

/* Nobody waits: it goes now, or when its batch is over. */
static void
meter_rest(struct meter *meter)
{
	struct ledger *ledger = meter->ledger;

	if (meter->is_idle)
		TAILQ_REMOVE(&ledger->idle, meter, entry);
	meter->is_idle = false;
	if (meter->wait_count > 0 || meter->asked_for > 0)
		return;
	meter->is_idle = true;
	TAILQ_INSERT_TAIL(&ledger->idle, meter, entry);
	if (ledger->sweep_timer.at_ms == 0)
		timer_set(ledger->process->loop, &ledger->sweep_timer,
		    clock_steady_ms() + PURSE_FOR_MS, ledger_on_sweep, ledger);
}

/* ---- answers ---------------------------------------------------------- */

/* The first that waits is told. */
static void
meter_answer(struct meter *meter, int64_t wait_s)
{
	struct ledger_wait *wait = TAILQ_FIRST(&meter->waits);

	TAILQ_REMOVE(&meter->waits, wait, entry);
	meter->wait_count--;
	meter->ledger->wait_count--;
	if (wait->fn != NULL)
		wait->fn(wait->context, wait_s);
	mem_free(&wait);
}

static int64_t
ledger_take_alone(struct ledger *ledger, const struct meter *meter)
{
	uint64_t count = budget_alone(meter->count,
	    members_count(ledger->members));
	int64_t wait_ms;
	struct str key = STR_INIT;

	str_addf(&key, "%" PRIu64 "/%" PRId64 " ", meter->count,
	    meter->span_ms);
	str_add_slice(&key, meter_key(meter));
	wait_ms = buckets_take(ledger->alone, str_slice(&key), count,
	    meter->span_ms, clock_steady_ms());
	str_release(&key);
	return wait_ms == 0 ? 0 : budget_seconds(wait_ms * 1000);
}

/* store_answer_fn: those that it was asked for get what there is, the others
 * of them are over; who came later asks again. */
static void
meter_on_taken(void *context, bool is_away, struct slice text)
{
	struct meter *meter = context;
	size_t asked_for = meter->asked_for;
	int64_t wait_us, now_ms = clock_steady_ms();
	uint64_t granted;

	meter->asked_for = 0;
	if (is_away || !words_taken_read(text, &granted, &wait_us)) {
		while (meter->wait_count > 0)
			meter_answer(meter, ledger_take_alone(
			    meter->ledger, meter));
		meter_rest(meter);
		return;
	}
	purse_fill(&meter->purse, granted, now_ms);
	for (; meter->wait_count > 0; asked_for -= asked_for > 0)
		if (purse_spend(&meter->purse, now_ms))
			meter_answer(meter, 0);
		else if (asked_for > 0)
			meter_answer(meter, budget_seconds(wait_us));
		else
			break;
	meter_turn(meter);
}

static void
meter_ask(struct meter *meter)
{
	struct ledger *ledger = meter->ledger;
	char numbers[4][NUMBER_BYTES];
	struct slice args[4], name;
	struct str key = STR_INIT;

	snprintf(numbers[0], NUMBER_BYTES, "%" PRIu64, meter->count);
	snprintf(numbers[1], NUMBER_BYTES, "%" PRId64,
	    meter->span_ms * 1000);
	snprintf(numbers[2], NUMBER_BYTES, "%zu", meter->wait_count);
	snprintf(numbers[3], NUMBER_BYTES, "%" PRIu64, budget_batch(
	    meter->count, meter->span_ms,
	    members_count(ledger->members)));
	for (int i = 0; i < 4; i++)
		args[i] = slice_of(numbers[i]);
	words_add_rate_key(&key, ledger->process->conf->cluster.name,
	    meter_key(meter), meter->count, meter->span_ms);
	name = str_slice(&key);
	meter->asked_for = meter->wait_count;
	store_ask(ledger->store, &(struct store_question){ SCRIPT_TAKE, &name,
	    args, 1, 4 }, meter_on_taken, meter);
	str_release(&key);
}

/* Somebody waits: ask, unless it is asked already. */
static void
meter_turn(struct meter *meter)
{
	if (meter->wait_count > 0 && meter->asked_for == 0)
		meter_ask(meter);
	else
		meter_rest(meter);
}

/* ---- nodes ------------------------------------------------------------ */

static void
ledger_on_seen(void *context, bool is_away, struct slice text)
{
	struct ledger *ledger = context;

	ledger->is_seen_asked = false;
	if (!is_away)
		members_take(ledger->members, text, clock_steady_ms());
}

static void
ledger_say_seen(void *context)
{
	struct ledger *ledger = context;
	const struct conf_cluster *cluster = &ledger->process->conf->cluster;
	struct slice self = slice_of(cluster->self), name;
	struct str key = STR_INIT;

	timer_set(ledger->process->loop, &ledger->seen_timer,
	    clock_steady_ms() + LEDGER_SEEN_EVERY_MS, ledger_say_seen, ledger);
	if (ledger->is_seen_asked)
		return;
	ledger->is_seen_asked = true;
	words_add_nodes_key(&key, cluster->name);
	name = str_slice(&key);
	store_ask(ledger->store, &(struct store_question){ SCRIPT_SEEN, &name,
	    &self, 1, 1 }, ledger_on_seen, ledger);
	str_release(&key);
}

/* Redis answers, or no more.  When it does: say at once that we are there.
 * What came before either was known is asked now. */
static void
ledger_on_change(void *context)
{
	struct ledger *ledger = context;

	if (store_state(ledger->store).is_up)
		timer_set(ledger->process->loop, &ledger->seen_timer,
		    clock_steady_ms(), ledger_say_seen, ledger);
	for (size_t i = 0; i < CHAINS; i++)
		for (struct meter *meter = ledger->chains[i];
		    meter != NULL; meter = meter->next)
			meter_turn(meter);
	holdings_change(ledger->holdings);
}

static void
ledger_on_trips(void *context)
{
	struct ledger *ledger = context;
	uint64_t trips = store_state(ledger->store).trips;
	int64_t now_ms = clock_steady_ms();

	if (now_ms > ledger->trips_at_ms)
		ledger->trips_a_second = (double)(trips -
		    ledger->trips_before) * 1000 /
		    (double)(now_ms - ledger->trips_at_ms);
	ledger->trips_before = trips;
	ledger->trips_at_ms = now_ms;
	timer_set(ledger->process->loop, &ledger->trips_timer,
	    now_ms + TRIP_SPAN_MS, ledger_on_trips, ledger);
}

/* ---- public ----------------------------------------------------------- */

struct ledger *
ledger_new(struct process *process, const struct store_goal *goal)
{
	struct ledger *ledger = mem_alloc(1, sizeof(*ledger));

	ledger->process = process;
	ledger->alone = buckets_new();
	ledger->members = members_new(&process->conf->cluster);
	TAILQ_INIT(&ledger->idle);
	ledger->store = store_new(process, goal, ledger_on_change,
	    ledger);
	ledger->holdings = holdings_new(process, ledger->store,
	    ledger->members);
	ledger->greetings = greetings_new(&process->conf->cluster,
	    ledger->store);
	ledger->bulletin = bulletin_new(process, ledger->store);
	ledger->warmups = warmups_new(process->conf, ledger->store,
	    ledger->members);
	ledger->trips_at_ms = clock_steady_ms();
	ledger_on_trips(ledger);
	return ledger;
}

void
ledger_free(struct ledger **pledger)
{
	struct ledger *ledger = *pledger;

	if (ledger == NULL)
		return;
	timer_clear(&ledger->sweep_timer);
	timer_clear(&ledger->seen_timer);
	timer_clear(&ledger->trips_timer);
	store_free(&ledger->store);
	holdings_free(&ledger->holdings);
	greetings_free(&ledger->greetings);
	bulletin_free(&ledger->bulletin);
	warmups_free(&ledger->warmups);
	for (size_t i = 0; i < CHAINS; i++)
		while (ledger->chains[i] != NULL)
			meter_free(ledger->chains[i]);
	members_free(&ledger->members);
	buckets_free(&ledger->alone);
	mem_free(pledger);
}

struct holdings *
ledger_holdings(const struct ledger *ledger)
{
	return ledger->holdings;
}

struct greetings *
ledger_greetings(const struct ledger *ledger)
{
	return ledger->greetings;
}

struct bulletin *
ledger_bulletin(const struct ledger *ledger)
{
	return ledger->bulletin;
}

struct warmups *
ledger_warmups(const struct ledger *ledger)
{
	return ledger->warmups;
}

struct ledger_wait *
ledger_take(struct ledger *ledger, struct slice key, uint64_t count,
    int64_t span_ms, ledger_answer_fn *fn, void *context)
{
	struct meter *meter = meter_find(ledger, key, count, span_ms);
	bool is_opening = store_state(ledger->store).is_opening;
	bool is_alone = ledger->wait_count >= LEDGER_WAITS_MAX ||
	    (!is_opening && !store_is_open(ledger->store));
	struct ledger_wait *wait;

	if (is_alone || purse_spend(&meter->purse, clock_steady_ms())) {
		meter_rest(meter);
		fn(context, is_alone ? ledger_take_alone(ledger, meter) : 0);
		return NULL;
	}
	wait = mem_alloc(1, sizeof(*wait));
	wait->meter = meter;
	wait->fn = fn;
	wait->context = context;
	TAILQ_INSERT_TAIL(&meter->waits, wait, entry);
	meter->wait_count++;
	ledger->wait_count++;
	meter_rest(meter);		/* it is idle no more */
	if (meter->asked_for == 0 && !is_opening)
		meter_ask(meter);
	return wait;
}

void
ledger_forget(struct ledger_wait **wait)
{
	if (*wait != NULL)
		(*wait)->fn = NULL;
	*wait = NULL;
}

void
ledger_add_status(const struct ledger *ledger, struct slice token,
    struct str *out)
{
	struct store_state state = store_state(ledger->store);
	int64_t now_ms = clock_steady_ms();
	size_t batched = 0;
	const struct meter *meter;

	members_add_status(ledger->members, token, now_ms, out);
	str_addf(out, SLICE_FMT " redis %s %s %" PRId64 " %s\n",
	    SLICE_ARG(token), state.place, state.is_up ? "up" : "away",
	    (now_ms - state.since_ms) / 1000, state.is_up ? "-" : state.why);
	TAILQ_FOREACH(meter, &ledger->idle, entry)
		batched += !purse_is_empty(&meter->purse, now_ms);
	str_addf(out, SLICE_FMT " figures %.1f %zu %u %zu\n" SLICE_FMT
	    " ok\n", SLICE_ARG(token), ledger->trips_a_second, batched,
	    members_count(ledger->members), holdings_held(ledger->holdings),
	    SLICE_ARG(token));
}
