/* by.c - zmailer queue --by: queued mail summed by provider, domain, sender,
 *        user, client or next hop
 *
 * In     what waits, from the files; the scheduler's destinations
 * Out    a line for each, the fullest first; or JSON lines
 * Holds  a row for each, in a hash table with a secret key
 * Trusts nothing in names and the words of other hosts: controls are escaped
 * Spec   zmailer-queue(8)
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
#include "base/siphash.h"
#include "mail/state.h"
#include "tools/queue/control.h"
#include "tools/queue/view.h"
#include "tools/zmailer/queue/queue.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct hop {			/* a destination, as the scheduler has it */
	struct slice	name, provider, said;
	enum destination_state state;
	int64_t		limit;
};

struct by_row {
	struct slice	name;
	struct destination_look look;
	int64_t		total, suspended, down, messages, oldest_s, limit;
	struct slice	words;
	uint64_t	 turn;		/* of the message counted last */
};

struct by {
	enum queue_by	 what;
	struct arena	*arena;
	struct hop	*hops;		/* sorted by name */
	size_t		 hop_count, hop_room;
	struct by_row	**rows;		/* a power of two, half empty */
	size_t		 count, room;
	uint64_t	 turn;		/* messages so far */
};

static const char *const by_names[QUEUE_BY_COUNT] = { "provider", "domain",
	"sender", "user", "client", "hop" };
static const char *const by_heads[QUEUE_BY_COUNT] = { "PROVIDER", "DOMAIN",
	"SENDER", "USER", "CLIENT", "NEXT HOP" };

/* ---- destinations -------------------------------------------------- */

static struct slice
by_member(struct by *by, struct slice line, const char *key)
{
	struct str value = STR_INIT;
	struct slice text;

	(void)json_get(line, key, &value);
	text = slice_copy(by->arena, str_slice(&value));
	str_release(&value);
	return text;
}

static struct slice
hop_name(struct by *by, struct slice channel, struct slice host)
{
	return slice_of(arena_printf(by->arena, SLICE_FMT "/" SLICE_FMT,
	    SLICE_ARG(channel), SLICE_ARG(host)));
}

static bool
hop_take(void *context, struct slice line)
{
	struct by *by = context;

	if (by->hop_count == by->hop_room) {
		by->hop_room = by->hop_room ? by->hop_room * 2 : 64;
		by->hops = mem_grow(by->hops, by->hop_room,
		    sizeof(*by->hops));
	}
	by->hops[by->hop_count++] = (struct hop){
		.name = hop_name(by, by_member(by, line, "channel"),
		    by_member(by, line, "host")),
		.provider = by_member(by, line, "provider"),
		.said = by_member(by, line, "said"),
		.state = destination_state_parse(by_member(by, line,
		    "state")),
		.limit = json_get_number(line, "limit") };
	return true;
}

static int
hop_compare(const void *a, const void *b)
{
	const struct hop *one = a, *two = b;

	return strcmp(one->name.p, two->name.p);
}

/* Nobody need answer: the files tell the rest. */
static void
by_ask_hops(struct by *by, const struct conf *conf)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;

	if (control_connect(conf->run_dir, &control, &err) ==
	    CONTROL_REACHED) {
		control_begin(&request, "destinations");
		(void)control_ask(&control, &request, hop_take, by, &last,
		    &err);
	}
	control_hang_up(&control);
	if (by->hop_count > 1)
		qsort(by->hops, by->hop_count, sizeof(*by->hops),
		    hop_compare);
	str_release(&request);
	str_release(&last);
}

static const struct hop *
hop_find(const struct by *by, struct slice name)
{
	const struct hop key = { .name = name };

	return by->hop_count == 0 ? NULL : bsearch(&key, by->hops,
	    by->hop_count, sizeof(key), hop_compare);
}

/* ---- rows ---------------------------------------------------------- */

static struct by_row **
by_slot(struct by_row **rows, size_t room, struct slice name)
{
	uint64_t at = siphash(siphash_process_key(), name).low;

	while (rows[at & (room - 1)] != NULL &&
	    !slice_equal(rows[at & (room - 1)]->name, name))
		at++;
	return &rows[at & (room - 1)];
}

