/* limit_place.c - where a limit stands that keeps mail back
 *
 * In     the constraint that was found; the configuration in force
 * Out    the setting, its value, file and line
 * Holds  nothing
 * Spec   doc/protocol/control.md section 4, why
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/json.h"
#include "conf/read/read.h"
#include "grammar/units.h"
#include "scheduler/agents/capacity.h"
#include "scheduler/control/limit_place.h"
#include "scheduler/plan/shaping/provider.h"

#include "base/banned.h"

struct limit_place {
	struct str	setting;
	struct conf_at	at;
	bool		is_order, is_learned;
};

/* "schedule smtp/x.test { parallel 20 }", of the thread's clause. */
static void
place_of_clause(const struct conf *conf, const struct thread *thread,
    const char *word, unsigned value, struct limit_place *out)
{
	const struct conf_schedule *clause =
	    &conf->schedules[thread->ring->clause_index];

	str_addf(&out->setting, "schedule %s/%s { %s", clause->channel,
	    clause->host, word);
	if (value > 0)
		str_addf(&out->setting, " %u", value);
	str_adds(&out->setting, " }");
	out->at = clause->at;
}

static const struct conf_zone *
zone_of_thread(const struct conf *conf, const struct thread *thread)
{
	for (size_t i = 0; i < conf->zone_count; i++)
		if (slice_is(slice_of(thread->zone), conf->zones[i].name))
			return &conf->zones[i];
	return NULL;
}

static void
place_of_sessions(const struct conf *conf, const struct thread *thread,
    struct limit_place *out)
{
	unsigned most = thread->ring->clause.parallel;

	out->is_order = thread->pin > 0;
	if (out->is_order) {
		str_addf(&out->setting, "zmailer pin --limit %u",
		    thread->pin);
		return;
	}
	place_of_clause(conf, thread, "parallel", most, out);
	out->is_learned = plan_sessions(thread) < most;
}

static void
place_of_provider(const struct conf *conf, const struct thread *thread,
    struct limit_place *out)
{
	unsigned most = thread->ring->clause.provider;

	out->is_learned = most == 0 || provider_limit(thread) < most;
	place_of_clause(conf, thread, "provider", most, out);
}

static void
place_of_rate(const struct conf *conf, const struct thread *thread,
    struct limit_place *out)
{
	const struct conf_schedule *clause = &thread->ring->clause;
	struct str word = STR_INIT;

	str_adds(&word, "rate");
	if (clause->rate_count > 0) {
		str_addf(&word, " %llu/",
		    (unsigned long long)clause->rate_count);
		units_add_span(&word, clause->rate_per_ms);
	}
	out->is_learned = thread->pace.slow_us > 0;
	place_of_clause(conf, thread, word.buf, 0, out);
	str_release(&word);
}

/* Of all that rings share the one that binds now. */
static void
place_of_agents(const struct agents *agents, const struct thread *thread,
    struct limit_place *out)
{
	const struct conf *conf = agents->queue->conf;
	const struct conf_setting *setting;
	unsigned limit, used;

	switch (capacity_bound(agents, thread->ring, clock_steady_ms(),
	    &limit, &used)) {
	case CAPACITY_RING:
		place_of_clause(conf, thread, "agents", limit, out);
		break;
	case CAPACITY_CHANNEL:
		place_of_clause(conf, thread, "channel-agents", limit, out);
		break;
	case CAPACITY_TOTAL:
		str_addf(&out->setting, "limit agents %u", limit);
		setting = conf_setting_find("limit", SLICE("agents"));
		if (setting != NULL && conf->book != NULL)
			out->at = conf->book->setting_at[setting -
			    conf_settings];
		break;
	default:
		break;
	}
}

static void
place_of_zone(const struct conf *conf, const struct thread *thread,
    struct limit_place *out)
{
	const struct conf_zone *zone = zone_of_thread(conf, thread);

	if (zone == NULL)
		return;
	str_addf(&out->setting, "zone %s { agents %u }", zone->name,
	    zone->agents);
	out->at = zone->at;
}

static void
limit_place_find(const struct agents *agents, const struct thread *thread,
    enum cause cause, struct limit_place *out)
{
	const struct conf *conf = agents->queue->conf;

	switch (cause) {
	case CAUSE_LIMIT:
		place_of_sessions(conf, thread, out);
		break;
	case CAUSE_PROVIDER:
		place_of_provider(conf, thread, out);
		break;
	case CAUSE_RATE:
		place_of_rate(conf, thread, out);
		break;
	case CAUSE_AGENTS:
		place_of_agents(agents, thread, out);
		break;
	case CAUSE_ZONE:
		place_of_zone(conf, thread, out);
		break;
	default:
		break;
	}
}

void
limit_place_add(const struct agents *agents, const struct thread *thread,
    const struct constraint *why, struct str *out)
{
	struct limit_place place = { .setting = STR_INIT };
	struct str at = STR_INIT;

	if (thread == NULL || thread->ring->is_stale)
		return;
	limit_place_find(agents, thread, why->cause, &place);
	if (place.setting.len > 0) {
		if (place.at.file != NULL)
			str_addf(&at, "%s:%u", place.at.file, place.at.line);
		else
			str_adds(&at, place.is_order ? "order" : "preset");
		json_text(out, "setting", str_slice(&place.setting));
		json_text(out, "place", str_slice(&at));
		json_bool(out, "learned", place.is_learned);
	}
	str_release(&place.setting);
	str_release(&at);
}
