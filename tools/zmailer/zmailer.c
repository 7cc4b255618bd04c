/* zmailer.c - one command, one verb
 *
 * In     -C FILE, a verb, its arguments
 * Out    the verb's exit status
 * Spec   zmailer(8); the rows are in verbs.h; words of old in classic.c
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/err.h"
#include "base/guess.h"
#include "mail/table/table.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

const struct verb_row verb_rows[] = {
#define VERB(name, usage, text) { #name, usage, text, verb_##name },
#include "tools/zmailer/verbs.h"
#undef VERB
};
const size_t verb_rows_count = sizeof(verb_rows) / sizeof(verb_rows[0]);

const struct verb_row *
verb_row_find(const char *name)
{
	for (size_t i = 0; i < verb_rows_count; i++)
		if (strcmp(verb_rows[i].name, name) == 0)
			return &verb_rows[i];
	return NULL;
}

int
verb_run_row(const struct verb_row *row, int argc, char **argv,
    const char *conf_path)
{
	struct arguments arguments;
	char **given = mem_alloc((size_t)argc + 1, sizeof(*given));
	int status;

	memcpy(given, argv, ((size_t)argc + 1) * sizeof(*given));
	status = arguments_read(&arguments, row, argc, argv, conf_path);
	arguments.argc = argc;
	arguments.argv = given;
	if (status == 0)
		status = row->run(&arguments);
	mem_free(&given);
	return status;
}

/* The verb that begins so, else the one that a misspelled one is most likely
 * meant to be. */
static const char *
verb_like(const char *name)
{
	struct guess guess = { .word = slice_of(name) };

	for (size_t i = 0; strlen(name) > 1 && i < verb_rows_count; i++)
		if (strncmp(verb_rows[i].name, name, strlen(name)) == 0)
			return verb_rows[i].name;
	for (size_t i = 0; i < verb_rows_count; i++)
		guess_offer(&guess, verb_rows[i].name);
	return guess.best;
}

static const struct group {
	const char	*title, *verbs;
} groups[] = {
#define GROUP(title, verbs) { title, verbs },
#include "tools/zmailer/groups.h"
#undef GROUP
};

static void
put_first_week(FILE *out, const struct group *group)
{
	struct slice rest = slice_of(group->verbs), verb;

	fprintf(out, "In %s:\n", group->title);
	while (slice_word(&rest, &verb)) {
		char name[32];

		snprintf(name, sizeof(name), SLICE_FMT, SLICE_ARG(verb));
		fprintf(out, "  %-9s %s\n", name, verb_row_find(name)->text);
	}
}

static void
put_others(FILE *out, const struct group *group)
{
	struct slice rest = slice_of(group->verbs), verb;
	int column = fprintf(out, "  %-14s", group->title);

	while (slice_word(&rest, &verb)) {
		if (column + 1 + (int)verb.n >= 80)
			column = fprintf(out, "\n  %-14s", "") - 1;
		column += fprintf(out, " " SLICE_FMT, SLICE_ARG(verb));
	}
	fputc('\n', out);
}

/* A page of a terminal. */
static int
zmailer_usage(FILE *out, int status)
{
	fprintf(out, "usage: zmailer [-C FILE] VERB [ARGUMENTS]\n\n");
	put_first_week(out, &groups[0]);
	fprintf(out, "\nThe others:\n");
	for (size_t i = 1; i < sizeof(groups) / sizeof(groups[0]); i++)
		put_others(out, &groups[i]);
	fprintf(out, "\n`zmailer help` has a line for each, `zmailer help "
	    "VERB` tells all of one.\n");
	return status;
}

int
main(int argc, char **argv)
{
	const struct verb_row *row;
	char *help[] = { (char *)(uintptr_t) "help", NULL, NULL };
	const char *conf_path = NULL, *like;
	int at = 1, status;

	err_program("zmailer");
	while (at < argc && argv[at][0] == '-') {
		if ((strcmp(argv[at], "-C") == 0 ||
		    strcmp(argv[at], "--zconfig") == 0) && at + 1 < argc) {
			conf_path = argv[at + 1];
			at += 2;
		} else if (strcmp(argv[at], "--version") == 0) {
			printf("zmailer %s\ntables: %s\n", PACKAGE_VERSION,
			    table_types_text(true));
			return 0;
		} else if (strcmp(argv[at], "--help") == 0) {
			return zmailer_usage(stdout, 0);
		} else {
			fprintf(stderr, "zmailer: there is no option %s; -C "
			    "FILE goes in front of the verb, a verb's own "
			    "options after it\nzmailer help lists the "
			    "verbs\n", argv[at]);
			return EX_USAGE;
		}
	}
	if (at == argc)
		return zmailer_usage(stderr, EX_USAGE);
	row = verb_row_find(argv[at]);
	if (row == NULL && classic_run(argc - at, argv + at, conf_path,
		&status))
		return status;
	if (row != NULL && argc - at == 1 &&
	    classic_alone(row->name, &status))
		return status;
	if (row != NULL && argc - at == 2 &&
	    strcmp(argv[at + 1], "--help") == 0) {
		help[1] = argv[at];
		return verb_run_row(verb_row_find("help"), 2, help,
		    conf_path);
	}
	if (row == NULL) {
		fprintf(stderr, "zmailer: there is no verb '%s'", argv[at]);
		like = verb_like(argv[at]);
		if (like != NULL)
			fprintf(stderr, "; did you mean '%s'?", like);
		fprintf(stderr, "\nzmailer help lists them\n");
		return EX_USAGE;
	}
	return verb_run_row(row, argc - at, argv + at, conf_path);
}
