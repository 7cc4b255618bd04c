/* store.c - the Redis that all nodes share: one connection, and a breaker
 *
 * In     questions; readiness of a socket; answers
 * Out    answers, or that there is none
 * Holds  one connection, what was asked on it and is not answered
 * Trusts nothing in an answer: lengths are bounded, what is no answer opens
 *        the breaker
 * Spec   store.h; grammar/resp.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/mem.h"
#include "grammar/resp.h"
#include "io/stream.h"
#include "journal/event.h"
#include "share/redis/dial.h"
#include "share/redis/said.h"
#include "share/redis/store.h"

#include "base/banned.h"

enum { SHA_BYTES = 40, NUMBER_BYTES = 24 };

enum store_step {		/* in this order, when it greets */
	STEP_AUTH, STEP_ROLE, STEP_LOAD, STEP_QUESTION
};

struct asked {			/* in flight */
	enum store_step		 step;
	enum words_script	 script;
	bool			 is_again;	/* with the script's text */
	int64_t			 until_ms;
	struct str		 words;		/* after the script */
	size_t			 count;		/* of them */
	store_answer_fn		*fn;
	void			*context;
	TAILQ_ENTRY(asked)	 entry;
};

struct store {
	struct process		*process;
	struct store_goal	 goal;
	const struct places	*places;	/* of goal */
	loop_fn			*changed_fn;
	void			*context;
	int64_t			 patience_ms, greets_ms;
	size_t			 place;		/* that is tried, or was last */
	size_t			 tried;		/* of this round */
	const struct store_place *at;		/* the same, or the master that
						 * a sentinel told */
	struct sentinels	*sentinels;	/* NULL: places are of Redis */
	struct dial		*dial;		/* that connects; NULL */
	struct stream		*stream;	/* of what is connected */
	bool			 is_up, was_told;
	int64_t			 since_ms, round_ms;
	char			 shas[SCRIPT_COUNT][SHA_BYTES + 1];
	TAILQ_HEAD(, asked)	 asked;
	size_t			 asked_count;
	uint64_t		 trips;
	char			 why[STORE_WHY_BYTES];
	struct timer		 timer, flush_timer;
	int64_t			 probe_ms;	/* until the next round */
	bool			 is_useful;	/* has answered a question
						 * since it is up */
};

static void store_try(struct store *store);
static void store_fail(struct store *store, const char *why);

static void
asked_free(struct store *store, struct asked *asked)
{
	TAILQ_REMOVE(&store->asked, asked, entry);
	store->asked_count--;
	str_release(&asked->words);
	mem_free(&asked);
}

/* ---- deadlines -------------------------------------------------------- */

static void
store_on_time(void *context)
{
	struct store *store = context;

	if (store->dial == NULL && store->stream == NULL) {
		store->tried = 0;
		store_try(store);
		return;
	}
	store_fail(store, "it does not answer");
}

static void
store_watch_time(struct store *store)
{
	const struct asked *first = TAILQ_FIRST(&store->asked);

	if (first == NULL)
		timer_clear(&store->timer);
	else
		timer_set(store->process->loop, &store->timer,
		    first->until_ms, store_on_time, store);
}

/* words: when it is not TLS that failed. */
static void
store_fail_broken(struct store *store, const char *words)
{
	char why[STORE_WHY_BYTES];

	if (stream_tls(store->stream) != STREAM_TLS_FAILED) {
		store_fail(store, words);
		return;
	}
	snprintf(why, sizeof(why), "TLS: %s",
	    stream_tls_trouble(store->stream));
	store_fail(store, why);
}

/* ---- what is said ----------------------------------------------------- */

static void
store_on_flush(void *context)
{
	struct store *store = context;

	if (store->stream == NULL)
		return;
	if (stream_flush(store->stream) == STREAM_FLUSH_BROKEN)
		store_fail_broken(store, "the connection broke");
	else
		stream_await(store->stream, true);
}

/* What is asked in one turn leaves in one write. */
static void
store_say(struct store *store, const struct str *bytes)
{
	stream_say(store->stream, str_slice(bytes));
	if (store->flush_timer.at_ms == 0)
		timer_set(store->process->loop, &store->flush_timer,
		    clock_steady_ms(), store_on_flush, store);
}

