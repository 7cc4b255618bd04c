/* newaliases.c - check the alias tables, and build those that are databases
 *
 * zmailer reads plain alias files as they stand and notices changes by
 * itself; cdb: and lmdb: tables are made anew from their plain files.
 *
 * In     -C FILE
 * Out    a line a table; databases; exit 65 when one has a bad entry
 * Spec   newaliases(1)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/err.h"
#include "base/fd.h"
#include "conf/conf.h"
#include "mail/table/alias_check.h"
#include "mail/table/build.h"
#include "mail/table/table.h"

#include "base/banned.h"

static void
newaliases_complain(void *context, unsigned line, const char *what)
{
	const struct table *table = context;

	if (line > 0)
		fprintf(stderr, "newaliases: %s:%u: %s\n",
		    table_path(table)[0] != '\0' ? table_path(table) :
		    table_name(table), line, what);
	else
		fprintf(stderr, "newaliases: %s\n", what);
}

static int
newaliases_check_table(const struct conf_table *row)
{
	struct table *table = table_new(row->name, row->spec);
	unsigned entries = 0;
	size_t built;
	struct err err;
	int status = EX_OK;

	if (table_build(row->spec, NULL, &built, &err) == TABLE_BUILD_TROUBLE ||
	    table_check(table, &err) == TABLE_CHECK_BAD) {
		newaliases_complain(NULL, 0, err.text);
		status = EX_DATAERR;
	} else {
		if (alias_check(table, newaliases_complain, table,
		    &entries) > 0)
			status = EX_DATAERR;
		printf("%s: %u aliases\n", table_path(table), entries);
	}
	table_free(&table);
	return status;
}

/* Was this table named by a domain before the i-th? */
static bool
was_checked(const struct conf *conf, size_t i, const char *name)
{
	for (size_t k = 0; k < i; k++)
		for (size_t t = 0; t < conf->domains[k].alias_count; t++)
			if (strcmp(conf->domains[k].aliases[t], name) == 0)
				return true;
	return false;
}

static int
check_domain(const struct conf *conf, size_t i)
{
	const struct conf_domain *domain = &conf->domains[i];
	int status = EX_OK;

	for (size_t t = 0; t < domain->alias_count; t++) {
		const char *name = domain->aliases[t];
		const struct conf_table *row = conf_table_find(conf, name);

		if (row != NULL && !was_checked(conf, i, name) &&
		    newaliases_check_table(row) != EX_OK)
			status = EX_DATAERR;
	}
	return status;
}

int
main(int argc, char **argv)
{
	const char *path = NULL;
	struct conf *conf;
	int status = EX_OK;

	fd_claim_standard();
	err_program("newaliases");
	if (argc == 3 && strcmp(argv[1], "-C") == 0) {
		path = argv[2];
	} else if (argc != 1) {
		fprintf(stderr, "usage: newaliases [-C FILE]\n");
		return EX_USAGE;
	}
	conf = conf_in_force_or_tell(path);
	if (conf == NULL)
		return EX_CONFIG;
	for (size_t i = 0; i < conf->domain_count; i++) {
		if (check_domain(conf, i) != EX_OK)
			status = EX_DATAERR;
	}
	conf_free(&conf);
	return status;
}
