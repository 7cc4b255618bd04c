/* warmups.c - what a node may send of a warm-up that all nodes share
 *
 * In     questions of the scheduler, the configuration's plans; answers of the
 *        store
 * Out    what was given
 * Holds  who waits for an answer
 * Trusts no key: it is escaped
 * Spec   warmups.h; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "share/ledger/warmups.h"

#include "base/banned.h"

enum { NUMBER_BYTES = 24, WORDS_BYTES = 128, ARGS = 9, DAY_S = 86400 };
enum { ARG_SELF, ARG_FIRST, ARG_PLAN, ARG_DAY, ARG_USED, ARG_BACK, ARG_NEED,
	ARG_WANT, ARG_NODES };

struct warmup {
	struct warmups		*warmups;
	warmups_answer_fn	*fn;		/* NULL: forgotten */
	void			*context;
	LIST_ENTRY(warmup)	 entry;
};

struct warmups {
	const struct conf	*conf;
	struct store		*store;
	const struct members	*members;
	LIST_HEAD(, warmup)	 asked;
};

struct warmups *
warmups_new(const struct conf *conf, struct store *store,
    const struct members *members)
{
	struct warmups *warmups = mem_alloc(1, sizeof(*warmups));

	warmups->conf = conf;
	warmups->store = store;
	warmups->members = members;
	LIST_INIT(&warmups->asked);
	return warmups;
}

static void
warmup_free(struct warmup *warmup)
{
	LIST_REMOVE(warmup, entry);
	mem_free(&warmup);
}

void
warmups_free(struct warmups **pwarmups)
{
	struct warmups *warmups = *pwarmups;

	if (warmups == NULL)
		return;
	while (!LIST_EMPTY(&warmups->asked))
		warmup_free(LIST_FIRST(&warmups->asked));
	mem_free(pwarmups);
}

static void
warmups_say_alone(const struct warmups *warmups, warmups_answer_fn *fn,
    void *context)
{
	char words[WORDS_BYTES];

	snprintf(words, sizeof(words), "alone %u",
	    members_count(warmups->members));
	fn(context, slice_of(words));
}

/* store_answer_fn */
static void
warmup_on_answer(void *context, bool is_away, struct slice text)
{
	struct warmup *warmup = context;
	struct words_warmed got;
	char words[WORDS_BYTES];

	if (warmup->fn == NULL) {
		warmup_free(warmup);
		return;
	}
	if (is_away || !words_warmed_read(text, &got)) {
		warmups_say_alone(warmup->warmups, warmup->fn,
		    warmup->context);
	} else {
		snprintf(words, sizeof(words), "given %" PRIu64 " %" PRIu64
		    " %" PRIu64 " %" PRIu64 " %" PRIu64, got.day, got.left_s,
		    got.first, got.sent, got.given);
		warmup->fn(warmup->context, slice_of(words));
	}
	warmup_free(warmup);
}

static void
warmup_say(struct warmup *warmup, const struct words_warm *question,
    struct slice key, const struct conf_zone *zone)
{
	const struct warmups *warmups = warmup->warmups;
	const char *cluster = warmups->conf->cluster.name;
	const uint64_t values[ARGS] = {
		[ARG_FIRST] = (uint64_t)(zone->warm_start_s / DAY_S),
		[ARG_DAY] = question->day, [ARG_USED] = question->used,
		[ARG_BACK] = question->back, [ARG_NEED] = question->need,
		[ARG_WANT] = question->want,
		[ARG_NODES] = members_count(warmups->members),
	};
	struct str counter = STR_INIT, first = STR_INIT, plan = STR_INIT;
	char numbers[ARGS][NUMBER_BYTES];
	struct slice args[ARGS], keys[2];
	struct str text = STR_INIT;

	str_addf(&text, SLICE_FMT " " SLICE_FMT, SLICE_ARG(question->zone),
	    SLICE_ARG(key));
	words_add_warm_key(&counter, cluster, str_slice(&text));
	words_add_first_key(&first, cluster, question->zone);
	keys[0] = str_slice(&counter);
	keys[1] = str_slice(&first);
	for (size_t i = 0; i < zone->warm_count; i++)
		str_addf(&plan, "%u ", zone->warm_caps[i]);
	for (int i = 0; i < ARGS; i++) {
		snprintf(numbers[i], NUMBER_BYTES, "%" PRIu64, values[i]);
		args[i] = slice_of(numbers[i]);
	}
	args[ARG_SELF] = slice_of(warmups->conf->cluster.self);
	args[ARG_PLAN] = str_slice(&plan);
	store_ask(warmups->store, &(struct store_question){ SCRIPT_WARM,
	    keys, args, 2, ARGS }, warmup_on_answer, warmup);
	str_release(&text);
	str_release(&counter);
	str_release(&first);
	str_release(&plan);
}

struct warmup *
warmups_ask(struct warmups *warmups, const struct words_question *question,
    warmups_answer_fn *fn, void *context)
{
	const struct conf_zone *zone = conf_zone_find(warmups->conf,
	    question->warm.zone);
	struct warmup *warmup;

	if (store_state(warmups->store).is_opening) {
		fn(context, SLICE("later"));
		return NULL;
	}
	if (zone == NULL || zone->warm_count == 0 ||
	    !store_is_open(warmups->store)) {
		warmups_say_alone(warmups, fn, context);
		return NULL;
	}
	warmup = mem_alloc(1, sizeof(*warmup));
	warmup->warmups = warmups;
	warmup->fn = fn;
	warmup->context = context;
	LIST_INSERT_HEAD(&warmups->asked, warmup, entry);
	warmup_say(warmup, &question->warm, question->key, zone);
	return warmup;
}

void
warmups_forget(struct warmup **warmup)
{
	if (*warmup != NULL)
		(*warmup)->fn = NULL;
	*warmup = NULL;
}
