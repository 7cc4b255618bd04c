/* pool.c - one table: what is asked of it, and the processes that ask
 *
 * In     keys; answers of the processes; time
 * Out    answers
 * Holds  questions (who waits for which key), processes, the answers kept,
 *        when it is asked again after nobody answered
 * Trusts no process to answer, or to answer what was asked
 * Spec   pool.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <sys/queue.h>

#include "base/cache.h"
#include "base/clock.h"
#include "base/mem.h"
#include "daemon/child.h"
#include "journal/event.h"
#include "tables/ask/pool.h"
#include "tables/ask/worker.h"

#include "base/banned.h"

struct question;

struct pool_wait {
	struct question		*question;
	pool_answer_fn		*fn;
	void			*context;
	TAILQ_ENTRY(pool_wait)	 entry;
};

struct question {
	struct pool		*pool;
	struct str		 key;		/* "": for all names */
	TAILQ_HEAD(, pool_wait)	 waits;
	struct asker		*asker;		/* NULL: it waits for one */
	struct timer		 timer;		/* its time is over */
	TAILQ_ENTRY(question)	 entry;		/* of all */
	TAILQ_ENTRY(question)	 turn;		/* of those of the asker */
};

struct asker {			/* a process */
	struct pool		*pool;
	struct child		*child;
	TAILQ_HEAD(, question)	 turns;		/* answers come in this order;
						 * none: it is free */
	int64_t			 since_ms;	/* it has them */
};

struct pool {
	struct process		*process;
	char			*name, *path;	/* path: of the definition */
	const struct engine	*engine;
	struct definition	 definition;
	bool			 is_good;	/* the definition */
	struct err		 bad;		/* why not */
	struct cache		*known;
	struct asker		 askers[POOL_PROCESSES];
	TAILQ_HEAD(, question)	 questions;	/* oldest first */
	size_t			 count;
	bool			 is_slow;	/* the last answers were */
	int64_t			 away_until_ms;	/* 0: it answers */
	unsigned		 aways;		/* in a row */
	struct err		 away;
};

static void pool_advance(struct pool *pool);

/* ---- questions -------------------------------------------------------- */

static void
question_end(struct question *question, const struct pool_answer *answer)
{
	struct pool *pool = question->pool;
	struct pool_wait *wait;

	TAILQ_REMOVE(&pool->questions, question, entry);
	pool->count--;
	timer_clear(&question->timer);
	if (question->asker != NULL)
		TAILQ_REMOVE(&question->asker->turns, question, turn);
	while ((wait = TAILQ_FIRST(&question->waits)) != NULL) {
		TAILQ_REMOVE(&question->waits, wait, entry);
		wait->fn(wait->context, answer);
		mem_free(&wait);
	}
	str_release(&question->key);
	mem_free(&question);
}

/* Trouble. */
static void
question_fail(struct question *question, struct slice words)
{
	const struct pool_answer answer = { TABLE_TROUBLE, words, 0 };

	question_end(question, &answer);
}

/* One more name of a list. */
static void
question_add_row(struct question *question, struct slice name)
{
	const struct pool_answer row = { TABLE_FOUND, name, 0 };
	struct pool_wait *wait;

	TAILQ_FOREACH(wait, &question->waits, entry)
		wait->fn(wait->context, &row);
}

static struct question *
question_find(struct pool *pool, struct slice key)
{
	struct question *question;

	if (key.n == 0)		/* who lists wants all of it */
		return NULL;
	TAILQ_FOREACH(question, &pool->questions, entry)
		if (slice_equal(str_slice(&question->key), key))
			return question;
	return NULL;
}

/* ---- nobody answers --------------------------------------------------- */

/* The journal hears of it once, until something is answered again. */
static void
pool_say(struct pool *pool, const char *words)
{
	if (pool->aways == 1)
		event(EV_TABLE_TROUBLE, NULL, "table", slice_of(pool->name),
		    "file", slice_of(pool->path), "reason",
		    slice_of(words), NULL);
}

