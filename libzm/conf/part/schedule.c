/* schedule.c - schedule clauses: what they say and what they inherit
 *
 * In     schedule statements and the items of their blocks
 * Out    clauses in which everything is filled in: what one leaves unsaid
 *        comes from the next one below that covers it
 * Holds  beside each clause the bits of what it said (loader)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "conf/part/part.h"
#include "grammar/units.h"

#include "base/banned.h"

void
conf_apply_schedule(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_clause clause = {
		.schedule = {
			.channel = statement->args[0].channel,
			.host = statement->args[0].text,
			.at = conf_at(statement->node->tokens),
		},
	};

	conf_check_list(loader, statement->node->children, GROUP_SCHEDULE,
	    &clause);
	conf_clause_push(loader, &clause);
}

void
conf_clause_push(struct conf_loader *loader, const struct conf_clause *clause)
{
	struct conf *conf = loader->conf;

	loader->schedule_set = conf_push(conf->arena, loader->schedule_set,
	    conf->schedule_count, sizeof(*loader->schedule_set));
	loader->schedule_set[conf->schedule_count] = clause->said;
	conf->schedules = conf_push(conf->arena, conf->schedules,
	    conf->schedule_count, sizeof(*conf->schedules));
	conf->schedules[conf->schedule_count++] = clause->schedule;
}

struct conf_schedule *
conf_clause_say(struct conf_loader *loader,
    const struct conf_statement *statement, void *target,
    enum conf_said what)
{
	struct conf_clause *clause = target;

	if (clause->said & what)
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    NULL, "'%s' is said twice", statement->row->name);
	clause->said |= what;
	return &clause->schedule;
}

/* ---- items of one number or word ---------------------------------- */

static uint64_t
number_said(struct conf_loader *loader,
    const struct conf_statement *statement, void *target,
    enum conf_said what, struct conf_schedule **out)
{
	*out = conf_clause_say(loader, statement, target, what);
	return statement->args[0].number;
}

void
conf_apply_parallel(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_PARALLEL, &schedule);

	schedule->parallel = (unsigned)said;
}

void
conf_apply_agents(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_AGENTS, &schedule);

	schedule->agents = (unsigned)said;
}

void
conf_apply_channel_agents(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_CHANNEL, &schedule);

	schedule->channel_agents = (unsigned)said;
}

void
conf_apply_provider(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_PROVIDER, &schedule);

	schedule->provider = (unsigned)said;
}

void
conf_apply_overfeed(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_OVERFEED, &schedule);

	schedule->overfeed = (unsigned)said;
}

void
conf_apply_connection_messages(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_CONNECTION, &schedule);

	schedule->connection_messages = (unsigned)said;
}

void
conf_apply_jitter(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_JITTER, &schedule);

	schedule->jitter_percent = (unsigned)said;
}

void
conf_apply_expire(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_EXPIRE, &schedule);

	schedule->expire_s = (int64_t)said / 1000;
}

void
conf_apply_expire_untried(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_UNTRIED, &schedule);

	schedule->untried_s = (int64_t)said / 1000;
}

void
conf_apply_idle(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_IDLE, &schedule);

	schedule->idle_ms = (int64_t)said;
}

void
conf_apply_queue_only(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_QUEUE_ONLY, &schedule);

	schedule->is_queue_only = said != 0;
}

void
conf_apply_order(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_ORDER, &schedule);

	schedule->is_by_age = said != 0;
}

void
conf_apply_fair(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_FAIR, &schedule);

	schedule->is_fair = said != 0;
}

void
conf_apply_feedback(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_FEEDBACK, &schedule);

	schedule->has_feedback = said != 0;
}

void
conf_apply_on_exhaust(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule;
	uint64_t said = number_said(loader, statement, target,
	    SAID_EXHAUST, &schedule);

	schedule->exhaust = (enum conf_exhaust)said;
}

/* ---- items of several words ---------------------------------------- */

void
conf_apply_rate(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule = conf_clause_say(loader, statement,
	    target, SAID_RATE);

	schedule->rate_count = statement->args[0].number;
	schedule->rate_per_ms = statement->args[0].span_ms;
}

void
conf_apply_warn(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule = conf_clause_say(loader, statement,
	    target, SAID_WARN);

	for (size_t i = 0; i < statement->arg_count; i++) {
		int64_t age_s = (int64_t)statement->args[i].number / 1000;

		if (age_s == 0 && statement->arg_count == 1)
			return;
		if (schedule->warn_count == CONF_WARNS_MAX ||
		    age_s <= (i > 0 ? schedule->warn_s[i - 1] : 0)) {
			conf_complain(loader, CONF_ERROR,
			    statement->args[i].token, "ages of the message, "
			    "the youngest first: warn 4h 1d 3d",
			    schedule->warn_count == CONF_WARNS_MAX ?
			    "more than %d notices" :
			    "this is not later than the one before it",
			    CONF_WARNS_MAX);
			return;
		}
		schedule->warn_s[schedule->warn_count++] = age_s;
	}
}

