/* count.c - zmailer count: queued mail by state, from the files
 *
 * In     the spool; a selector, or nothing: what the scheduler owns
 * Out    a line a state and one of all; or a JSON line each
 * Trusts nothing in the files
 * Spec   zmailer-queue(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "mail/control_file/queue_count.h"
#include "mail/spool/spool.h"
#include "tools/queue/turns.h"
#include "tools/selection/selection.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

/* What waits for a person: no mail of the scheduler's. */
struct aside {
	uint64_t	freezer, postman;
	uint64_t	*at;		/* the one that is walked */
};

static bool
aside_count_one(void *context, const char *name)
{
	const char *base = strrchr(name, '/');
	struct aside *aside = context;

	base = base != NULL ? base + 1 : name;
	/* a plan and a control file beside its message are no messages */
	if (base[0] != '.' && !slice_ends(slice_of(base), ".control"))
		(*aside->at)++;
	return true;
}

/* What cannot be read is left out: the sums of the queue were asked for. */
static void
aside_count(const struct spool *spool, struct aside *out)
{
	struct err err;

	*out = (struct aside){ .at = &out->freezer };
	(void)spool_scan(spool, AREA_FREEZER, 0, aside_count_one, out, &err);
	out->at = &out->postman;
	(void)spool_scan(spool, AREA_POSTMAN, 0, aside_count_one, out, &err);
}

static void
put_json_state(const char *name, uint64_t messages, uint64_t recipients)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "state", slice_of(name));
	json_number(&out, "messages", (int64_t)messages);
	json_number(&out, "recipients", (int64_t)recipients);
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
put_states(const struct queue_counts *counts, bool is_json)
{
	if (!is_json)
		printf("%-10s %10s %10s\n", "STATE", "MESSAGES",
		    "RECIPIENTS");
	for (int i = 0; i < QUEUE_STATES; i++) {
		if (is_json)
			put_json_state(queue_states[i], counts->messages[i],
			    counts->recipients[i]);
		else if (counts->recipients[i] > 0)
			printf("%-10s %10" PRIu64 " %10" PRIu64 "\n",
			    queue_states[i], counts->messages[i],
			    counts->recipients[i]);
	}
}

/* How many, how large, how old. */
static void
count_put_sum(const struct queue_counts *counts, const struct aside *aside,
    int64_t now_s, bool is_json)
{
	char span[CLOCK_TEXT_BYTES];
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_number(&out, "messages", (int64_t)counts->total);
		json_number(&out, "bytes", (int64_t)counts->bytes);
		json_number(&out, "oldest", counts->oldest_s);
		if (aside != NULL) {
			json_number(&out, "freezer",
			    (int64_t)aside->freezer);
			json_number(&out, "postman",
			    (int64_t)aside->postman);
		}
		json_close(&out);
		fputs(out.buf, stdout);
		str_release(&out);
		return;
	}
	view_add_size(&out, counts->bytes);
	printf("%" PRIu64 " message%s, %s", counts->total,
	    counts->total == 1 ? "" : "s", out.buf);
	if (counts->total > 0) {
		clock_span(now_s > counts->oldest_s ? now_s -
		    counts->oldest_s : 0, span);
		printf(", the oldest came %s ago", span);
	}
	putchar('\n');
	if (aside != NULL && aside->freezer + aside->postman > 0)
		printf("and %" PRIu64 " in freezer/, %" PRIu64 " in postman/: "
		    "zmailer review\n", aside->freezer, aside->postman);
	str_release(&out);
}

/* ---- what a selector means ---------------------------------------------- */

enum { STATES_MAX = 32 };

struct tally {
	struct selection_test test;
	struct { char name[32]; uint64_t messages, recipients; }
		 states[STATES_MAX];
	size_t	 count;
	struct queue_counts all;	/* total, bytes, oldest_s */
};

/* The row of a state; the last one takes what has no room. */
static size_t
state_row(struct tally *tally, const char *name)
{
	for (size_t i = 0; i < tally->count; i++)
		if (strcmp(tally->states[i].name, name) == 0)
			return i;
	if (tally->count == STATES_MAX)
		return STATES_MAX - 1;
	strlcpy(tally->states[tally->count].name, name,
	    sizeof(tally->states[0].name));
	return tally->count++;
}

