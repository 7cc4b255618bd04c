/* queue.c - zmailer queue: destinations that have mail
 *
 * In     the scheduler's destinations
 * Out    a line each, the fullest first; or JSON lines
 * Trusts nothing in the words of other hosts: controls are escaped
 * Spec   zmailer-queue(8); doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "mail/spool/spool.h"
#include "mail/state.h"
#include "tools/queue/control.h"
#include "tools/queue/turns.h"
#include "tools/queue/words.h"
#include "tools/run/standstill/standstill.h"
#include "tools/zmailer/queue/queue.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { IMPATIENT_MS = 100 };	/* it was asked in vain just now */

struct entry {
	int64_t	 mail;		/* messages in line, waiting, active, held */
	char	*text;
};

/* Hosts that take the mail of destinations, and how many sessions we may
 * have with them. */
struct provider_row {
	char	*name;
	int64_t	 destinations, ready, waiting, agents, limit;
	bool	 is_full;
};

struct provider_rows {
	struct provider_row *rows;
	size_t		 count, room;
};

struct queue {
	bool		 is_json;
	bool		 is_summed;	/* --by */
	bool		 is_impatient;	/* it did not answer just now */
	struct provider_rows providers;
	int64_t		 now_s;
	struct entry	*entries;
	size_t		 count, room;
	int64_t		 deliveries;	/* of all destinations that came */
	int64_t		 messages;	/* of the whole queue; 0: not said */
};

/* It said that we are too many, or too fast. */
static void
add_throttle(struct str *out, struct slice line)
{
	int64_t pause_ms = json_get_number(line, "pause_ms");

	str_addf(out, " to %" PRId64, json_get_number(line, "limit"));
	if (pause_ms > 0)
		str_addf(out, ", %.1f s apart", (double)pause_ms / 1000);
}

/* What an operator wants to know first. */
static void
add_state(struct str *out, struct slice line, int64_t now_s)
{
	int64_t held = json_get_number(line, "held_until");
	int64_t pin = json_get_number(line, "pin");

	json_add_escaped(out, line, "state");
	if (json_is(line, "state", DESTINATION_STATE_WORD(DOWN)) &&
	    held > now_s) {
		str_adds(out, ", next ");
		words_add_moment(out, held, now_s);
	} else if (json_is(line, "state", DESTINATION_STATE_WORD(THROTTLED))) {
		add_throttle(out, line);
	}
	if (pin > 0)
		str_addf(out, ", pinned to %" PRId64, pin);
}

/* ---- providers --------------------------------------------------- */

static struct provider_row *
providers_row(struct provider_rows *providers, const char *name)
{
	for (size_t i = 0; i < providers->count; i++)
		if (strcmp(providers->rows[i].name, name) == 0)
			return &providers->rows[i];
	if (providers->count == providers->room) {
		providers->room = providers->room ? providers->room * 2 : 16;
		providers->rows = mem_grow(providers->rows, providers->room,
		    sizeof(*providers->rows));
	}
	providers->rows[providers->count] = (struct provider_row){
		.name = mem_strdup(name)
	};
	return &providers->rows[providers->count++];
}

static void
providers_add(struct provider_rows *providers, struct slice line)
{
	struct provider_row *row;
	struct str name = STR_INIT;

	json_add_escaped(&name, line, "provider");
	if (name.len > 0) {
		row = providers_row(providers, name.buf);
		row->destinations++;
		row->ready += json_get_number(line, "ready");
		row->waiting += json_get_number(line, "waiting");
		row->agents = json_get_number(line, "provider_agents");
		row->limit = json_get_number(line, "provider_limit");
		row->is_full |= json_is(line, "waits_for_provider", "true");
	}
	str_release(&name);
}

/* A provider with one destination and no limit shows nothing new. */
static bool
provider_row_tells(const struct provider_row *row)
{
	return row->ready + row->waiting + row->agents > 0 &&
	    (row->destinations > 1 || row->limit > 0 || row->is_full);
}

static void
provider_row_print(const struct provider_row *row)
{
	const struct destination_look look = { .is_throttled = row->limit > 0,
		.active = row->agents, .ready = row->ready,
		.waiting = row->waiting };

	printf("%-32s %6" PRId64 " %6" PRId64 " %6" PRId64 " %6" PRId64 "  ",
	    row->name, row->ready, row->waiting, row->agents,
	    row->destinations);
	printf("%s", destination_states[destination_state_of(&look)].name);
	if (row->limit > 0)
		printf(" to %" PRId64, row->limit);
	else if (row->is_full)
		printf(", all its sessions are taken");
	printf("\n");
}

static void
providers_print(const struct provider_rows *providers)
{
	bool is_headed = false;

	for (size_t i = 0; i < providers->count; i++) {
		if (!provider_row_tells(&providers->rows[i]))
			continue;
		if (!is_headed)
			printf("\n%-32s %6s %6s %6s %6s  %s\n", "PROVIDER",
			    "READY", "WAIT", "ACTIVE", "DESTS", "STATE");
		is_headed = true;
		provider_row_print(&providers->rows[i]);
	}
}

static void
providers_release(struct provider_rows *providers)
{
	for (size_t i = 0; i < providers->count; i++)
		mem_free(&providers->rows[i].name);
	mem_free(&providers->rows);
}

