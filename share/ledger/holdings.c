/* holdings.c - the places of a limit that all nodes share
 *
 * In     who takes, keeps and gives back; answers of the store
 * Out    names of places, or that all are taken
 * Holds  what this node holds: each place by its name, and how many of each key
 * Trusts no key and no name: hashes are seeded, their number is bounded
 * Spec   holdings.h; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "share/count/budget.h"
#include "share/ledger/holdings.h"

#include "base/banned.h"

enum { CHAINS = 4096, NUMBER_BYTES = 24 };

struct pool {			/* the places of one key and its limit */
	struct pool		*next;		/* of its chain */
	uint64_t		 count;
	size_t			 held, waits;
	size_t			 key_bytes;
	char			 key[];
};

struct holding {
	struct pool		*pool;
	struct holding		*next;		/* of its chain */
	char			 name[WORDS_NAME_BYTES_MAX + 1];
	int64_t			 until_ms;	/* unless it is kept */
	bool			 is_due;	/* to be kept in Redis */
	TAILQ_ENTRY(holding)	 entry;		/* oldest first */
	TAILQ_ENTRY(holding)	 due;
};

struct holding_wait {
	struct holdings		*holdings;
	struct pool		*pool;
	char			 name[WORDS_NAME_BYTES_MAX + 1];
	holdings_answer_fn		*fn;		/* NULL: forgotten */
	void			*context;
	bool			 is_asked;	/* in asked, else in unasked */
	TAILQ_ENTRY(holding_wait)	 entry;
};

TAILQ_HEAD(holding_list, holding);
TAILQ_HEAD(holding_wait_list, holding_wait);

struct holdings {
	struct process		*process;
	struct store		*store;
	const struct members	*members;
	struct pool		*pools[CHAINS];
	struct holding		*names[CHAINS];
	struct holding_list	 all, due;
	/* unasked: nobody knows yet whether Redis is there */
	struct holding_wait_list asked, unasked;
	size_t			 held, waits;
	bool			 is_keeping;	/* a script is under way */
	struct timer		 sweep_timer, keep_timer;
};

static void holdings_keep_due(void *context);

/* ---- pools ------------------------------------------------------------ */

static size_t
holdings_chain(struct slice text)
{
	return siphash(siphash_process_key(), text).low % CHAINS;
}

static struct slice
pool_key(const struct pool *pool)
{
	return (struct slice){ pool->key, pool->key_bytes };
}

static struct pool *
pool_find(struct holdings *own, struct slice key, uint64_t count)
{
	struct pool **chain = &own->pools[holdings_chain(key)], *pool;

	for (pool = *chain; pool != NULL; pool = pool->next)
		if (pool->count == count && slice_equal(pool_key(pool), key))
			return pool;
	pool = mem_alloc(1, sizeof(*pool) + key.n + 1);
	pool->count = count;
	pool->key_bytes = key.n;
	memcpy(pool->key, key.p, key.n);
	pool->next = *chain;
	*chain = pool;
	return pool;
}

static void
pool_rest(struct holdings *own, struct pool *pool)
{
	struct pool **at = &own->pools[holdings_chain(pool_key(pool))];

	if (pool->held > 0 || pool->waits > 0)
		return;
	while (*at != pool)
		at = &(*at)->next;
	*at = pool->next;
	mem_free(&pool);
}

/* ---- holdings --------------------------------------------------------- */

static struct holding *
holding_find(const struct holdings *own, struct slice name)
{
	struct holding *holding = own->names[holdings_chain(name)];

	while (holding != NULL && !slice_is(name, holding->name))
		holding = holding->next;
	return holding;
}

static void
holding_free(struct holdings *own, struct holding *holding)
{
	struct holding **at = &own->names[holdings_chain(slice_of(
	    holding->name))];

	while (*at != holding)
		at = &(*at)->next;
	*at = holding->next;
	TAILQ_REMOVE(&own->all, holding, entry);
	if (holding->is_due)
		TAILQ_REMOVE(&own->due, holding, due);
	own->held--;
	holding->pool->held--;
	pool_rest(own, holding->pool);
	mem_free(&holding);
}

