/* verb_help.c - zmailer help [VERB | STATEMENT]
 *
 * Spec   zmailer(8); the words come from verbs.h and conf_statements.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "tools/verb.h"

#include "base/banned.h"

static bool
help_verb(const char *name)
{
	for (size_t i = 0; i < verb_rows_count; i++) {
		const struct verb_row *row = &verb_rows[i];

		if (name != NULL && strcmp(row->name, name) != 0)
			continue;
		if (name == NULL) {
			printf("  %-12s %s\n", row->name, row->text);
			continue;
		}
		printf("zmailer %s %s\n    %s\n", row->name, row->usage,
		    row->text);
		return true;
	}
	return name == NULL;
}

int
verb_help(int argc, char **argv, const char *conf_path)
{
	struct str text = STR_INIT;
	bool is_verb;

	if (argc > 2)
		return verb_usage(argv[0], "one word at a time");
	if (argc == 1) {
		printf("Verbs:\n");
		help_verb(NULL);
		printf("\nStatements of zmailer.conf:\n");
		conf_help(&text, NULL);
	} else {
		is_verb = help_verb(argv[1]);
		conf_help(&text, argv[1]);
		if (!is_verb && text.len == 0)
			return verb_usage(argv[0],
			    "'%s' is neither a verb nor a statement", argv[1]);
	}
	fputs(text.buf, stdout);
	str_release(&text);
	return EX_OK;
}
