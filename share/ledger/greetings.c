/* greetings.c - the greylist that all nodes share
 *
 * In     who comes, for whom; answers of the store
 * Out    how long to wait
 * Holds  who waits for an answer
 * Trusts no address: keys are checksums
 * Spec   greetings.h; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "share/ledger/greetings.h"

#include "base/banned.h"

enum { NUMBER_BYTES = 24, ARGS = 4 };

struct greeting {
	struct greetings	*greetings;
	greetings_answer_fn	*fn;		/* NULL: forgotten */
	void			*context;
	LIST_ENTRY(greeting)	 entry;
};

struct greetings {
	const struct conf_cluster *cluster;
	struct store		*store;
	LIST_HEAD(, greeting)	 asked;
};

struct greetings *
greetings_new(const struct conf_cluster *cluster, struct store *store)
{
	struct greetings *greetings = mem_alloc(1, sizeof(*greetings));

	greetings->cluster = cluster;
	greetings->store = store;
	LIST_INIT(&greetings->asked);
	return greetings;
}

static void
greeting_free(struct greeting *greeting)
{
	LIST_REMOVE(greeting, entry);
	mem_free(&greeting);
}

void
greetings_free(struct greetings **pgreetings)
{
	struct greetings *greetings = *pgreetings;

	if (greetings == NULL)
		return;
	while (!LIST_EMPTY(&greetings->asked))
		greeting_free(LIST_FIRST(&greetings->asked));
	mem_free(pgreetings);
}

/* store_answer_fn */
static void
greeting_on_answer(void *context, bool is_away, struct slice text)
{
	struct greeting *greeting = context;
	int64_t wait_s;

	if (is_away || !words_greeted_read(text, &wait_s))
		wait_s = GREETING_AWAY;
	if (greeting->fn != NULL)
		greeting->fn(greeting->context, wait_s);
	greeting_free(greeting);
}

/* The pair is the whole key, its network the first word. */
static void
greeting_say(struct greeting *greeting, const struct words_question *question)
{
	const struct greetings *greetings = greeting->greetings;
	const uint64_t values[ARGS] = { question->after_s, question->within_s,
		question->keep_s, question->has_passed };
	char numbers[ARGS][NUMBER_BYTES];
	struct str pair = STR_INIT, network = STR_INIT;
	struct slice rest = question->key, net = { NULL, 0 }, keys[2];
	struct slice args[ARGS];

	(void)slice_word(&rest, &net);
	words_add_greet_key(&pair, greetings->cluster->name, question->key);
	words_add_greet_key(&network, greetings->cluster->name, net);
	keys[0] = str_slice(&pair);
	keys[1] = str_slice(&network);
	for (int i = 0; i < ARGS; i++) {
		snprintf(numbers[i], NUMBER_BYTES, "%" PRIu64, values[i]);
		args[i] = slice_of(numbers[i]);
	}
	store_ask(greetings->store, &(struct store_question){ SCRIPT_GREET,
	    keys, args, 2, ARGS }, greeting_on_answer, greeting);
	str_release(&pair);
	str_release(&network);
}

struct greeting *
greetings_ask(struct greetings *greetings,
    const struct words_question *question, greetings_answer_fn *fn,
    void *context)
{
	struct greeting *greeting;

	if (!store_is_open(greetings->store)) {
		fn(context, GREETING_AWAY);
		return NULL;
	}
	greeting = mem_alloc(1, sizeof(*greeting));
	greeting->greetings = greetings;
	greeting->fn = fn;
	greeting->context = context;
	LIST_INSERT_HEAD(&greetings->asked, greeting, entry);
	greeting_say(greeting, question);
	return greeting;
}

void
greetings_forget(struct greeting **greeting)
{
	if (*greeting != NULL)
		(*greeting)->fn = NULL;
	*greeting = NULL;
}
