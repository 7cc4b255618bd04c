/* visit.c - every setting of main.cf gets its finding
 *
 * In     the rows of rows.h; what was read
 * Out    findings: what functions said, what statements came of it, what the
 *        rows say
 * Holds  nothing
 * Spec   tools/zmailer/import/postfix/rows.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <string.h>

#include "base/ascii.h"
#include "grammar/units.h"
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

void
import_note(struct import *import, const char *name, struct slice element,
    enum import_kind kind, const char *format, ...)
{
	const struct import_setting *setting = import_setting(import, name);
	struct import_finding finding = { .file = "main.cf", .name = name,
	    .kind = kind, .statement = -1 };
	va_list args;

	if (setting != NULL)
		finding.line = setting->line;
	finding.value = slice_dup(import->arena, element.n > 0 ||
	    setting == NULL ? element : setting->value);
	va_start(args, format);
	finding.text = import_text(import, format, args);
	va_end(args);
	import_find(import, &finding);
}

enum row_kind { ROW_NOTHING, ROW_DIFFERENT, ROW_LACKS, ROW_WITH,
	ROW_STATEMENT, ROW_FUNCTION };

static const struct row {
	const char	*name, *preset, *text;
	enum row_kind	 kind;
	enum import_part part;
	void		(*run)(struct import *import, const char *name);
} rows[] = {
#define IMPORT_NOTHING(name, preset, text) \
	{ name, preset, text, ROW_NOTHING, IMPORT_SITE, NULL },
#define IMPORT_DIFFERENT(name, preset, text) \
	{ name, preset, text, ROW_DIFFERENT, IMPORT_SITE, NULL },
#define IMPORT_LACKS(name, preset, text) \
	{ name, preset, text, ROW_LACKS, IMPORT_SITE, NULL },
#define IMPORT_WITH(name, preset, text) \
	{ name, preset, text, ROW_WITH, IMPORT_SITE, NULL },
#define IMPORT_STATEMENT(name, preset, part, text) \
	{ name, preset, text, ROW_STATEMENT, part, NULL },
#define IMPORT_FUNCTION(name, preset, function) \
	{ name, preset, NULL, ROW_FUNCTION, IMPORT_SITE, \
	    import_##function },
#include "tools/zmailer/import/postfix/rows.h"
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const struct row *
row_of(struct slice name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (glob_match(slice_of(rows[i].name), name))
			return &rows[i];
	return NULL;
}

/* @ of a row's text becomes the value. */
static void
row_say(struct import *import, const struct row *row)
{
	struct slice value = import_value(import, row->name);
	const char *word = import_word(import, value);
	struct slice text = slice_of(row->text);
	size_t at = slice_find(text, '@');

	if (!import_is_set(import, row->name))
		return;
	if (word == NULL || (strchr(row->preset, ' ') == NULL &&
	    ascii_is_digit(row->preset[0]) &&
	    strspn(word, "0123456789") != strlen(word)))
		import_note(import, row->name, SLICE(""), IMPORT_MISSING,
		    "the value is not one that could stand in `%s`",
		    row->text);
	else if (!slice_is(value, row->preset) && !slice_is(value, "0"))
		import_say(import, row->part, row->name, SLICE_FMT "%s%s",
		    SLICE_ARG(slice_first(text, at)), word,
		    row->text + at + 1);
}

/* Does a statement come from it?  Its number, or -1. */
static int
statement_from(const struct import *import, struct slice name, size_t after)
{
	for (size_t i = after; i < import->statement_count; i++) {
		struct slice rest = slice_of(import->statements[i].from);
		struct slice word;

		while (slice_word(&rest, &word))
			if (slice_equal(word, name))
				return (int)i;
	}
	return -1;
}

static bool
setting_is_noted(const struct import *import,
    const struct import_setting *setting)
{
	for (size_t i = 0; i < import->finding_count; i++)
		if (import->findings[i].line == setting->line &&
		    strcmp(import->findings[i].file, "main.cf") == 0)
			return true;
	return false;
}

/* Is it there for others to name it: $name? */
static bool
setting_is_named(const struct import *import, struct slice name)
{
	const char *plain = arena_printf(import->arena, "$" SLICE_FMT,
	    SLICE_ARG(name));
	const char *bracket = arena_printf(import->arena, "${" SLICE_FMT,
	    SLICE_ARG(name));

	for (size_t i = 0; i < import->settings.count; i++) {
		const char *value = slice_dup(import->arena,
		    import->settings.rows[i].value);

		if (strstr(value, plain) != NULL ||
		    strstr(value, bracket) != NULL)
			return true;
	}
	for (size_t i = 0; i < import->services.count; i++)
		if (strstr(slice_dup(import->arena,
		    import->services.rows[i].arguments), plain) != NULL)
			return true;
	return false;
}

