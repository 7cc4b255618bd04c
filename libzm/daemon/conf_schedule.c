/* conf_schedule.c - schedule clauses: what they say and what they inherit
 *
 * In     schedule statements and the items of their blocks
 * Out    clauses in which everything is filled in: what one leaves unsaid
 *        comes from the next one below that covers it
 * Holds  beside each clause the bits of what it said (loader)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "daemon/conf_internal.h"
#include "grammar/units.h"

#include "base/banned.h"

struct clause {			/* target of the items */
	struct conf_schedule	schedule;
	unsigned		said;
};

void
conf_apply_schedule(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	struct clause clause = {
		.schedule = {
			.channel = statement->args[0].channel,
			.host = statement->args[0].text,
			.at = conf_at(statement->node->tokens),
		},
	};

	conf_check_list(loader, statement->node->children, GROUP_SCHEDULE,
	    &clause);
	loader->schedule_set = conf_push(conf->arena, loader->schedule_set,
	    conf->schedule_count, sizeof(*loader->schedule_set));
	loader->schedule_set[conf->schedule_count] = clause.said;
	conf->schedules = conf_push(conf->arena, conf->schedules,
	    conf->schedule_count, sizeof(*conf->schedules));
	conf->schedules[conf->schedule_count++] = clause.schedule;
}

/* Note that the item was said; complains when it was before. */
static struct conf_schedule *
say(struct conf_loader *loader, const struct conf_statement *statement,
    void *target, enum conf_said what)
{
	struct clause *clause = target;

	if (clause->said & what)
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    NULL, "'%s' is said twice", statement->row->name);
	clause->said |= what;
	return &clause->schedule;
}

void
conf_apply_parallel(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	say(loader, statement, target, SAID_PARALLEL)->parallel =
	    (unsigned)statement->args[0].number;
}

void
conf_apply_agents(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	say(loader, statement, target, SAID_AGENTS)->agents =
	    (unsigned)statement->args[0].number;
}

void
conf_apply_overfeed(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	say(loader, statement, target, SAID_OVERFEED)->overfeed =
	    (unsigned)statement->args[0].number;
}

void
conf_apply_retry(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_schedule *schedule = say(loader, statement, target,
	    SAID_RETRY);

	if (statement->arg_count > CONF_RETRIES_MAX) {
		conf_complain(loader, CONF_ERROR,
		    statement->args[CONF_RETRIES_MAX].token,
		    "the last one repeats", "more than %d waits",
		    CONF_RETRIES_MAX);
		return;
	}
	schedule->retry_count = statement->arg_count;
	for (size_t i = 0; i < statement->arg_count; i++)
		schedule->retry_s[i] =
		    (int64_t)statement->args[i].number / 1000;
}

void
conf_apply_warn(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	say(loader, statement, target, SAID_WARN)->warn_s =
	    (int64_t)statement->args[0].number / 1000;
}

void
conf_apply_expire(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	say(loader, statement, target, SAID_EXPIRE)->expire_s =
	    (int64_t)statement->args[0].number / 1000;
}

void
conf_apply_idle(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	say(loader, statement, target, SAID_IDLE)->idle_ms =
	    (int64_t)statement->args[0].number;
}

void
conf_apply_command(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	say(loader, statement, target, SAID_COMMAND)->command =
	    statement->args[0].text;
}

/* Take over what `below` says and this one does not. */
static void
inherit(struct conf_schedule *schedule, unsigned said,
    const struct conf_schedule *below)
{
	if (!(said & SAID_PARALLEL))
		schedule->parallel = below->parallel;
	if (!(said & SAID_AGENTS))
		schedule->agents = below->agents;
	if (!(said & SAID_OVERFEED))
		schedule->overfeed = below->overfeed;
	if (!(said & SAID_WARN))
		schedule->warn_s = below->warn_s;
	if (!(said & SAID_EXPIRE))
		schedule->expire_s = below->expire_s;
	if (!(said & SAID_IDLE))
		schedule->idle_ms = below->idle_ms;
	if (!(said & SAID_COMMAND))
		schedule->command = below->command;
	if (said & SAID_RETRY)
		return;
	memcpy(schedule->retry_s, below->retry_s, sizeof(below->retry_s));
	schedule->retry_count = below->retry_count;
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
			if (conf_schedule_covers(&conf->schedules[k],
			    &conf->schedules[i])) {
				inherit(&conf->schedules[i],
				    loader->schedule_set[i],
				    &conf->schedules[k]);
				break;
			}
}

const struct conf_schedule *
conf_schedule_for(const struct conf *conf, struct slice channel,
    struct slice host)
{
	for (size_t i = 0; i + 1 < conf->schedule_count; i++)
		if (glob_match(slice_of(conf->schedules[i].channel),
		    channel) &&
		    glob_match(slice_of(conf->schedules[i].host), host))
			return &conf->schedules[i];
	return &conf->schedules[conf->schedule_count - 1];
}
