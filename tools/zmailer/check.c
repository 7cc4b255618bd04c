/* check.c - zmailer check: is the configuration right?
 *
 * In     zmailer check [--syntax] [--quiet] [--json] [FILE]
 * Out    complaints; exit 0, or 78 when there are errors
 * Spec   zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/json.h"
#include "conf/show/show.h"
#include "daemon/machine/machine.h"
#include "tools/run/supervisor.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct check {
	bool		is_syntax_only, is_quiet, is_json;
	bool		is_none;	/* no file was named, none is there */
	const char	*path;
};

static const char spare_hint[] = "the word strangers in a rule spares them; "
    "everybody says that they are meant";

static void
check_note_json(const struct str *places, const char *what, struct str *out)
{
	if (places->len == 0)
		return;
	json_open_answer(out);
	json_text(out, "level", SLICE("note"));
	json_text(out, "text", slice_of(what));
	json_text(out, "rules", str_slice(places));
	json_text(out, "hint", slice_of(spare_hint));
	json_close(out);
}

static void
check_note_text(const struct str *places, const char *what, struct str *out)
{
	if (places->len > 0)
		str_addf(out, "note: %s meet these rules, too: %s\n", what,
		    places->buf);
}

/* Not wrong, but seldom meant: each rule in one line, the remedy once. */
static void
check_notes_add(const struct check *check, const struct str *users,
    const struct str *trusted, struct str *out)
{
	static const char user_words[] = "users who logged in",
	    client_words[] = "clients on 127.0.0.1 and those who may relay";

	if (check->is_json) {
		check_note_json(users, user_words, out);
		check_note_json(trusted, client_words, out);
	} else if (slice_equal(str_slice(users), str_slice(trusted))) {
		check_note_text(users, "users who logged in, clients on "
		    "127.0.0.1 and those who may relay", out);
	} else {
		check_note_text(users, user_words, out);
		check_note_text(trusted, client_words, out);
	}
	if (!check->is_json && out->len > 0)
		str_addf(out, "      = %s\n", spare_hint);
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
	check_notes_add(check, &users, &trusted, &text);
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
	if (check->is_none && report->errors == 0 && !check->is_json)
		str_addf(&text, "%s: there is no such file: all is as preset "
		    "until `zmailer setup` writes it\n", path);
	else if (report->errors + report->warnings == 0 && !check->is_json)
		str_addf(&text, "%s: no errors\n", path);
	fputs(text.buf, stdout);
	str_release(&text);
}

/* The default file, which the caller did not name, does not exist. */
static bool
check_has_no_file(const struct check *check)
{
	const char *environment = getenv("ZMAILER_CONF");

	return check->path == NULL &&
	    (environment == NULL || environment[0] == '\0') &&
	    access(conf_default_path(), F_OK) != 0 && errno == ENOENT;
}

/* Does a zmailer run that had taken it over? */
static bool
check_is_missed(struct arena *arena)
{
	struct conf_report report;
	struct conf *conf = conf_load_in_force(NULL, arena, &report);
	bool is_missed = conf != NULL &&
	    conf_files_look(conf) == CONF_FILES_BROKEN;

	conf_free(&conf);
	return is_missed;
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
	check.is_none = check_has_no_file(&check);
	if (check.is_none && check_is_missed(arena))
		check.path = conf_default_path();	/* it cannot be read */
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