/* PREFIX_parameter of a service of master.cf, without a row of its own. */
static void
setting_unknown(struct import *import, const char *name)
{
	if (setting_is_named(import, slice_of(name)))
		import_note(import, name, SLICE(""), IMPORT_NOT_NEEDED,
		    "it only stands in other values");
	else
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "not known: no parameter of this name is in the tables of "
		    "zmailer import; see what it does in postconf(5), and "
		    "`zmailer help`");
}

static void
setting_by_row(struct import *import, const char *name)
{
	static const enum import_kind kinds[] = {
		[ROW_NOTHING] = IMPORT_NOT_NEEDED,
		[ROW_DIFFERENT] = IMPORT_DIFFERS, [ROW_LACKS] = IMPORT_MISSING,
		[ROW_WITH] = IMPORT_NOT_NEEDED,
		[ROW_STATEMENT] = IMPORT_DIFFERS,
		[ROW_FUNCTION] = IMPORT_NOT_NEEDED,
	};
	const struct row *row = row_of(slice_of(name));
	struct slice value = import_value(import, name);

	if (row == NULL)
		setting_unknown(import, name);
	else if (row->preset[0] != '\0' && slice_equal(value,
	    import_fill(import, slice_of(row->preset), NULL)))
		import_note(import, name, SLICE(""), IMPORT_NOT_NEEDED,
		    "it is Postfix's preset: nothing was changed by it");
	else if (value.n == 0 && row->kind != ROW_NOTHING)
		import_note(import, name, SLICE(""), IMPORT_NOT_NEEDED,
		    "it is empty");
	else
		import_note(import, name, SLICE(""), kinds[row->kind], "%s",
		    row->kind == ROW_STATEMENT ? "0 is no limit there; "
		    "here the preset holds (zmailer help limit)" :
		    row->text == NULL ? "the presets here say the same" :
		    row->text);
}

/* A line that is not a setting, or that a later one overrides. */
static bool
setting_is_void(struct import *import, const struct import_setting *setting)
{
	struct import_finding finding = { .file = "main.cf",
	    .line = setting->line, .statement = -1,
	    .name = slice_dup(import->arena, slice_first(setting->name, 200)),
	    .value = slice_dup(import->arena, setting->value) };
	const struct import_setting *last = import_setting(import,
	    finding.name);

	if (setting->wrong != NULL) {
		finding.kind = IMPORT_MISSING;
		finding.text = setting->wrong;
	} else if (last != setting) {
		finding.kind = IMPORT_NOT_NEEDED;
		finding.text = arena_printf(import->arena, "line %u says it "
		    "again, and the last one counts", last->line);
	} else {
		return false;
	}
	import_find(import, &finding);
	return true;
}

static void
setting_find(struct import *import, const struct import_setting *setting)
{
	const char *name = slice_dup(import->arena, setting->name);
	struct import_finding finding = { .file = "main.cf",
	    .line = setting->line, .name = name, .kind = IMPORT_TAKEN,
	    .value = slice_dup(import->arena, setting->value) };
	struct err err = { "" };
	bool is_noted;

	if (setting_is_void(import, setting))
		return;
	(void)import_fill(import, setting->value, &err);
	if (err.text[0] != '\0') {
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "%s: write the value without $", err.text);
		return;
	}
	is_noted = setting_is_noted(import, setting);
	for (size_t after = 0;;) {
		finding.statement = statement_from(import, setting->name,
		    after);
		if (finding.statement < 0)
			break;
		import_find(import, &finding);
		is_noted = true;
		after = (size_t)finding.statement + 1;
	}
	if (!is_noted)
		setting_by_row(import, name);
}

void
import_visit(struct import *import)
{
	import_certificate(import);
	import_services_visit(import);
	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].kind == ROW_STATEMENT)
			row_say(import, &rows[i]);
		else if (rows[i].kind == ROW_FUNCTION)
			rows[i].run(import, rows[i].name);
	}
	for (size_t i = 0; i < import->settings.count; i++)
		setting_find(import, &import->settings.rows[i]);
}
