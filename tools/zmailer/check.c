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

#include "base/json.h"
#include "conf/show/show.h"
#include "daemon/machine/machine.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

struct check {
	bool		is_syntax_only, is_quiet, is_json;
	const char	*path;
};

/* Not wrong, but seldom meant: a row for each kind of client. */
static void
check_note(const struct check *check, const struct str *places,
    const char *what, struct str *out)
{
	static const char hint[] = "the word strangers in a rule spares them";

	if (places->len == 0)
		return;
	if (!check->is_json) {
		str_addf(out, "note: %s meet these rules, too: %s\n"
		    "      = %s\n", what, places->buf, hint);
		return;
	}
	json_open_answer(out);
	json_text(out, "level", SLICE("note"));
	json_text(out, "text", slice_of(what));
	json_text(out, "rules", str_slice(places));
	json_text(out, "hint", SLICE(hint));
	json_close(out);
}

static void
print_mailname(const struct check *check, const struct conf *conf)
{
	struct arena *arena = arena_new();
	const char *note = conf_mailname_note(conf, conf_mailname(arena),
	    arena);
	struct str text = STR_INIT;

	if (note != NULL && !check->is_json) {
		str_addf(&text, "note: %s\n", note);
	} else if (note != NULL) {
		json_open_answer(&text);
		json_text(&text, "level", SLICE("note"));
		json_text(&text, "text", slice_of(note));
		json_close(&text);
	}
	fputs(text.buf, stdout);
	str_release(&text);
	arena_free(&arena);
}

static void
print_notes(const struct check *check, const struct conf *conf)
{
	struct str users = STR_INIT, trusted = STR_INIT, text = STR_INIT;

	conf_rules_meet(conf, &users, &trusted);
	check_note(check, &users, "users who logged in", &text);
	check_note(check, &trusted,
	    "clients on 127.0.0.1 and those who may relay", &text);
	fputs(text.buf, stdout);
	str_release(&users);
	str_release(&trusted);
	str_release(&text);
	if (!check->is_syntax_only)
		print_mailname(check, conf);
}

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
	if (conf != NULL && !check.is_syntax_only) {
		machine_check(conf, arena, &report);
		machine_check_hosts(conf, arena, &report);
		running_check_listeners(conf, arena, &report);
	}
	if (!check.is_quiet || report.errors > 0)
		print_report(&check, &report);
	if (!check.is_quiet && conf != NULL)
		print_notes(&check, conf);
	conf_free(&conf);
	arena_free(&arena);
	return report.errors > 0 ? EX_CONFIG : EX_OK;
}