void
conf_apply_command(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	conf_clause_say(loader, statement, target, SAID_COMMAND)->command =
	    statement->args[0].text;
}

void
conf_apply_clause_until(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	conf_clause_say(loader, statement, target, SAID_UNTIL)->until_s =
	    (int64_t)statement->args[0].number;
}

/* ---- inheritance --------------------------------------------------- */

#define FIELD(said, field) { said, offsetof(struct conf_schedule, field), \
	sizeof(((struct conf_schedule *)NULL)->field) }

static const struct {
	unsigned	said;
	size_t		offset, width;
} fields[] = {
	FIELD(SAID_PARALLEL, parallel), FIELD(SAID_AGENTS, agents),
	FIELD(SAID_OVERFEED, overfeed), FIELD(SAID_RETRY, retry_s),
	FIELD(SAID_RETRY, retry_count), FIELD(SAID_RETRY, retry_stops),
	FIELD(SAID_JITTER, jitter_percent), FIELD(SAID_WARN, warn_s),
	FIELD(SAID_WARN, warn_count), FIELD(SAID_EXPIRE, expire_s),
	FIELD(SAID_UNTRIED, untried_s), FIELD(SAID_EXHAUST, exhaust),
	FIELD(SAID_CHANNEL, channel_agents), FIELD(SAID_PROVIDER, provider),
	FIELD(SAID_RATE, rate_count), FIELD(SAID_RATE, rate_per_ms),
	FIELD(SAID_CONNECTION, connection_messages),
	FIELD(SAID_QUEUE_ONLY, is_queue_only), FIELD(SAID_ORDER, is_by_age),
	FIELD(SAID_FAIR, is_fair), FIELD(SAID_FEEDBACK, has_feedback),
	FIELD(SAID_IDLE, idle_ms), FIELD(SAID_COMMAND, command),
};

/* Take over what `below` says and this one does not. */
static void
inherit(struct conf_schedule *schedule, unsigned said,
    const struct conf_schedule *below)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!(said & fields[i].said))
			memcpy((char *)schedule + fields[i].offset,
			    (const char *)below + fields[i].offset,
			    fields[i].width);
	conf_retry_inherit(schedule, below);
}

void
conf_clause_inherit(struct conf_clause *clause,
    const struct conf_clause *below)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if ((below->said & ~clause->said) & fields[i].said)
			memcpy((char *)&clause->schedule + fields[i].offset,
			    (const char *)&below->schedule +
			    fields[i].offset, fields[i].width);
	clause->said |= below->said;
}

bool
conf_schedule_covers(const struct conf_schedule *wide,
    const struct conf_schedule *narrow)
{
	return glob_match(slice_of(wide->channel), slice_of(narrow->channel)) &&
	    glob_match(slice_of(wide->host), slice_of(narrow->host));
}

/* The last clause is a preset for everything and says all. */
void
conf_schedule_resolve(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;

	for (size_t i = conf->schedule_count; i-- > 0; )
		for (size_t k = i + 1; k < conf->schedule_count; k++)
			if (conf->schedules[k].until_s == 0 &&
			    conf_schedule_covers(&conf->schedules[k],
			    &conf->schedules[i])) {
				inherit(&conf->schedules[i],
				    loader->schedule_set[i],
				    &conf->schedules[k]);
				break;
			}
}

static bool
is_over(const struct conf_schedule *schedule)
{
	return schedule->until_s != 0 && schedule->until_s <= clock_wall_s();
}

int64_t
conf_schedule_next_end(const struct conf *conf)
{
	int64_t next_s = 0;

	for (size_t i = 0; i < conf->schedule_count; i++) {
		int64_t until_s = conf->schedules[i].until_s;

		if (until_s != 0 && !is_over(&conf->schedules[i]) &&
		    (next_s == 0 || until_s < next_s))
			next_s = until_s;
	}
	return next_s;
}

const struct conf_schedule *
conf_schedule_for(const struct conf *conf, struct slice channel,
    struct slice host)
{
	for (size_t i = 0; i + 1 < conf->schedule_count; i++)
		if (glob_match(slice_of(conf->schedules[i].channel),
		    channel) &&
		    glob_match(slice_of(conf->schedules[i].host), host) &&
		    !is_over(&conf->schedules[i]))
			return &conf->schedules[i];
	return &conf->schedules[conf->schedule_count - 1];
}
