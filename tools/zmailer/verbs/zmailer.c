/* zmailer.c - one command, one verb
 *
 * In     -C FILE, a verb, its arguments
 * Out    the verb's exit status
 * Spec   zmailer(8); the rows are in verbs.h; ZMailer's in classic.c
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/title.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/guess.h"
#include "mail/table/table.h"
#include "tools/nodes/nodes.h"
#include "tools/zmailer/cluster/cluster.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

const struct verb_row verb_rows[] = {
#define VERB(name, usage, text) { #name, usage, text, verb_##name },
#include "tools/zmailer/verbs/verbs.h"
#undef VERB
};
const size_t verb_rows_count = sizeof(verb_rows) / sizeof(verb_rows[0]);

const struct verb_row *
verb_row_find(const char *name)
{
	/* as it is said */
	if (strcmp(name, "why-not") == 0)
		name = "whynot";
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
		status = nodes_is_asked(row, &arguments) ? nodes_run(row,
		    &arguments, verb_run_row, cluster_held) :
		    row->run(&arguments);
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

/* The verbs on standard output, a screen of them. */
static int
zmailer_page(int status)
{
	struct str page = STR_INIT;

	help_add_page(&page);
	fputs(page.buf, stdout);
	str_release(&page);
	return status;
}

/* An argument may have any bytes: they are escaped for a terminal. */
static int
zmailer_say_no_verb(const char *word)
{
	const char *like = verb_like(word);
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_of(word));
	fprintf(stderr, "zmailer: there is no verb '%s'", shown.buf);
	str_release(&shown);
	if (like != NULL)
		fprintf(stderr, "; did you mean '%s'?", like);
	fprintf(stderr, "\nzmailer help lists them\n");
	return EX_USAGE;
}

static int
zmailer_say_no_option(const char *option)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_of(option));
	fprintf(stderr, "zmailer: there is no option %s; -C FILE goes in "
	    "front of the verb, a verb's own options after it\nzmailer help "
	    "lists them\n", shown.buf);
	str_release(&shown);
	return EX_USAGE;
}

static int
zmailer_say_version(void)
{
	printf("zmailer %s\ntables: %s\n", PACKAGE_VERSION,
	    table_types_text(true));
	return 0;
}

/* Take the options before the verb: how many words of argv.  true: there was
 * nothing else to do, and *out_status is the exit status. */
static bool
zmailer_front(int argc, char **argv, const char **out_conf_path, int *out_at,
    int *out_status)
{
	int at = 1;
	struct err err;

	while (at < argc && argv[at][0] == '-') {
		const char *word = argv[at++];

		if (strcmp(word, "--") == 0)
			break;
		if ((strcmp(word, "-C") == 0 ||
		    strcmp(word, "--zconfig") == 0) && at < argc) {
			*out_conf_path = argv[at++];
			if (argument_check(*out_conf_path, &err) == 0)
				continue;
			fprintf(stderr, "zmailer: -C %s\n", err.text);
			*out_status = EX_USAGE;
			return true;
		}
		*out_status = strcmp(word, "--version") == 0 ?
		    zmailer_say_version() : strcmp(word, "--help") == 0 ?
		    zmailer_page(0) : zmailer_say_no_option(word);
		return true;
	}
	*out_at = at;
	return false;
}

/* A verb and its words; names of ZMailer's among them. */
static int
zmailer_verb(int argc, char **argv, const char *conf_path)
{
	char *help[] = { (char *)(uintptr_t) "help", argv[0], NULL };
	const struct verb_row *row = verb_row_find(argv[0]);
	int status;

	if (row == NULL)
		return classic_run(argc, argv, conf_path, &status) ? status :
		    zmailer_say_no_verb(argv[0]);
	if (argc == 1 && classic_alone(row->name, &status))
		return status;
	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return verb_run_row(verb_row_find("help"), 2, help,
		    conf_path);
	return verb_run_row(row, argc, argv, conf_path);
}

int
main(int argc, char **argv)
{
	const char *conf_path = NULL;
	int at = 1, status;

	fd_claim_standard();
	err_program("zmailer");
	title_open(argc, argv);
	libexec_settle();	/* what verbs check or run is of this build */
	if (zmailer_front(argc, argv, &conf_path, &at, &status))
		return status;
	if (at == argc)
		return zmailer_page(EX_USAGE);
	return zmailer_verb(argc - at, argv + at, conf_path);
}
