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
	struct machine_table	*place;
	struct arena		*arena;		/* of one value */
	unsigned		 bad;
};

static void
values_complain(struct values *values, unsigned line, struct slice key,
    const char *hint, const char *what)
{
	if (values->bad++ >= SAID_MAX)
		return;
	machine_tell_line(values->place, CONF_WARNING, line, key, hint,
	    arena_printf(values->look->arena, SLICE_FMT ": %s",
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
	if (found < 0) {
		const char *mend = conf_mend_target(values->arena, value);

		values_complain(values, line, key, mend != NULL ? mend :
		    "mail for it waits in deferred/ until it is mended",
		    err.text);
	}
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

/* ---- passwords and secrets ---------------------------------------------- */

/* table_fn.  What crypt(3) makes, or a SCRAM entry. */
static bool
check_password(void *context, struct slice key, struct slice value,
    unsigned line)
{
	enum { DES_BYTES = 13 };
	struct values *values = context;

	value = slice_trim(value);
	if (slice_starts(value, "$") || slice_starts(value, "{") ||
	    slice_starts(value, "_") || value.n == DES_BYTES)
		return true;
	values_complain(values, line, key, "write what openssl passwd -6 "
	    "prints; zmailer-auth(8) has the forms", value.n == 0 ?
	    "there is no password" : "this is no password as crypt(3) makes "
	    "it: nobody can log in with it");
	return values->bad < SAID_MAX;
}

/* table_fn.  NAME PASSWORD, two words. */
static bool
check_secret(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct values *values = context;
	struct slice name = SLICE("NAME"), rest = value, host = key, word;

	if (slice_starts(key, "[")) {	/* as Postfix: [HOST]:PORT A:B */
		host = slice_first(slice_from(key, 1), slice_find(key, ']') -
		    1);
		while (slice_word(&rest, &word))
			name = word;
	} else if (slice_word(&rest, &name) && slice_trim(rest).n > 0) {
		return true;
	}
	values_complain(values, line, key, arena_printf(values->look->arena,
	    "write " SLICE_FMT " " SLICE_FMT " PASSWORD, with blanks "
	    "between", SLICE_ARG(host), SLICE_ARG(slice_first(name,
	    slice_find(name, ':')))), "this is no HOST NAME PASSWORD");
	return values->bad < SAID_MAX;
}

void
machine_check_values(struct machine_table *place)
{
	struct machine_look *look = place->look;
	const struct conf_table *entry = place->entry;
	struct table *table = place->table;
	struct values values = { .look = look, .place = place };
	struct err err;

	/* one that cannot be listed cannot be looked through */
	if (is_of_routes(look->conf, entry->name))
		(void)table_each(table, check_route, &values, &err);
	if (is_of_users(look->conf, entry->name))
		(void)table_each(table, check_user, &values, &err);
	if (look->conf->auth.table != NULL &&
	    strcmp(look->conf->auth.table, entry->name) == 0)
		(void)table_each(table, check_password, &values, &err);
	if (look->conf->auth_to.table != NULL &&
	    strcmp(look->conf->auth_to.table, entry->name) == 0)
		(void)table_each(table, check_secret, &values, &err);
}