/* Nobody says any more that it is held: Redis has forgotten it as well. */
static void
holdings_on_sweep(void *context)
{
	struct holdings *own = context;
	struct holding *holding;

	while ((holding = TAILQ_FIRST(&own->all)) != NULL &&
	    holding->until_ms <= clock_steady_ms())
		holding_free(own, holding);
	if (holding != NULL)
		timer_set(own->process->loop, &own->sweep_timer,
		    holding->until_ms, holdings_on_sweep, own);
}

/* From now on; the list stays in order. */
static void
holding_extend(struct holdings *own, struct holding *holding)
{
	holding->until_ms = clock_steady_ms() + HOLDINGS_FOR_MS;
	TAILQ_INSERT_TAIL(&own->all, holding, entry);
	if (own->sweep_timer.at_ms == 0)
		timer_set(own->process->loop, &own->sweep_timer,
		    holding->until_ms, holdings_on_sweep, own);
}

static struct holding *
holding_add(struct holdings *own, struct pool *pool, struct slice name)
{
	struct holding **chain = &own->names[holdings_chain(name)];
	struct holding *holding = mem_alloc(1, sizeof(*holding));

	memcpy(holding->name, name.p, name.n);
	holding->pool = pool;
	holding->next = *chain;
	*chain = holding;
	pool->held++;
	own->held++;
	holding_extend(own, holding);
	return holding;
}

static void
holding_mark_due(struct holdings *own, struct holding *holding)
{
	if (holding->is_due)
		return;
	holding->is_due = true;
	TAILQ_INSERT_TAIL(&own->due, holding, due);
}

/* ---- Redis ------------------------------------------------------------ */

static void
holdings_add_member(struct str *out, const struct holdings *own,
    const char *name)
{
	str_addf(out, "%s:%s", own->process->conf->cluster.self, name);
}

/* One script call about many places, each by its key and its member. */
struct holdings_batch {
	struct str	keys[HOLDINGS_BATCH], members[HOLDINGS_BATCH];
	size_t		count;
};

static void
holdings_batch_add(struct holdings_batch *batch, const struct holdings *own,
    const struct pool *pool, const char *name)
{
	struct str *key = &batch->keys[batch->count];
	struct str *member = &batch->members[batch->count++];

	str_init(key);
	str_init(member);
	words_add_slots_key(key, own->process->conf->cluster.name,
	    pool_key(pool), pool->count);
	holdings_add_member(member, own, name);
}

/* for_ms 0: they are given back. */
static void
holdings_batch_ask(struct holdings_batch *batch, struct holdings *own,
    int64_t for_ms, store_answer_fn *fn)
{
	char number[NUMBER_BYTES];
	struct slice keys[HOLDINGS_BATCH], args[HOLDINGS_BATCH + 1];
	const struct store_question question = { SCRIPT_KEEP, keys, args,
	    batch->count, batch->count + 1 };

	snprintf(number, sizeof(number), "%" PRId64, for_ms);
	args[0] = slice_of(number);
	for (size_t i = 0; i < batch->count; i++) {
		keys[i] = str_slice(&batch->keys[i]);
		args[i + 1] = str_slice(&batch->members[i]);
	}
	store_ask(own->store, &question, fn, own);
	for (size_t i = 0; i < batch->count; i++) {
		str_release(&batch->keys[i]);
		str_release(&batch->members[i]);
	}
}

/* store_answer_fn: what is away is entered again when it is back. */
static void
holdings_on_kept(void *context, bool is_away, struct slice text)
{
	struct holdings *own = context;

	own->is_keeping = false;
	if (!is_away)
		holdings_keep_due(own);
}

/* store_answer_fn: it is gone there sooner or later. */
static void
holdings_on_dropped(void *context, bool is_away, struct slice text)
{
}

