/* postmaster.c - postmaster's mail has a reader
 *
 * In     the aliases of our domains, the accounts of the machine
 * Out    a warning where an alias leads to nobody
 * Holds  one table at a time
 * Spec   zmailer(8), check; RFC 5321 section 4.5.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "daemon/machine/look.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum { POSTMASTER_STEPS = 10, READER_BYTES = 256 };

struct reader {			/* who an alias names */
	char		 name[READER_BYTES];
	char		 place[1024];	/* "FILE:LINE" or "table NAME" */
};

static bool
reader_look_up(const struct conf *conf, const char *table_name,
    struct reader *reader)
{
	struct table *table = NULL;
	struct slice value;
	unsigned line = 0;
	struct err err;
	bool is_found = false;

	for (size_t i = 0; i < conf->table_count && table == NULL; i++)
		if (strcmp(conf->tables[i].name, table_name) == 0)
			table = table_new(table_name, conf->tables[i].spec);
	if (table != NULL && table_lookup(table, slice_of(reader->name),
	    &value, &line, &err) == TABLE_FOUND) {
		value = slice_first(slice_trim(value), READER_BYTES - 1);
		memcpy(reader->name, value.p, value.n);
		reader->name[value.n] = '\0';
		if (line > 0 && table_path(table)[0] != '\0')
			snprintf(reader->place, sizeof(reader->place),
			    "%s:%u", table_path(table), line);
		else
			snprintf(reader->place, sizeof(reader->place),
			    "table %s", table_name);
		is_found = true;
	}
	table_free(&table);
	return is_found;
}

/* One plain name: not an address, a list, a program or a file. */
static bool
reader_is_name(const struct reader *reader)
{
	return reader->name[0] != '\0' &&
	    strpbrk(reader->name, "@|/,:\"\\ \t") == NULL;
}

/* Names are followed as long as aliases have them. */
static void
domain_check(struct machine_look *look, const struct conf_domain *domain)
{
	struct reader reader = { "postmaster", "" };
	bool is_alias = true;

	for (int left = POSTMASTER_STEPS; left > 0 && is_alias &&
	    reader_is_name(&reader); left--) {
		is_alias = false;
		for (size_t i = 0; i < domain->alias_count && !is_alias; i++)
			is_alias = reader_look_up(look->conf,
			    domain->aliases[i], &reader);
	}
	if (is_alias || reader.place[0] == '\0' ||
	    getpwnam(reader.name) != NULL)
		return;
	machine_tell(look, CONF_WARNING, domain->at, "name there who reads it",
	    arena_printf(look->arena, "postmaster's mail has no reader: %s "
	    "gives it to %s, and there is neither such an alias nor such an "
	    "account", reader.place, reader.name));
}

void
machine_check_postmaster(struct machine_look *look)
{
	const struct conf *conf = look->conf;

	for (size_t i = 0; i < conf->domain_count; i++)
		if (conf->domains[i].users == USERS_PASSWD &&
		    strcmp(conf->domains[i].deliver.channel, "local") == 0)
			domain_check(look, &conf->domains[i]);
}