static struct asked *
store_push(struct store *store, enum store_step step)
{
	struct asked *asked = mem_alloc(1, sizeof(*asked));

	asked->step = step;
	asked->until_ms = clock_steady_ms() + (step == STEP_QUESTION ?
	    store->patience_ms : store->greets_ms);
	str_init(&asked->words);
	TAILQ_INSERT_TAIL(&store->asked, asked, entry);
	store->asked_count++;
	if (TAILQ_FIRST(&store->asked) == asked)
		store_watch_time(store);
	return asked;
}

static struct asked *
store_say_command(struct store *store, enum store_step step,
    const struct slice *words, size_t count)
{
	struct asked *asked = store_push(store, step);
	struct str bytes = STR_INIT;

	resp_add_command(&bytes, words, count);
	store_say(store, &bytes);
	explicit_bzero(bytes.buf, bytes.len);	/* a password, maybe */
	str_release(&bytes);
	return asked;
}

static void
store_greet(struct store *store)
{
	struct slice words[3] = { SLICE("AUTH") };

	if (store->goal.password != NULL) {
		words[1] = slice_of(store->goal.password);
		(void)store_say_command(store, STEP_AUTH, words, 2);
	}
	words[0] = SLICE("ROLE");
	(void)store_say_command(store, STEP_ROLE, words, 1);
	words[0] = SLICE("SCRIPT");
	words[1] = SLICE("LOAD");
	for (int i = 0; i < SCRIPT_COUNT; i++) {
		words[2] = slice_of(words_scripts[i]);
		store_say_command(store, STEP_LOAD, words, 3)->script =
		    (enum words_script)i;
	}
}

static void
store_say_question(struct store *store, const struct asked *asked)
{
	struct str bytes = STR_INIT;

	resp_add_head(&bytes, asked->count + 2);
	resp_add_word(&bytes, asked->is_again ? SLICE("EVAL") :
	    SLICE("EVALSHA"));
	resp_add_word(&bytes, slice_of(asked->is_again ?
	    words_scripts[asked->script] : store->shas[asked->script]));
	str_add_slice(&bytes, str_slice(&asked->words));
	store_say(store, &bytes);
	str_release(&bytes);
}

/* ---- up and away ------------------------------------------------------ */

static void
store_drop(struct store *store)
{
	timer_clear(&store->flush_timer);
	sentinels_stop(store->sentinels);
	dial_free(&store->dial);
	stream_free(&store->stream);
}

/* Answered only when all is as it will be: who is answered may ask. */
static void
store_answer_away(struct store *store)
{
	struct asked *asked;
	store_answer_fn *fn;
	void *context;

	while (!store->is_up && (asked = TAILQ_FIRST(&store->asked)) != NULL) {
		fn = asked->fn;
		context = asked->context;
		asked_free(store, asked);
		if (fn != NULL)
			fn(context, true, slice_of(store->why));
	}
}

static void
store_tell_away(struct store *store)
{
	if (store->was_told && !store->is_up)
		return;
	store->was_told = true;
	store->is_up = false;
	store->since_ms = clock_steady_ms();
	event(EV_SHARE_LOST, NULL, "redis",
	    slice_of(store->at->text), "reason",
	    slice_of(store->why), NULL);
	store->changed_fn(store->context);
}

/* One that greets and then answers no question (its memory is full, its
 * scripts are slow) is tried less and less often. */
static void
store_fell(struct store *store)
{
	store->tried = 0;
	store->probe_ms = store->is_useful ? STORE_PROBE_MS :
	    store->probe_ms * 2;
	if (store->probe_ms > STORE_PROBE_MS_MAX)
		store->probe_ms = STORE_PROBE_MS_MAX;
	store->is_useful = false;
}

/* The next place of this round; after the last one a second later. */
static void
store_fail(struct store *store, const char *why)
{
	int64_t now_ms = clock_steady_ms(), at_ms;
	bool was_up = store->is_up;
	bool is_late = !store->was_told &&
	    now_ms >= store->since_ms + store->patience_ms;

	snprintf(store->why, sizeof(store->why), "%s", why);
	store_drop(store);
	if (was_up)
		store_fell(store);
	if (!was_up && store->tried < store->places->count) {
		store->is_up = false;
		store_answer_away(store);	/* of the greeting: nobody */
		if (is_late)
			store_tell_away(store);
		store_try(store);
		return;
	}
	store_tell_away(store);
	at_ms = store->round_ms + store->probe_ms;
	timer_set(store->process->loop, &store->timer,
	    at_ms > now_ms ? at_ms : now_ms + STORE_PROBE_MS / 10,
	    store_on_time, store);
	store_answer_away(store);
}

