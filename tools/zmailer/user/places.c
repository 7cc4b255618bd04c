/* places.c - the tables that have a user
 *
 * In     the configuration, --table
 * Out    up to USER_PLACES_MAX tables, each once
 * Holds  nothing
 * Spec   user.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "tools/zmailer/user/user.h"

#include "base/banned.h"

static void
user_place_add(struct user *user, const char *name, const char *spec,
    bool is_login, bool is_mailbox)
{
	struct arena *arena = user->change->arena;
	const struct conf_table table = { .spec = spec };
	struct user_place *place;

	for (size_t i = 0; i < user->count; i++) {
		place = &user->places[i];
		if (strcmp(place->spec, spec) != 0)
			continue;
		place->is_login = place->is_login || is_login;
		place->is_mailbox = place->is_mailbox || is_mailbox;
		return;
	}
	if (user->count == USER_PLACES_MAX)
		return;
	user->places[user->count++] = (struct user_place){
		.name = strchr(name, ':') != NULL ? name :
		    arena_printf(arena, "<%s>", name),
		.spec = spec, .file = conf_table_file(&table),
		.is_login = is_login, .is_mailbox = is_mailbox };
}

/* "<passwords>", "passwords" or "TYPE:PATH" of --table, else that of auth. */
int
user_logins_add(struct user *user)
{
	const struct conf *conf = user->change->conf;
	const char *name = arguments_text(user->change->arguments,
	    OPT_LOGINS), *spec = name;
	const struct conf_table *table;
	struct err err;

	if (name == NULL && conf->auth.kind != AUTH_USERS)
		return EX_OK;
	if (name == NULL)
		name = conf->auth.table;
	else if (name[0] == '<')
		name = slice_dup(user->change->arena, (struct slice){
		    name + 1, strcspn(name + 1, ">") });
	table = conf_table_find(conf, name);
	if (table != NULL)
		spec = table->spec;
	else if (strchr(name, ':') == NULL)
		err_set(&err, "there is no table called %s", name);
	if (table == NULL && (strchr(name, ':') == NULL ||
	    table_spec_check(name, &err) != 0)) {
		fprintf(stderr, "zmailer: user: --table %s: %s\n", name,
		    err.text);
		return EX_CONFIG;
	}
	user_place_add(user, name, spec, true, false);
	return EX_OK;
}

void
user_mailboxes_add(struct user *user, const struct conf_domain *domain)
{
	const struct conf_table *table = domain == NULL ||
	    domain->users != USERS_TABLE ? NULL :
	    conf_table_find(user->change->conf, domain->users_table);

	if (table != NULL)
		user_place_add(user, table->name, table->spec, false, true);
}

/* Can only a text file, or a database, have it: the other types are made of
 * something. */
int
user_places_check(const struct user *user)
{
	for (size_t i = 0; i < user->count; i++) {
		const struct user_place *place = &user->places[i];

		if (place->file != NULL || table_spec_is_asked(place->spec))
			continue;
		fprintf(stderr, "zmailer: user: %s is %s; only a file: or a "
		    "database can be written to\n", place->name, place->spec);
		return EX_CONFIG;
	}
	if (user->count > 0)
		return EX_OK;
	fprintf(stderr, "zmailer: user: no table of %s has users or "
	    "passwords%s; for users of mail without accounts write: table "
	    "passwords file:/etc/zmailer/passwords, auth users <passwords> "
	    "scram, and users <passwords> in the block of their domain\n",
	    user->change->conf_path, user->change->conf->auth.kind ==
	    AUTH_NONE ? "" : " (auth asks another program, which keeps "
	    "them: adduser for accounts of this machine)");
	return EX_CONFIG;
}

/* Places that can do it stay; those that cannot belong to a program that
 * manages accounts, which is told when no place is left. */
int
user_places_that_can(struct user *user, const char *verb)
{
	size_t kept = 0;
	const struct user_place *other = NULL;

	for (size_t i = 0; i < user->count; i++) {
		if (user->places[i].file != NULL ||
		    user_base_can(user->places[i].spec, verb))
			user->places[kept++] = user->places[i];
		else if (other == NULL || user->places[i].is_login)
			other = &user->places[i];
	}
	if (other == NULL || (kept > 0 && !other->is_login)) {
		user->count = kept;
		return EX_OK;
	}
	fprintf(stderr, "zmailer: user: the definition of %s (%s) has no "
	    "line %s: the program that manages these users does it, or see "
	    "zmailer-user(8)\n", other->name, other->spec, verb);
	return EX_CONFIG;
}
