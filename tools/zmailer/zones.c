/* zones.c - zmailer zones: what each sending zone does
 *
 * In     the configuration's zones; the scheduler's destinations and orders
 * Out    a line a zone; or JSON lines
 * Trusts nothing in the answers but their form
 * Spec   zmailer-queue(8); zmailer.conf(5), zone
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "grammar/units.h"
#include "mail/state.h"
#include "tools/queue/control.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { DAY_S = 86400 };

struct sum {			/* of a zone's destinations */
	int64_t	destinations, ready, waiting, active, parked, agents;
	bool	is_suspended;
	bool	is_alone;	/* Redis is away: its warm-up is counted here
				 * alone */
	int64_t	cap;		/* of today, as the scheduler heard; 0: it did
				 * not */
};

struct look {
	const struct conf *conf;
	struct sum	 *sums;		/* as conf->zones */
};

/* Index in conf->zones of a member's value, or zone_count. */
static size_t
zones_zone_of(const struct conf *conf, struct slice line, const char *key)
{
	struct str name = STR_INIT;
	size_t i = 0;

	(void)json_get(line, key, &name);
	while (i < conf->zone_count && !slice_is(str_slice(&name),
	    conf->zones[i].name))
		i++;
	str_release(&name);
	return i;
}

static bool
destination_add(void *context, struct slice line)
{
	struct look *look = context;
	size_t i = zones_zone_of(look->conf, line, "zone");
	struct sum *sum = &look->sums[i];

	if (i == look->conf->zone_count)
		return true;
	sum->destinations++;
	sum->ready += json_get_number(line, "ready");
	sum->waiting += json_get_number(line, "waiting");
	sum->active += json_get_number(line, "active");
	sum->parked += json_get_number(line, "parked");
	sum->agents += json_get_number(line, "agents");
	sum->is_alone = sum->is_alone || json_is(line, "warm_up_alone",
	    "true");
	if (json_get_number(line, "warm_up") > 0)
		sum->cap = json_get_number(line, "warm_up");
	return true;
}

static bool
order_add(void *context, struct slice line)
{
	struct look *look = context;
	struct str glob = STR_INIT;

	if (json_is(line, "order", "suspend") &&
	    json_is(line, "channel", "zone") &&
	    json_get(line, "host", &glob))
		for (size_t i = 0; i < look->conf->zone_count; i++)
			if (glob_match(str_slice(&glob),
			    slice_of(look->conf->zones[i].name)))
				look->sums[i].is_suspended = true;
	str_release(&glob);
	return true;
}

/* What the plan allows at each provider today; -1: any number. */
static int64_t
warm_cap(const struct conf_zone *zone, int64_t now_s)
{
	int64_t day = (now_s - zone->warm_start_s) / DAY_S;

	if (now_s < zone->warm_start_s)
		day = 0;
	if (zone->warm_count == 0 || (uint64_t)day >= zone->warm_count)
		return -1;
	return zone->warm_caps[day];
}

/* The same; the first day may be that of another node. */
static int64_t
sum_cap(const struct conf_zone *zone, const struct sum *sum, int64_t now_s)
{
	return sum->cap > 0 ? sum->cap : warm_cap(zone, now_s);
}

static const char *
sum_state(const struct sum *sum)
{
	const struct destination_look look = { .ready = sum->ready,
		.is_suspended = sum->is_suspended, .active = sum->active,
		.waiting = sum->waiting, .held = sum->parked };

	return destination_states[destination_state_of(&look)].name;
}

static void
sum_json(const struct conf_zone *zone, const struct sum *sum, int64_t now_s)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "zone", slice_of(zone->name));
	json_bool(&out, "suspended", sum->is_suspended);
	json_text(&out, "state", slice_of(sum_state(sum)));
	json_number(&out, "sources", (int64_t)zone->source_count);
	json_number(&out, "destinations", sum->destinations);
	json_number(&out, "ready", sum->ready);
	json_number(&out, "waiting", sum->waiting);
	json_number(&out, "active", sum->active);
	json_number(&out, "parked", sum->parked);
	json_number(&out, "agents", sum->agents);
	json_number(&out, "limit", zone->agents);
	if (sum_cap(zone, sum, now_s) >= 0) {
		json_number(&out, "warm_up", sum_cap(zone, sum, now_s));
		json_bool(&out, "warm_up_shared", zone->warm_is_shared);
		json_bool(&out, "warm_up_alone", sum->is_alone);
	}
	json_close(&out);
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
sum_line(const struct conf_zone *zone, const struct sum *sum, int64_t now_s)
{
	char limit[24] = "-";

	if (zone->agents > 0)
		snprintf(limit, sizeof(limit), "%u", zone->agents);
	printf("%-20s %7zu %6" PRId64 " %6" PRId64 " %6" PRId64 " %6" PRId64
	    " %6" PRId64 " %6" PRId64 " %6s  %s", zone->name,
	    zone->source_count, sum->destinations, sum->ready, sum->waiting,
	    sum->active, sum->parked, sum->agents, limit, sum_state(sum));
	if (sum_cap(zone, sum, now_s) >= 0)
		printf(", warming: %" PRId64 " today%s", sum_cap(zone, sum,
		    now_s), sum->is_alone ? " of all nodes, and Redis is "
		    "away: this one has its part" : zone->warm_is_shared ?
		    " of all nodes" : "");
	printf("\n");
}

static int
look_ask(struct look *look)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;
	enum control_reached reached = control_connect(look->conf->run_dir,
	    &control, &err);
	int status = EX_OK;

	if (reached == CONTROL_REACHED) {
		control_begin(&request, "destinations");
		json_text(&request, "channel", SLICE("zone"));
		json_text(&request, "host", SLICE("*"));
		if (control_ask(&control, &request, destination_add, look,
		    &last, &err) < 0)
			reached = CONTROL_BROKEN;
	}
	if (reached == CONTROL_REACHED) {
		control_begin(&request, "orders");
		if (control_ask(&control, &request, order_add, look, &last,
		    &err) < 0)
			reached = CONTROL_BROKEN;
	}
	if (reached == CONTROL_ABSENT)
		status = control_stopped("zones", look->conf->run_dir, NULL);
	else if (reached == CONTROL_BROKEN)
		status = control_failed("zones", &control, &err);
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return status;
}

static void
look_print(const struct look *look, bool is_json)
{
	int64_t now_s = clock_wall_s();

	if (!is_json && look->conf->zone_count == 0)
		printf("No zone is configured.\n");
	else if (!is_json)
		printf("%-20s %7s %6s %6s %6s %6s %6s %6s %6s  %s\n", "ZONE",
		    "SOURCES", "DESTS", "READY", "WAIT", "ACTIVE", "HELD",
		    "AGENTS", "LIMIT", "STATE");
	for (size_t i = 0; i < look->conf->zone_count; i++)
		(is_json ? sum_json : sum_line)(&look->conf->zones[i],
		    &look->sums[i], now_s);
}

int
verb_zones(struct arguments *arguments)
{
	struct look look;
	struct conf *conf;
	int status;

	conf = verb_conf_spool(arguments->conf_path);
	look = (struct look){ .conf = conf, .sums = mem_alloc(
	    conf->zone_count + 1, sizeof(*look.sums)) };
	status = look_ask(&look);
	if (status == EX_OK)
		look_print(&look, arguments_has(arguments, OPT_JSON));
	mem_free(&look.sums);
	conf_free(&conf);
	return status;
}