/* A message counts once in each state that a recipient of it is in. */
static bool
tally_one(void *context, const struct view *view)
{
	struct tally *tally = context;
	uint32_t rows = 0;

	for (size_t i = 0; i < view->rcpt_count; i++) {
		size_t row;

		if (!selection_is_meant(&tally->test, view, &view->rcpts[i]))
			continue;
		row = state_row(tally, view->rcpts[i].state);
		tally->states[row].recipients++;
		rows |= UINT32_C(1) << row;
	}
	if (view->rcpt_count == 0 && selection_is_meant(&tally->test, view,
	    NULL))
		rows |= UINT32_C(1) << state_row(tally, view->state);
	for (size_t i = 0; i < tally->count; i++)
		tally->states[i].messages += rows >> i & 1;
	if (rows == 0)
		return true;
	if (tally->all.total == 0 || view->time_s < tally->all.oldest_s)
		tally->all.oldest_s = view->time_s;
	tally->all.total++;
	tally->all.bytes += view->size_bytes;
	return true;
}

static void
tally_put(const struct tally *tally, bool is_json)
{
	if (!is_json)
		printf("%-10s %10s %10s\n", "STATE", "MESSAGES",
		    "RECIPIENTS");
	for (size_t i = 0; i < tally->count; i++) {
		if (is_json)
			put_json_state(tally->states[i].name,
			    tally->states[i].messages,
			    tally->states[i].recipients);
		else
			printf("%-10s %10" PRIu64 " %10" PRIu64 "\n",
			    tally->states[i].name,
			    tally->states[i].messages,
			    tally->states[i].recipients);
	}
}

static int
count_meant(const struct spool *spool, const struct conf *conf,
    const struct selector *selector, struct tally *tally, struct err *err)
{
	struct arena *arena = arena_new();
	struct live live;
	int result;

	if (spool == NULL) {		/* who may not read it */
		selection_test_init(&tally->test, NULL, conf, clock_wall_s());
		result = view_each_asked(conf->run_dir, selector, tally_one,
		    tally, NULL, err);
		arena_free(&arena);
		return result;
	}
	live_ask(conf->run_dir, arena, &live);
	selection_test_init(&tally->test, selector, conf, clock_wall_s());
	result = view_each(spool, &live, tally->test.flags, tally_one, tally,
	    err);
	arena_free(&arena);
	return result;
}

/* ---- the verb ----------------------------------------------------------- */

static void
count_put_all(const struct tally *tally, const struct queue_counts *counts,
    const struct aside *aside, bool is_json)
{
	if (counts != NULL)
		put_states(counts, is_json);
	else
		tally_put(tally, is_json);
	count_put_sum(counts != NULL ? counts : &tally->all, aside,
	    clock_wall_s(), is_json);
}

static int
verb_count_all(const struct conf *conf, const struct selector *selector,
    bool is_json)
{
	struct tally *tally = mem_alloc(1, sizeof(*tally));
	bool is_read = selector != NULL || view_is_forbidden(conf);
	struct queue_counts counts;
	struct spool *spool = NULL;
	struct aside aside;
	struct err err;
	int status = EX_OK, result = 0;

	if (!view_is_forbidden(conf))
		result = conf_spool_open(conf, 0, &spool, &err);
	if (result == 0)
		result = is_read ? count_meant(spool, conf, selector,
		    tally, &err) : queue_count(spool, clock_wall_s(), &counts,
		    &err);
	if (result == 0) {
		if (!is_read)
			aside_count(spool, &aside);
		count_put_all(tally, is_read ? NULL : &counts, is_read ?
		    NULL : &aside, is_json);
		if (!is_json)
			turns_note("count", conf->run_dir);
		status = selector != NULL && tally->all.total == 0;
	} else {
		status = verb_failed("count", &err, EX_NOINPUT);
	}
	spool_close(&spool);
	mem_free(&tally);
	return status;
}

int
verb_count(struct arguments *arguments)
{
	const char *conf_path = arguments->conf_path;
	struct arena *arena = arena_new();
	struct selection_options options;
	struct selector *selector;
	struct conf *conf;
	int status;

	status = selection_options_take(arguments, &options);
	if (status == EX_OK)
		status = selection_selector(&options, arena, &selector);
	if (status == EX_OK) {
		conf = verb_conf_spool(conf_path);
		status = verb_count_all(conf, selector, options.is_json);
		conf_free(&conf);
	}
	selection_options_release(&options);
	arena_free(&arena);
	return status;
}