/* All that waits has its answer, and what comes in the next moments. */
static void
pool_is_away(struct pool *pool, struct slice words)
{
	struct question *question, *next;
	int64_t wait_ms = POOL_AWAY_MS;

	err_set(&pool->away, SLICE_FMT, SLICE_ARG(words));
	for (unsigned i = 0; i < pool->aways && wait_ms < POOL_AWAY_MAX_MS;
	    i++)
		wait_ms *= 2;
	if (wait_ms > POOL_AWAY_MAX_MS)
		wait_ms = POOL_AWAY_MAX_MS;
	pool->aways++;
	pool->away_until_ms = clock_steady_ms() + wait_ms;
	pool_say(pool, pool->away.text);
	TAILQ_FOREACH_SAFE(question, &pool->questions, entry, next)
		if (question->asker == NULL)
			question_fail(question, slice_of(pool->away.text));
}

/* ---- processes -------------------------------------------------------- */

static void
asker_run(void *context, int socket)
{
	struct asker *asker = context;

	worker_serve(socket, asker->pool->engine, &asker->pool->definition);
}

/* Of an answer such as "found VALUE"; what is kept looks the same. */
static enum table_result
answer_read(struct slice line, struct slice *out_text)
{
	struct slice word;

	*out_text = SLICE("");
	if (slice_is(line, "none"))
		return TABLE_NONE;
	(void)slice_word(&line, &word);
	*out_text = slice_trim(line);
	return slice_is(word, "found") ? TABLE_FOUND : TABLE_TROUBLE;
}

static void
asker_take(struct asker *asker, struct slice line)
{
	struct question *question = TAILQ_FIRST(&asker->turns);
	struct pool *pool = asker->pool;
	bool is_away = slice_starts(line, "away ");
	struct pool_answer answer = { .for_ms = 0 };

	if (question == NULL)
		return;
	if (question->key.len == 0 && slice_starts(line, "row ")) {
		question_add_row(question, slice_from(line, 4));
		return;
	}
	answer.result = answer_read(line, &answer.text);
	if (answer.result != TABLE_TROUBLE)
		pool->aways = 0;
	if (answer.result != TABLE_TROUBLE && line.n <= POOL_KEPT_BYTES &&
	    question->key.len > 0) {
		answer.for_ms = answer.result == TABLE_FOUND ?
		    POOL_FOUND_FOR_MS : POOL_NONE_FOR_MS;
		cache_add(pool->known, str_slice(&question->key), line,
		    clock_steady_ms() + answer.for_ms);
	}
	question_end(question, &answer);
	if (TAILQ_EMPTY(&asker->turns))
		pool->is_slow = clock_steady_ms() - asker->since_ms >
		    POOL_QUICK_MS;
	/* once for all that were asked together */
	if (is_away && clock_steady_ms() >= pool->away_until_ms)
		pool_is_away(pool, answer.text);
}

static void
asker_on_read(void *context)
{
	struct asker *asker = context;
	struct slice line;

	while (child_line(asker->child, &line))
		asker_take(asker, line);
	pool_advance(asker->pool);
}

static void
asker_on_end(void *context, const struct child_end *end)
{
	struct asker *asker = context;
	struct question *question;

	while ((question = TAILQ_FIRST(&asker->turns)) != NULL)
		question_fail(question, SLICE("the process that asked ended"));
	pool_advance(asker->pool);
}

static const struct child_kind asker_kind = {
	.name = "tables-ask", .title = "tables ask", .is_secret = true,
	.end_signal = SIGKILL, .run = asker_run, .read = asker_on_read,
	.ended = asker_on_end,
};

static bool
asker_start(struct asker *asker)
{
	struct err err;

	if (asker->child == NULL)
		asker->child = child_new(asker->pool->process, &asker_kind,
		    asker);
	if (child_is_running(asker->child) ||
	    child_start(asker->child, &err) == 0)
		return true;
	warning("%s", err.text);
	return false;
}

