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

/* A connection is kept to a host, not to a pattern. */
static void
clause_check_warm(struct conf_loader *loader,
    const struct conf_statement *statement,
    const struct conf_schedule *schedule)
{
	bool is_channel = strcmp(schedule->channel, "smtp") == 0 ||
	    strcmp(schedule->channel, "lmtp") == 0;

	if (schedule->warm > 0 && (!is_channel ||
	    strpbrk(schedule->host, "*?") != NULL))
		conf_complain(loader, CONF_ERROR, statement->args[0].token,
		    "name a host in a clause of its own: schedule "
		    "smtp/relay.example { warm 2 }", "warm needs one host of "
		    "smtp or lmtp");
}

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
	clause_check_warm(loader, statement, &clause.schedule);
	conf_clause_push(loader, &clause);
}

void
conf_clause_push(struct conf_loader *loader, const struct conf_clause *clause)
{
	struct conf *conf = loader->conf;

	loader->schedule_set = arena_grow(conf->arena, loader->schedule_set,
	    conf->schedule_count, sizeof(*loader->schedule_set));
	loader->schedule_set[conf->schedule_count] = clause->said;
	conf->schedules = arena_grow(conf->arena, conf->schedules,
	    conf->schedule_count, sizeof(*conf->schedules));
	conf->schedules[conf->schedule_count++] = clause->schedule;
}

/* The bit of an item in `said`: by its place among the rows. */
static uint64_t
item_bit(const struct conf_row *item)
{
	uint64_t bit = 1;

	for (const struct conf_row *row = conf_rows; row != item; row++)
		if (row->group == GROUP_SCHEDULE)
			bit <<= 1;
	if (bit == 0)
		panic("conf: a schedule has more than 64 items");
	return bit;
}

void
conf_clause_note(struct conf_clause *clause, const char *item)
{
	clause->said |= item_bit(conf_row_find(GROUP_SCHEDULE,
	    slice_of(item)));
}

bool
conf_clause_said(const struct conf_loader *loader, size_t index,
    const char *item)
{
	return (loader->schedule_set[index] & item_bit(conf_row_find(
	    GROUP_SCHEDULE, slice_of(item)))) != 0;
}

void
conf_clause_say(struct conf_loader *loader,
    const struct conf_statement *statement, struct conf_clause *clause)
{
	uint64_t bit = item_bit(statement->row);

	if (clause->said & bit)
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    "keep one of them", "'%s' is said twice",
		    statement->row->name);
	clause->said |= bit;
}

void
conf_apply_warn(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_clause *clause = target;
	struct conf_schedule *schedule = &clause->schedule;

	conf_clause_say(loader, statement, clause);
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

/* ---- inheritance --------------------------------------------------- */

/* Take over the items of which `said` has the bit. */
static void
items_take(struct conf_schedule *schedule, const struct conf_schedule *below,
    uint64_t said)
{
	for (size_t i = 0; i < conf_row_count; i++) {
		const struct conf_row *row = &conf_rows[i];

		if (row->group == GROUP_SCHEDULE && (said & item_bit(row)))
			memcpy((char *)schedule + row->offset,
			    (const char *)below + row->offset, row->width);
	}
}

void
conf_clause_inherit(struct conf_clause *clause,
    const struct conf_clause *below)
{
	items_take(&clause->schedule, &below->schedule,
	    below->said & ~clause->said);
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

	for (size_t i = conf->schedule_count; i-- > 0;)
		for (size_t k = i + 1; k < conf->schedule_count; k++)
			if (conf->schedules[k].until_s == 0 &&
			    conf_schedule_covers(&conf->schedules[k],
			    &conf->schedules[i])) {
				items_take(&conf->schedules[i],
				    &conf->schedules[k],
				    ~loader->schedule_set[i]);
				conf_retry_inherit(&conf->schedules[i],
				    &conf->schedules[k]);
				break;
			}
}

static bool
clause_is_over(const struct conf_schedule *schedule)
{
	return schedule->until_s != 0 && schedule->until_s <= clock_wall_s();
}

int64_t
conf_schedule_next_end(const struct conf *conf)
{
	int64_t next_s = 0;

	for (size_t i = 0; i < conf->schedule_count; i++) {
		int64_t until_s = conf->schedules[i].until_s;

		if (until_s != 0 && !clause_is_over(&conf->schedules[i]) &&
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
		    !clause_is_over(&conf->schedules[i]))
			return &conf->schedules[i];
	return &conf->schedules[conf->schedule_count - 1];
}