static void
store_is_greeted(struct store *store)
{
	store->is_up = store->was_told = true;
	store->is_useful = false;
	store->tried = 0;
	event(EV_SHARE_BACK, NULL, "redis",
	    slice_of(store->at->text), "seconds",
	    event_number((clock_steady_ms() - store->since_ms) / 1000),
	    NULL);
	store->since_ms = clock_steady_ms();
	store->changed_fn(store->context);
}

/* ---- what is answered ------------------------------------------------- */

static void
store_fail_error(struct store *store, struct slice text)
{
	char why[STORE_WHY_BYTES];

	said_error(text, why, sizeof(why));
	store_fail(store, why);
}

/* One step of the greeting.  false: the store failed. */
static bool
store_take_greeting(struct store *store, const struct asked *asked,
    enum resp_answer answer, struct slice text)
{
	const enum store_step step = asked->step;
	char *sha = store->shas[asked->script];

	if (answer == RESP_ERROR) {
		store_fail_error(store, text);
		return false;
	}
	if (step == STEP_ROLE &&
	    (answer != RESP_ARRAY || !said_is_master(text))) {
		store_fail(store, "it is not the master");
		return false;
	}
	if (step == STEP_LOAD) {
		if (answer != RESP_VALUE || text.n != SHA_BYTES) {
			store_fail(store, "what it answers is no checksum");
			return false;
		}
		memcpy(sha, text.p, SHA_BYTES);
		sha[SHA_BYTES] = '\0';
	}
	if (step == STEP_LOAD && asked->script == SCRIPT_COUNT - 1)
		store_is_greeted(store);
	return true;
}

/* It has forgotten its scripts (a restart, SCRIPT FLUSH): the text takes the
 * place of its checksum, once, and is there for those after it. */
static void
store_ask_again(struct store *store, struct asked *asked)
{
	asked->is_again = true;
	TAILQ_REMOVE(&store->asked, asked, entry);
	TAILQ_INSERT_TAIL(&store->asked, asked, entry);
	store_say_question(store, asked);
}

static bool
store_take_answer(struct store *store, enum resp_answer answer,
    struct slice text)
{
	struct asked *asked = TAILQ_FIRST(&store->asked), was;
	enum store_step step;
	store_answer_fn *fn;
	void *context;

	if (asked == NULL) {
		store_fail(store, "it answers what nobody asked");
		return false;
	}
	store->trips++;
	step = asked->step;
	if (step == STEP_QUESTION && answer == RESP_ERROR &&
	    slice_starts(text, "NOSCRIPT") && !asked->is_again) {
		store_ask_again(store, asked);
		return true;
	}
	fn = asked->fn;
	context = asked->context;
	if (step == STEP_QUESTION && answer == RESP_ERROR &&
	    slice_starts(text, "WRONGTYPE")) {	/* of this key alone */
		asked_free(store, asked);
		fn(context, true, text);
		return true;
	}
	if (step == STEP_QUESTION && answer != RESP_VALUE) {
		store_fail_error(store, answer == RESP_ERROR ? text :
		    SLICE("what is no answer"));
		return false;
	}
	was = *asked;
	asked_free(store, asked);
	if (step != STEP_QUESTION)
		return store_take_greeting(store, &was, answer, text);
	store->is_useful = true;
	fn(context, false, text);
	return true;
}

/* All answers that have come.  Who is answered reads no other stream. */
static void
store_on_ready(void *context)
{
	struct store *store = context;
	enum resp_answer answer;
	enum stream_got got = stream_fill(store->stream);
	struct slice text;
	size_t used;

	for (;;) {
		answer = resp_read(stream_input(store->stream), &text, &used);
		if (answer == RESP_MORE)
			break;
		if (answer == RESP_BAD) {
			store_fail(store, "what it answers is no RESP");
			return;
		}
		if (!store_take_answer(store, answer, text))
			return;
		stream_consume(store->stream, used);
	}
	if (got == STREAM_EOF || got == STREAM_BROKEN) {
		store_fail_broken(store, "it closed the connection");
		return;
	}
	if (stream_input(store->stream).n > 0 &&
	    TAILQ_EMPTY(&store->asked)) {
		store_fail(store, "it answers what nobody asked");
		return;
	}
	store_watch_time(store);
	store_on_flush(store);
}

/* ---- connecting ------------------------------------------------------- */

