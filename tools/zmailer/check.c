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
verb_check(struct arguments *arguments)
{
	struct check check = { .path = arguments_word(arguments, 0),
	    .is_syntax_only = arguments_has(arguments, OPT_SYNTAX),
	    .is_quiet = arguments_has(arguments, OPT_QUIET),
	    .is_json = arguments_has(arguments, OPT_JSON) };
	struct arena *arena;
	struct conf_report report;
	struct conf *conf;

	if (check.path == NULL)
		check.path = arguments->conf_path;
	arena = arena_new();
	if (check.path != NULL)
		check.path = conf_path_of(arena, check.path);
	conf = conf_load(check.path, arena, &report);
	if (conf != NULL && !check.is_syntax_only)
		machine_check(conf, arena, &report);
	if (!check.is_quiet || report.errors > 0)
		print_report(&check, &report);
	conf_free(&conf);
	arena_free(&arena);
	return report.errors > 0 ? EX_CONFIG : EX_OK;
}