static void
by_grow(struct by *by)
{
	size_t room = by->room ? by->room * 2 : 256;
	struct by_row **rows = mem_alloc(room, sizeof(struct by_row *));

	for (size_t i = 0; i < by->room; i++)
		if (by->rows[i] != NULL)
			*by_slot(rows, room, by->rows[i]->name) = by->rows[i];
	mem_free(&by->rows);
	by->rows = rows;
	by->room = room;
}

static struct by_row *
by_row(struct by *by, struct slice name)
{
	struct by_row **slot;

	if (by->count * 2 >= by->room)
		by_grow(by);
	slot = by_slot(by->rows, by->room, name);
	if (*slot == NULL) {
		*slot = arena_alloc(by->arena, sizeof(**slot));
		memset(*slot, 0, sizeof(**slot));
		(*slot)->name = slice_copy(by->arena, name);
		by->count++;
	}
	return *slot;
}

/* What follows the last @ of the first of these that has one. */
static struct slice
by_domain(const struct view_rcpt *rcpt)
{
	const struct slice names[] = { rcpt->user, rcpt->given, rcpt->orcpt };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t k = names[i].n; k > 0; k--)
			if (names[i].p[k - 1] == '@')
				return slice_from(names[i], k);
	return rcpt->channel;
}

static struct slice
by_name(const struct by *by, const struct view *view,
    const struct view_rcpt *rcpt, struct slice name, const struct hop *hop)
{
	switch (by->what) {
	case QUEUE_BY_PROVIDER:
		return hop != NULL && hop->provider.n > 0 ? hop->provider :
		    name;
	case QUEUE_BY_DOMAIN:
		return by_domain(rcpt);
	case QUEUE_BY_SENDER:
		return view->sender.n > 0 ? view->sender : SLICE("<>");
	case QUEUE_BY_USER:
		return view->user.n > 0 ? view->user : SLICE("-");
	case QUEUE_BY_CLIENT:
		return view->source.n > 0 ? view->source : SLICE("-");
	case QUEUE_BY_HOP:
	case QUEUE_BY_COUNT:
		break;
	}
	return name;
}

static void
by_count_state(struct by_row *row, const char *state)
{
	if (strcmp(state, MAIL_STATE_WORD(ACTIVE)) == 0)
		row->look.active++;
	else if (strcmp(state, MAIL_STATE_WORD(READY)) == 0)
		row->look.ready++;
	else if (strcmp(state, MAIL_STATE_WORD(HELD)) == 0 ||
	    strcmp(state, MAIL_STATE_WORD(FROZEN)) == 0)
		row->look.held++;
	else
		row->look.waiting++;
}

/* All of its mail waits for a destination that is down: it is, too; one that
 * throttles us is enough to be seen. */
static void
by_count_hop(struct by *by, struct by_row *row, const struct hop *hop)
{
	if (hop == NULL)
		return;
	row->suspended += hop->state == DESTINATION_STATE_SUSPENDED;
	row->down += hop->state == DESTINATION_STATE_DOWN;
	if (hop->state == DESTINATION_STATE_THROTTLED &&
	    !row->look.is_throttled) {
		row->look.is_throttled = true;
		row->limit = hop->limit;
		row->words = hop->said;
	}
	if (row->words.n == 0)
		row->words = slice_copy(by->arena, hop->said);
}

static void
by_count(struct by *by, const struct view *view,
    const struct view_rcpt *rcpt)
{
	struct str name = STR_INIT;
	const struct hop *hop;
	struct by_row *row;

	str_add_slice(&name, rcpt->channel);
	str_addc(&name, '/');
	str_add_slice(&name, rcpt->host);
	hop = hop_find(by, str_slice(&name));
	row = by_row(by, by_name(by, view, rcpt, str_slice(&name), hop));
	str_release(&name);
	row->total++;
	by_count_state(row, rcpt->state);
	by_count_hop(by, row, hop);
	if (row->words.n == 0 && rcpt->trouble != NULL)
		row->words = slice_copy(by->arena, slice_of(rcpt->words));
	if (row->oldest_s == 0 || view->time_s < row->oldest_s)
		row->oldest_s = view->time_s;
	if (row->turn != by->turn)
		row->messages++;
	row->turn = by->turn;
}

static bool
by_view(void *context, const struct view *view)
{
	struct by *by = context;

	by->turn++;
	if (view->area == AREA_TRANSPORT)
		for (size_t i = 0; i < view->rcpt_count; i++) {
			const char *state = view->rcpts[i].state;

			if (strcmp(state, MAIL_STATE_WORD(DELETED)) != 0 &&
			    verdict_kind_parse(slice_of(state)) < 0)
				by_count(by, view, &view->rcpts[i]);
		}
	return true;
}