/* One that is free: one that runs before one that must be started. */
static struct asker *
pool_free_asker(struct pool *pool)
{
	struct asker *asleep = NULL;

	for (size_t i = 0; i < POOL_PROCESSES; i++) {
		struct asker *asker = &pool->askers[i];

		if (!TAILQ_EMPTY(&asker->turns))
			continue;
		if (asker->child != NULL && child_is_running(asker->child))
			return asker;
		asleep = asker;
	}
	return asleep != NULL && asker_start(asleep) ? asleep : NULL;
}

static void
asker_give(struct asker *asker, struct question *question)
{
	struct str *out = child_outbox(asker->child);

	question->asker = asker;
	TAILQ_INSERT_TAIL(&asker->turns, question, turn);
	str_adds(out, question->key.len > 0 ? "get " : "list");
	str_add_slice(out, str_slice(&question->key));
	str_addc(out, '\n');
}

/* How many go to one process together.  What is answered in a moment goes in
 * one trip; slow questions, and those that have a trip each, are asked side by
 * side; and after nobody answered, one goes first. */
static size_t
pool_share(const struct pool *pool, size_t waiting)
{
	size_t share = pool->is_slow || pool->engine->ask_all == NULL ?
	    (waiting + POOL_PROCESSES - 1) / POOL_PROCESSES : waiting;

	if (pool->aways > 0)
		return 1;
	return share < ENGINE_TOGETHER_MAX ? share : ENGINE_TOGETHER_MAX;
}

/* Give the asker some of those that wait; all names go alone. */
static void
pool_give_some(struct pool *pool, struct asker *asker, size_t waiting)
{
	size_t share = pool_share(pool, waiting);
	struct question *question;

	asker->since_ms = clock_steady_ms();
	TAILQ_FOREACH(question, &pool->questions, entry) {
		if (question->asker != NULL)
			continue;
		if (question->key.len == 0 && !TAILQ_EMPTY(&asker->turns))
			break;
		asker_give(asker, question);
		if (--share == 0 || question->key.len == 0)
			break;
	}
	child_send(asker->child);
}

static void
pool_advance(struct pool *pool)
{
	struct asker *asker;
	size_t waiting = 0, asked = 0;
	struct question *question;

	TAILQ_FOREACH(question, &pool->questions, entry)
		waiting += question->asker == NULL;
	for (size_t i = 0; i < POOL_PROCESSES; i++)
		asked += !TAILQ_EMPTY(&pool->askers[i].turns);
	if (pool->aways > 0 && asked > 0)
		return;
	while (waiting > 0 && (asker = pool_free_asker(pool)) != NULL) {
		pool_give_some(pool, asker, waiting);
		if (pool->aways > 0)
			return;
		TAILQ_FOREACH(question, &asker->turns, turn)
			waiting--;
	}
}

/* What it did not answer waits again. */
static void
asker_drop(struct asker *asker)
{
	struct question *question;

	while ((question = TAILQ_FIRST(&asker->turns)) != NULL) {
		TAILQ_REMOVE(&asker->turns, question, turn);
		question->asker = NULL;
	}
}

static void
question_on_time(void *context)
{
	struct question *question = context;
	struct pool *pool = question->pool;
	struct asker *asker = question->asker;

	question_fail(question, SLICE("no answer within 5 seconds"));
	if (asker != NULL) {
		child_stop(asker->child);
		asker_drop(asker);
		pool_is_away(pool, SLICE("no answer within 5 seconds"));
	}
	pool_advance(pool);
}

/* ---- the table -------------------------------------------------------- */