static void
store_on_connected(void *context, int fd, const struct err *trouble)
{
	struct store *store = context;
	struct err err;

	store->dial = NULL;
	if (fd < 0) {
		store_fail(store, trouble->text);
		return;
	}
	store->stream = stream_new(store->process->loop, fd, store_on_ready,
	    store);
	if (dial_encrypt(store->stream, store->goal.tls, store->at->host,
	    &err) < 0)
		store_fail(store, err.text);
	else
		store_greet(store);
}

static void
store_dial(struct store *store)
{
	struct err err;

	store->dial = dial_new(store->process->loop, store->at,
	    store_on_connected, store, &err);
	if (store->dial == NULL)
		store_fail(store, err.text);
	else
		timer_set(store->process->loop, &store->timer,
		    clock_steady_ms() + store->patience_ms, store_on_time,
		    store);
}

/* sentinels_fn */
static void
store_on_master(void *context, const struct store_place *master,
    const char *why)
{
	struct store *store = context;

	if (master == NULL) {
		store_fail(store, why);
		return;
	}
	store->at = master;
	store_dial(store);
}

/* The next place: of a Redis, or of who knows where it is. */
static void
store_try(struct store *store)
{
	if (store->tried == 0)
		store->round_ms = clock_steady_ms();
	if (store->places->count == 0) {
		store_fail(store, "no address of it is known");
		return;
	}
	if (store->tried++ > 0)
		store->place = (store->place + 1) % store->places->count;
	store->at = &store->places->at[store->place];
	timer_clear(&store->timer);
	if (store->sentinels != NULL)
		sentinels_ask(store->sentinels, store->at);
	else
		store_dial(store);
}

/* ---- public ----------------------------------------------------------- */

struct store *
store_new(struct process *process, const struct store_goal *goal,
    loop_fn *changed_fn, void *context)
{
	struct store *store = mem_alloc(1, sizeof(*store));

	store->process = process;
	store->goal = *goal;
	store->places = goal->places;
	store->at = &goal->places->at[0];
	store->changed_fn = changed_fn;
	store->context = context;
	store->patience_ms = process->conf->cluster.patience_ms;
	store->greets_ms = goal->tls == NULL ? store->patience_ms :
	    store->patience_ms + STORE_SHAKE_MS;
	if (goal->sentinels.master != NULL)
		store->sentinels = sentinels_new(process->loop,
		    &goal->sentinels, store->greets_ms, store_on_master,
		    store);
	store->probe_ms = STORE_PROBE_MS;
	store->since_ms = clock_steady_ms();
	snprintf(store->why, sizeof(store->why), "not asked yet");
	TAILQ_INIT(&store->asked);
	timer_set(process->loop, &store->timer, store->since_ms,
	    store_on_time, store);
	return store;
}

void
store_free(struct store **pstore)
{
	struct store *store = *pstore;
	struct asked *asked;

	if (store == NULL)
		return;
	store_drop(store);
	sentinels_free(&store->sentinels);
	timer_clear(&store->timer);
	while ((asked = TAILQ_FIRST(&store->asked)) != NULL)
		asked_free(store, asked);
	mem_free(pstore);
}

bool
store_is_open(const struct store *store)
{
	return store->is_up && store->asked_count < STORE_ASKED_MAX;
}

void
store_ask(struct store *store, const struct store_question *question,
    store_answer_fn *fn, void *context)
{
	const size_t keys = question->key_count, args = question->arg_count;
	char number[NUMBER_BYTES];
	struct asked *asked;

	if (!store_is_open(store)) {
		fn(context, true, slice_of(store->is_up ?
		    "too many questions" : store->why));
		return;
	}
	asked = store_push(store, STEP_QUESTION);
	asked->script = question->script;
	asked->fn = fn;
	asked->context = context;
	asked->count = keys + args + 1;
	snprintf(number, sizeof(number), "%zu", keys);
	resp_add_word(&asked->words, slice_of(number));
	for (size_t i = 0; i < keys; i++)
		resp_add_word(&asked->words, question->keys[i]);
	for (size_t i = 0; i < args; i++)
		resp_add_word(&asked->words, question->args[i]);
	store_say_question(store, asked);
}

struct store_state
store_state(const struct store *store)
{
	return (struct store_state){ store->is_up,
	    !store->is_up && !store->was_told, store->since_ms,
	    store->at->text, store->why, store->trips };
}