/* One batch at a time: what all sessions of a node say at once keeps nobody
 * waiting who asks for a new one. */
static void
holdings_keep_due(void *context)
{
	struct holdings *own = context;
	struct holdings_batch batch = { .count = 0 };
	struct holding *holding;

	if (own->is_keeping || !store_is_open(own->store))
		return;
	while (batch.count < HOLDINGS_BATCH &&
	    (holding = TAILQ_FIRST(&own->due)) != NULL) {
		TAILQ_REMOVE(&own->due, holding, due);
		holding->is_due = false;
		holdings_batch_add(&batch, own, holding->pool, holding->name);
	}
	if (batch.count == 0)
		return;
	own->is_keeping = true;
	holdings_batch_ask(&batch, own, HOLDINGS_FOR_MS, holdings_on_kept);
}

static void
holdings_drop_there(struct holdings *own, const struct pool *pool,
    const char *name)
{
	struct holdings_batch batch = { .count = 0 };

	if (!store_is_open(own->store))
		return;
	holdings_batch_add(&batch, own, pool, name);
	holdings_batch_ask(&batch, own, 0, holdings_on_dropped);
}

/* ---- taking ----------------------------------------------------------- */

/* It is answered, and gone. */
static void
holding_wait_answer(struct holding_wait *wait, bool is_taken)
{
	struct holdings *own = wait->holdings;
	struct pool *pool = wait->pool;

	TAILQ_REMOVE(wait->is_asked ? &own->asked : &own->unasked, wait,
	    entry);
	own->waits--;
	pool->waits--;
	if (is_taken && wait->fn != NULL)
		(void)holding_add(own, pool, slice_of(wait->name));
	else if (is_taken)
		holdings_drop_there(own, pool, wait->name);
	if (wait->fn != NULL)
		wait->fn(wait->context, is_taken ? wait->name : NULL);
	pool_rest(own, pool);
	mem_free(&wait);
}

static void
holding_wait_decide_alone(struct holding_wait *wait)
{
	holding_wait_answer(wait, wait->pool->held < budget_alone(
	    wait->pool->count, members_count(wait->holdings->members)));
}

/* store_answer_fn */
static void
holding_wait_on_answer(void *context, bool is_away, struct slice text)
{
	struct holding_wait *wait = context;
	bool is_known = slice_is(text, "ok") || slice_is(text, "over");

	if (is_away || !is_known)
		holding_wait_decide_alone(wait);
	else
		holding_wait_answer(wait, slice_is(text, "ok"));
}

static void
holding_wait_ask(struct holding_wait *wait)
{
	struct holdings *own = wait->holdings;
	const struct pool *pool = wait->pool;
	char numbers[2][NUMBER_BYTES];
	struct str key = STR_INIT, member = STR_INIT;
	struct slice name, args[3];

	TAILQ_REMOVE(&own->unasked, wait, entry);
	TAILQ_INSERT_TAIL(&own->asked, wait, entry);
	wait->is_asked = true;
	words_add_slots_key(&key, own->process->conf->cluster.name,
	    pool_key(pool), pool->count);
	holdings_add_member(&member, own, wait->name);
	snprintf(numbers[0], NUMBER_BYTES, "%" PRIu64, pool->count);
	snprintf(numbers[1], NUMBER_BYTES, "%d", HOLDINGS_FOR_MS);
	name = str_slice(&key);
	args[0] = slice_of(numbers[0]);
	args[1] = slice_of(numbers[1]);
	args[2] = str_slice(&member);
	store_ask(own->store, &(struct store_question){ SCRIPT_HOLD, &name,
	    args, 1, 3 }, holding_wait_on_answer, wait);
	str_release(&key);
	str_release(&member);
}

/* ---- public ----------------------------------------------------------- */

struct holdings *
holdings_new(struct process *process, struct store *store,
    const struct members *members)
{
	struct holdings *own = mem_alloc(1, sizeof(*own));

	own->process = process;
	own->store = store;
	own->members = members;
	TAILQ_INIT(&own->all);
	TAILQ_INIT(&own->due);
	TAILQ_INIT(&own->asked);
	TAILQ_INIT(&own->unasked);
	return own;
}

