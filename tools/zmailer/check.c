/* check.c - zmailer check: is the configuration right?
 *
 * In     zmailer check [--syntax] [--quiet] [--json] [FILE]
 * Out    complaints; exit 0, or 78 when there are errors
 * Spec   zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "daemon/machine/machine.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

struct check {
	bool		is_syntax_only, is_quiet, is_json;
	const char	*path;
};

static void
print_report(const struct check *check, const struct conf_report *report)
{
	const char *path = check->path ? check->path : conf_default_path();
	struct str text = STR_INIT;

	if (check->is_json)
		conf_report_json(report, &text);
	else
		conf_report_print(report, path, &text);
	if (report->errors + report->warnings == 0 && !check->is_json)
		str_addf(&text, "%s: no errors\n", path);
	fputs(text.buf, stdout);
	str_release(&text);
}

int
verb_check(int argc, char **argv, const char *conf_path)
{
	struct check check = { .path = NULL };
	struct arena *arena;
	struct conf_report report;
	struct conf *conf;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--syntax") == 0)
			check.is_syntax_only = true;
		else if (strcmp(argv[i], "--quiet") == 0)
			check.is_quiet = true;
		else if (strcmp(argv[i], "--json") == 0)
			check.is_json = true;
		else if (argv[i][0] == '-')
			return verb_usage(argv[0], "there is no option %s",
			    argv[i]);
		else if (check.path != NULL)
			return verb_usage(argv[0], "one file at a time");
		else
			check.path = argv[i];
	}
	if (check.path == NULL)
		check.path = conf_path;
	arena = arena_new();
	conf = conf_load(check.path, arena, &report);
	if (conf != NULL && !check.is_syntax_only)
		machine_check(conf, arena, &report);
	if (!check.is_quiet || report.errors > 0)
		print_report(&check, &report);
	conf_free(&conf);
	arena_free(&arena);
	return report.errors > 0 ? EX_CONFIG : EX_OK;
}