/* ---- destinations ------------------------------------------------ */

static bool
queue_one(void *context, struct slice line)
{
	struct queue *queue = context;
	struct str name = STR_INIT, state = STR_INIT, text = STR_INIT;
	int64_t ready = json_get_number(line, "ready");
	int64_t waiting = json_get_number(line, "waiting");
	int64_t active = json_get_number(line, "active");
	int64_t parked = json_get_number(line, "parked");

	if (queue->is_json) {
		control_put_line(line);
		queue->count++;
		return true;
	}
	json_add_escaped(&name, line, "channel");
	str_addc(&name, '/');
	json_add_escaped(&name, line, "host");
	add_state(&state, line, queue->now_s);
	str_addf(&text, "%-32s %6" PRId64 " %6" PRId64 " %6" PRId64 " %6"
	    PRId64 "  %-24s ", name.buf, ready, waiting, active, parked,
	    state.buf);
	json_add_escaped(&text, line, "said");
	providers_add(&queue->providers, line);
	if (queue->count == queue->room) {
		queue->room = queue->room ? queue->room * 2 : 64;
		queue->entries = mem_grow(queue->entries, queue->room,
		    sizeof(*queue->entries));
	}
	queue->deliveries += ready + waiting + active + parked;
	queue->entries[queue->count++] = (struct entry){ .mail = ready +
	    waiting + active + parked, .text = mem_strdup(text.buf) };
	str_release(&name);
	str_release(&state);
	str_release(&text);
	return true;
}

static int
queue_entry_compare(const void *a, const void *b)
{
	const struct entry *one = a, *two = b;

	if (one->mail != two->mail)
		return one->mail < two->mail ? 1 : -1;
	return strcmp(one->text, two->text);
}

static void
queue_print(struct queue *queue)
{
	if (queue->count == 0) {
		printf("No destination has mail.\n");
		return;
	}
	qsort(queue->entries, queue->count, sizeof(*queue->entries),
	    queue_entry_compare);
	printf("%-32s %6s %6s %6s %6s  %-24s %s\n", "DESTINATION", "READY",
	    "WAIT", "ACTIVE", "HELD", "STATE", "LAST WORDS");
	for (size_t i = 0; i < queue->count; i++) {
		printf("%s\n", queue->entries[i].text);
		mem_free(&queue->entries[i].text);
	}
	providers_print(&queue->providers);
	if (queue->messages > 0 && queue->deliveries > queue->messages)
		printf("\n%" PRId64 " message%s in %" PRId64 " deliveries: a "
		    "delivery is to at most 100 recipients of a message\n",
		    queue->messages, queue->messages == 1 ? "" : "s",
		    queue->deliveries);
}

static int
queue_ask(struct queue *queue, const struct conf *conf, const char *dest)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;
	enum control_reached reached = control_connect(conf->run_dir,
	    &control, &err);
	int status = EX_OK;

	if (reached == CONTROL_REACHED) {
		if (queue->is_impatient)
			control.answer_ms = IMPATIENT_MS;
		control_begin(&request, "destinations");
		if (dest != NULL)
			control_add_dest(&request, dest);
		if (control_ask(&control, &request, queue_one, queue, &last,
		    &err) < 0)
			reached = CONTROL_BROKEN;
		else if (dest == NULL)
			queue->messages = json_get_number(str_slice(&last),
			    "messages");
		if (reached == CONTROL_REACHED && !queue->is_json)
			turns_note("queue", conf->run_dir);
	}
	if (reached == CONTROL_ABSENT)
		status = control_stopped("queue", conf->run_dir,
		    "`zmailer list` reads the files");
	else if (reached == CONTROL_BROKEN)
		status = control_failed("queue", &control, &err);
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return status;
}

/* Who may not look is told by the scheduler, or by its silence. */
static bool
queue_is_running(const struct conf *conf)
{
	char text[256];
	pid_t pid;

	return spool_lock_holder(conf->spool_dir, text, sizeof(text),
	    &pid) != SPOOL_LOCK_FREE;
}

int
verb_queue(struct arguments *arguments)
{
	struct queue queue = { .now_s = clock_wall_s(),
	    .is_json = arguments_has(arguments, OPT_JSON) };
	struct arena *arena = arena_new();
	struct standstill standstill;
	struct conf *conf;
	int status;

	conf = verb_conf_spool(arguments->conf_path);
	standstill_look(conf, queue_is_running(conf), arena, &standstill);
	if (queue_is_running(conf))
		standstill_knock(conf, &standstill);
	standstill_print(&standstill, queue.is_json);
	queue.is_impatient = standstill.is_silent;
	if (arguments_has(arguments, OPT_BY)) {
		if (arguments_word(arguments, 0) != NULL)
			status = arguments_refuse(arguments, "--by is of all "
			    "mail: leave %s out", arguments_word(arguments,
			    0));
		else
			status = queue_by_run(conf, arguments_text(arguments,
			    OPT_BY), queue.is_json);
		queue.is_summed = true;
	} else {
		status = queue_ask(&queue, conf, arguments_word(arguments,
		    0));
	}
	if (!queue.is_summed && status == EX_OK && !queue.is_json)
		queue_print(&queue);
	providers_release(&queue.providers);
	mem_free(&queue.entries);
	arena_free(&arena);
	conf_free(&conf);
	return status;
}