static void
holding_waits_free(struct holding_wait_list *list)
{
	struct holding_wait *wait;

	while ((wait = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, wait, entry);
		mem_free(&wait);
	}
}

void
holdings_free(struct holdings **pholdings)
{
	struct holdings *own = *pholdings;

	if (own == NULL)
		return;
	timer_clear(&own->sweep_timer);
	timer_clear(&own->keep_timer);
	holding_waits_free(&own->asked);
	holding_waits_free(&own->unasked);
	while (!TAILQ_EMPTY(&own->all))
		holding_free(own, TAILQ_FIRST(&own->all));
	for (size_t i = 0; i < CHAINS; i++)
		while (own->pools[i] != NULL) {
			own->pools[i]->waits = 0;
			pool_rest(own, own->pools[i]);
		}
	mem_free(pholdings);
}

bool
holdings_have_room(const struct holdings *own)
{
	return own->held + own->waits < HOLDINGS_MAX;
}

size_t
holdings_held(const struct holdings *own)
{
	return own->held;
}

struct holding_wait *
holdings_take(struct holdings *own, struct slice key, uint64_t count,
    holdings_answer_fn *fn, void *context)
{
	struct holding_wait *wait = mem_alloc(1, sizeof(*wait));

	wait->holdings = own;
	wait->pool = pool_find(own, key, count);
	wait->fn = fn;
	wait->context = context;
	wait->pool->waits++;
	own->waits++;
	/* unique on this node, also among those of the process before */
	snprintf(wait->name, sizeof(wait->name), "%08" PRIx32 "%08" PRIx32,
	    arc4random(), arc4random());
	TAILQ_INSERT_TAIL(&own->unasked, wait, entry);
	if (store_state(own->store).is_opening)
		return wait;
	if (!store_is_open(own->store)) {
		holding_wait_decide_alone(wait);
		return NULL;
	}
	holding_wait_ask(wait);
	return wait;
}

void
holdings_forget(struct holding_wait **wait)
{
	if (*wait != NULL)
		(*wait)->fn = NULL;
	*wait = NULL;
}

void
holdings_keep(struct holdings *own, struct slice name, struct slice key,
    uint64_t count)
{
	struct holding *holding = holding_find(own, name);

	if (holding == NULL && !holdings_have_room(own))
		return;
	if (holding == NULL) {
		holding = holding_add(own, pool_find(own, key, count), name);
	} else {
		TAILQ_REMOVE(&own->all, holding, entry);
		holding_extend(own, holding);
	}
	holding_mark_due(own, holding);
	/* with all others that are told in this turn */
	if (own->keep_timer.at_ms == 0)
		timer_set(own->process->loop, &own->keep_timer,
		    clock_steady_ms(), holdings_keep_due, own);
}

void
holdings_drop(struct holdings *own, struct slice name, struct slice key,
    uint64_t count)
{
	struct holding *holding = holding_find(own, name);
	struct pool *pool = pool_find(own, key, count);
	char text[WORDS_NAME_BYTES_MAX + 1];

	snprintf(text, sizeof(text), SLICE_FMT, SLICE_ARG(name));
	holdings_drop_there(own, pool, text);
	pool->waits++;			/* it stays for a moment */
	if (holding != NULL)
		holding_free(own, holding);
	pool->waits--;
	pool_rest(own, pool);
}

void
holdings_change(struct holdings *own)
{
	struct holding_wait *wait;
	struct holding *holding;

	while (!store_state(own->store).is_opening &&
	    (wait = TAILQ_FIRST(&own->unasked)) != NULL)
		holding_wait_ask(wait);
	if (!store_state(own->store).is_up)
		return;
	TAILQ_FOREACH(holding, &own->all, entry)
		holding_mark_due(own, holding);
	holdings_keep_due(own);
}
