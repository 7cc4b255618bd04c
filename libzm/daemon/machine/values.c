/* values.c - what stands in the tables of routes and of users is good
 *
 * In     a table and what the configuration asks it for
 * Out    a warning for each bad value, with file and line
 * Holds  nothing
 * Spec   zmailer.conf(5), route, users; zmailer(8), check
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "daemon/machine/look.h"
#include "conf/route_value.h"
#include "grammar/smtp/path.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum { SAID_MAX = 20 };			/* complaints about one table */

struct values {
	struct machine_look	*look;
	const struct conf_table	*entry;
	struct table		*table;
	struct arena		*arena;		/* of one value */
	unsigned		 bad;
};

static void
values_complain(struct values *values, unsigned line, struct slice key,
    const char *hint, const char *what)
{
	const char *path = table_path(values->table);

	if (values->bad++ >= SAID_MAX)
		return;
	machine_tell(values->look, CONF_WARNING, values->entry->at, hint,
	    arena_printf(values->look->arena, "%s:%u: " SLICE_FMT ": %s",
	    path[0] != '\0' ? path : values->entry->name, line,
	    SLICE_ARG(key), what));
}

/* ---- routes ------------------------------------------------------------- */

/* A channel of our own, or one whose clause says what to run. */
static bool
has_agent(const struct conf *conf, const char *channel, struct slice host)
{
	const struct conf_schedule *clause = conf_schedule_for(conf,
	    slice_of(channel), host);

	return conf_channel_agent(channel) != NULL ||
	    (clause != NULL && clause->command != NULL);
}

static void
check_channel(struct values *values, unsigned line, struct slice key,
    struct slice channel, struct slice host)
{
	struct arena *arena = values->look->arena;
	const char *name = slice_dup(values->arena, channel);

	if (has_agent(values->look->conf, name, host))
		return;
	values_complain(values, line, key, arena_printf(arena,
	    "add: schedule %s/* { command PROGRAM }", name),
	    arena_printf(arena, "channel '%s' has no agent", name));
}

/* table_fn.  A domain that is asked for may stand for .parent or "." */
static bool
check_route(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct values *values = context;
	struct route_target target;
	struct err err = { "" };
	int found;

	values->arena = arena_new();
	found = route_value_parse(values->arena, value, SLICE("x.test"),
	    &target, &err);
	if (found < 0)
		values_complain(values, line, key,
		    "mail for it waits in deferred/ until it is mended",
		    err.text);
	if (found == 1) {
		check_channel(values, line, key, target.channel,
		    target.host);
		for (size_t i = 0; i < target.way_count; i++)
			check_channel(values, line, key,
			    target.ways[i].channel, target.ways[i].host);
	}
	arena_free(&values->arena);
	return values->bad < SAID_MAX;
}

static bool
is_of_routes(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->route_count; i++)
		if (conf->routes[i].table != NULL &&
		    strcmp(conf->routes[i].table, name) == 0)
			return true;
	return false;
}

/* ---- users -------------------------------------------------------------- */

/* table_fn.  What does not begin with \ is for people. */
static bool
check_user(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct values *values = context;

	value = slice_trim(value);
	if (slice_starts(value, "\\") &&
	    !path_is_mailbox_name(slice_from(value, 1)))
		values_complain(values, line, key,
		    "write \\NAME, or nothing for a mailbox called as it is",
		    "this names no mailbox");
	return values->bad < SAID_MAX;
}

static bool
is_of_users(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->domain_count; i++)
		if (conf->domains[i].users_table != NULL &&
		    strcmp(conf->domains[i].users_table, name) == 0)
			return true;
	return false;
}

void
machine_check_values(struct machine_look *look, const struct conf_table *entry,
    struct table *table)
{
	struct values values = { .look = look, .entry = entry,
	    .table = table };
	struct err err;

	/* one that cannot be listed cannot be looked through */
	if (is_of_routes(look->conf, entry->name))
		(void)table_each(table, check_route, &values, &err);
	if (is_of_users(look->conf, entry->name))
		(void)table_each(table, check_user, &values, &err);
}
