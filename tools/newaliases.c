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
#include "daemon/conf.h"
#include "mail/table.h"
#include "mail/table_build.h"

#include "base/banned.h"

static bool
count_entry(void *context, struct slice key, struct slice value,
    unsigned line)
{
	(*(unsigned *)context)++;
	return true;
}

static int
check_table(const struct conf_table *row)
{
	struct table *table = table_new(row->name, row->spec);
	unsigned entries = 0;
	size_t built;
	struct err err;
	int status = EX_OK;

	if (table_build(row->spec, NULL, &built, &err) < 0 ||
	    table_check(table, &err) < 0 ||
	    table_each(table, count_entry, &entries, &err) == TABLE_TROUBLE) {
		fprintf(stderr, "newaliases: %s\n", err.text);
		status = EX_DATAERR;
	} else {
		printf("%s: %u aliases\n", table_path(table), entries);
	}
	table_free(&table);
	return status;
}

int
main(int argc, char **argv)
{
	const char *path = NULL;
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf;
	int status = EX_OK;

	err_program("newaliases");
	if (argc == 3 && strcmp(argv[1], "-C") == 0) {
		path = argv[2];
	} else if (argc != 1) {
		fprintf(stderr, "usage: newaliases [-C FILE]\n");
		return EX_USAGE;
	}
	conf = conf_load(path, arena, &report);
	if (conf == NULL) {
		conf_report_print(&report, path, &text);
		fputs(text.buf, stderr);
		return EX_CONFIG;
	}
	for (size_t i = 0; i < conf->domain_count; i++) {
		const char *name = conf->domains[i].aliases_table;
		const struct conf_table *row =
		    name ? conf_table_find(conf, name) : NULL;

		if (row != NULL && check_table(row) != EX_OK)
			status = EX_DATAERR;
	}
	conf_free(&conf);
	arena_free(&arena);
	return status;
}
