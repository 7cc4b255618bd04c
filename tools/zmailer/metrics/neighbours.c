/* neighbours.c - other programs that mail depends on, as metrics
 *
 * In     the configuration; what the daemons noted about each beside the
 *        counters; the scheduler's destinations by LMTP
 * Out    whether each works, and how many commands it caused to be refused
 * Trusts nothing in a name: it is escaped
 * Spec   zmailer-metrics(8); journal/neighbours.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "daemon/machine/neighbours.h"
#include "journal/counters.h"
#include "journal/neighbours.h"
#include "tools/queue/control.h"
#include "tools/zmailer/metrics/metrics.h"

#include "base/banned.h"

enum { NAMES_MAX = 100 };	/* of each sort; the others are left out */

struct neighbour_lines {
	struct str	up, told;	/* a metric each */
	size_t		hops;
	int64_t		now_s;
};

static void
neighbour_line_add(struct str *out, const char *metric, const char *kind,
    struct slice name, uint64_t number)
{
	str_addf(out, "zmailer_%s{kind=\"%s\",", metric, kind);
	counters_print_label(out, "name", name);
	str_addf(out, "} %" PRIu64 "\n", number);
}

static void
neighbour_lines_asked(struct neighbour_lines *lines, const struct conf *conf)
{
	struct arena *arena = arena_new();
	struct machine_neighbour *named;
	size_t count = machine_neighbours(conf, arena, &named);
	struct neighbour state;

	for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
		struct slice name = slice_of(named[i].name);
		bool is_down;

		if (strcmp(named[i].kind, "lmtp") == 0)
			continue;	/* the scheduler knows */
		is_down = neighbour_is_down(named[i].kind, named[i].name,
		    &state);
		neighbour_line_add(&lines->up, "neighbour_up", named[i].kind,
		    name, !is_down);
		neighbour_line_add(&lines->told, "neighbour_refused",
		    named[i].kind, name, is_down ? state.told : 0);
	}
	arena_free(&arena);
}

static bool
neighbour_take_hop(void *context, struct slice line)
{
	struct neighbour_lines *lines = context;
	struct str value = STR_INIT;

	if (json_get(line, "channel", &value) &&
	    slice_is(str_slice(&value), "lmtp") && lines->hops < NAMES_MAX) {
		lines->hops++;
		str_reset(&value);
		(void)json_get(line, "host", &value);
		neighbour_line_add(&lines->up, "neighbour_up", "lmtp",
		    str_slice(&value), json_get_number(line, "held_until") <=
		    lines->now_s);
	}
	str_release(&value);
	return true;
}

/* Those that have mail, or had some lately. */
static void
neighbour_lines_hops(struct neighbour_lines *lines, const char *run_dir)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;

	if (control_connect(run_dir, &control, &err) == CONTROL_REACHED) {
		control_begin(&request, "destinations");
		json_text(&request, "channel", SLICE("lmtp"));
		(void)control_ask(&control, &request, neighbour_take_hop,
		    lines, &last, &err);
	}
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
}

void
metrics_add_neighbours(struct str *out, const struct conf *conf)
{
	struct neighbour_lines lines = { .up = STR_INIT, .told = STR_INIT,
	    .now_s = clock_wall_s() };

	neighbour_lines_asked(&lines, conf);
	neighbour_lines_hops(&lines, conf->run_dir);
	if (lines.up.len > 0) {
		counters_print_head(out, "neighbour_up");
		str_add_slice(out, str_slice(&lines.up));
	}
	if (lines.told.len > 0) {
		counters_print_head(out, "neighbour_refused");
		str_add_slice(out, str_slice(&lines.told));
	}
	str_release(&lines.up);
	str_release(&lines.told);
}