struct pool *
tables_pool_new(struct process *process, const char *name, const char *spec)
{
	struct pool *pool = mem_alloc(1, sizeof(*pool));
	const char *type, *path = table_definition_path(spec, &type);

	pool->process = process;
	pool->name = mem_strdup(name);
	pool->path = mem_strdup(path);
	pool->engine = engine_of(type);
	pool->is_good = definition_read(type, path, &pool->definition,
	    &pool->bad) == DEFINITION_GOOD;
	pool->known = cache_new(POOL_KEPT_MAX);
	TAILQ_INIT(&pool->questions);
	for (size_t i = 0; i < POOL_PROCESSES; i++) {
		pool->askers[i].pool = pool;
		TAILQ_INIT(&pool->askers[i].turns);
	}
	if (!pool->is_good)
		event(EV_TABLE_TROUBLE, NULL, "table", slice_of(name),
		    "file", slice_of(path), "reason", slice_of(pool->bad.text),
		    NULL);
	return pool;
}

void
tables_pool_free(struct pool **ppool)
{
	struct pool *pool = *ppool;
	struct question *question;

	if (pool == NULL)
		return;
	while ((question = TAILQ_FIRST(&pool->questions)) != NULL)
		question_fail(question, SLICE("it ends"));
	for (size_t i = 0; i < POOL_PROCESSES; i++)
		child_free(&pool->askers[i].child);
	cache_free(&pool->known);
	definition_release(&pool->definition);
	mem_release(pool->name);
	mem_release(pool->path);
	mem_free(ppool);
}

const char *
pool_name(const struct pool *pool)
{
	return pool->name;
}

static struct question *
question_new(struct pool *pool, struct slice key)
{
	struct question *question = mem_alloc(1, sizeof(*question));

	question->pool = pool;
	str_init(&question->key);
	str_add_slice(&question->key, key);
	TAILQ_INIT(&question->waits);
	TAILQ_INSERT_TAIL(&pool->questions, question, entry);
	pool->count++;
	timer_set(pool->process->loop, &question->timer, clock_steady_ms() +
	    POOL_FOR_MS, question_on_time, question);
	return question;
}

/* What is known without asking?  false: it must be asked. */
static bool
pool_knows(struct pool *pool, struct slice key, struct pool_answer *out)
{
	int64_t now_ms = clock_steady_ms();
	struct slice known;

	*out = (struct pool_answer){ TABLE_TROUBLE, SLICE(""), 0 };
	if (!pool->is_good) {
		out->text = slice_of(pool->bad.text);
		return true;
	}
	if (key.n > 0 && cache_find(pool->known, key, now_ms, &known)) {
		out->result = answer_read(known, &out->text);
		out->for_ms = cache_valid_for(pool->known, key, now_ms);
		return true;
	}
	if (now_ms < pool->away_until_ms) {
		out->text = slice_of(pool->away.text);
		return true;
	}
	if (pool->count < POOL_WAITING_MAX)
		return false;
	out->text = SLICE("too many questions wait");
	return true;
}

/* key "": all names. */
static struct pool_wait *
pool_begin(struct pool *pool, struct slice key, pool_answer_fn *fn,
    void *context)
{
	struct question *question;
	struct pool_answer answer;
	struct pool_wait *wait;

	if (pool_knows(pool, key, &answer)) {
		fn(context, &answer);
		return NULL;
	}
	question = question_find(pool, key);
	if (question == NULL)
		question = question_new(pool, key);
	wait = mem_alloc(1, sizeof(*wait));
	wait->question = question;
	wait->fn = fn;
	wait->context = context;
	TAILQ_INSERT_TAIL(&question->waits, wait, entry);
	pool_advance(pool);
	return wait;
}

struct pool_wait *
pool_ask(struct pool *pool, struct slice key, pool_answer_fn *fn,
    void *context)
{
	const struct pool_answer none = { TABLE_NONE, SLICE(""), 0 };

	if (key.n > 0 && definition_may_have(&pool->definition, key))
		return pool_begin(pool, key, fn, context);
	fn(context, &none);
	return NULL;
}

struct pool_wait *
pool_list(struct pool *pool, pool_answer_fn *fn, void *context)
{
	return pool_begin(pool, SLICE(""), fn, context);
}

void
pool_forget(struct pool_wait **wait)
{
	if (*wait == NULL)
		return;
	TAILQ_REMOVE(&(*wait)->question->waits, *wait, entry);
	mem_free(wait);
}