/* ---- shown --------------------------------------------------------- */

static int
by_row_compare(const void *a, const void *b)
{
	const struct by_row *one = *(struct by_row *const *)a;
	const struct by_row *two = *(struct by_row *const *)b;

	if (one->total != two->total)
		return one->total < two->total ? 1 : -1;
	return strcmp(one->name.p, two->name.p);
}

static const char *
by_row_state(const struct by_row *row)
{
	struct destination_look look = row->look;

	look.is_suspended = row->suspended == row->total;
	look.is_down = row->down == row->total;
	return destination_states[destination_state_of(&look)].name;
}

static void
by_row_json(const struct by *by, const struct by_row *row, struct str *out)
{
	json_open_answer(out);
	json_text(out, "by", slice_of(by_names[by->what]));
	json_text(out, "name", row->name);
	json_text(out, "state", slice_of(by_row_state(row)));
	json_number(out, "messages", row->messages);
	json_number(out, "ready", row->look.ready);
	json_number(out, "waiting", row->look.waiting);
	json_number(out, "active", row->look.active);
	json_number(out, "held", row->look.held);
	json_number(out, "oldest", row->oldest_s);
	if (row->look.is_throttled)
		json_number(out, "limit", row->limit);
	json_text(out, "said", row->words);
	json_close(out);
}

static void
by_row_text(const struct by_row *row, int64_t now_s, struct str *out)
{
	struct str name = STR_INIT, state = STR_INIT;
	char age[CLOCK_TEXT_BYTES];

	str_add_escaped(&name, row->name);
	str_adds(&state, by_row_state(row));
	if (row->look.is_throttled)
		str_addf(&state, " to %" PRId64, row->limit);
	clock_span(now_s - row->oldest_s, age);
	str_addf(out, "%-32s %6" PRId64 " %6" PRId64 " %6" PRId64 " %6"
	    PRId64 " %7s  %-14s ", name.buf, row->look.ready,
	    row->look.waiting, row->look.active, row->look.held, age,
	    state.buf);
	str_add_escaped(out, row->words);
	str_addc(out, '\n');
	str_release(&name);
	str_release(&state);
}

static void
by_print(struct by *by, bool is_json)
{
	struct str out = STR_INIT;
	int64_t now_s = clock_wall_s();
	size_t n = 0;

	for (size_t i = 0; i < by->room; i++)
		if (by->rows[i] != NULL)
			by->rows[n++] = by->rows[i];
	if (n > 1)
		qsort(by->rows, n, sizeof(struct by_row *), by_row_compare);
	if (!is_json && n == 0)
		str_adds(&out, "No destination has mail.\n");
	else if (!is_json)
		str_addf(&out, "%-32s %6s %6s %6s %6s %7s  %-14s %s\n",
		    by_heads[by->what], "READY", "WAIT", "ACTIVE", "HELD",
		    "OLDEST", "STATE", "LAST WORDS");
	for (size_t i = 0; i < n; i++) {
		if (is_json)
			by_row_json(by, by->rows[i], &out);
		else
			by_row_text(by->rows[i], now_s, &out);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

/* ---- the verb ------------------------------------------------------ */

static int
by_read(struct by *by, const struct conf *conf, struct err *err)
{
	struct spool *spool = NULL;
	struct live live;
	int result;

	by_ask_hops(by, conf);
	if (view_is_forbidden(conf))
		return view_each_asked(conf->run_dir, NULL, by_view, by,
		    NULL, err);
	if (conf_spool_open(conf, 0, &spool,
	    err) < 0)
		return -1;
	live_ask(conf->run_dir, by->arena, &live);
	result = view_each(spool, &live, 0, by_view, by, err);
	spool_close(&spool);
	return result;
}

int
queue_by_run(const struct conf *conf, const char *what, bool is_json)
{
	struct by by = { .arena = arena_new() };
	struct err err;
	int status = EX_OK;

	while (strcmp(by_names[by.what], what) != 0)
		by.what++;
	if (by_read(&by, conf, &err) < 0)
		status = verb_failed("queue", &err, EX_NOINPUT);
	else
		by_print(&by, is_json);
	mem_free(&by.hops);
	mem_free(&by.rows);
	arena_free(&by.arena);
	return status;
}
