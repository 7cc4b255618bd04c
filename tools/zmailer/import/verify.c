/* verify.c - turn statements that zmailer would refuse into comments
 *
 * In     the text of zmailer.conf as it was laid out
 * Out    the same, with erroneous statements commented out, and reported as
 *        missing
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * Values of Postfix are words that fit into a statement; only the reader of the
 * statement knows whether they mean something there.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/conf.h"
#include "tools/zmailer/import/import.h"

#include "base/banned.h"

enum { VERIFY_TURNS_MAX = 20 };

/* The statement on a line of the new file; NULL: there is none. */
static struct import_statement *
statement_at(struct import *import, unsigned line)
{
	struct import_statement *found = NULL;

	for (size_t i = 0; i < import->statement_count; i++) {
		struct import_statement *row = &import->statements[i];

		if (row->line <= line && (found == NULL ||
		    row->line > found->line))
			found = row;
	}
	return found;
}

/* Each of its lines after a #: the lines after it stay where they are. */
static void
statement_refuse(struct import *import, struct import_statement *row,
    const struct conf_complaint *complaint)
{
	struct slice rest = slice_of(row->text), line;
	struct str text = STR_INIT;

	while (slice_cut(&rest, '\n', &line))
		str_addf(&text, "%s# " SLICE_FMT, text.len > 0 ? "\n" : "",
		    SLICE_ARG(line));
	row->text = slice_dup(import->arena, str_slice(&text));
	row->refused = arena_printf(import->arena, "%s%s%s", complaint->text,
	    complaint->hint != NULL ? ": " : "", complaint->hint != NULL ?
	    complaint->hint : "");
	str_release(&text);
}

/* returns whether there was something to refuse */
static bool
report_refuse(struct import *import, const struct conf_report *report)
{
	bool is_refused = false;

	for (size_t i = 0; i < report->count; i++) {
		const struct conf_complaint *complaint =
		    &report->complaints[i];
		struct import_statement *row = statement_at(import,
		    complaint->at.line);

		if (!complaint->is_error || row == NULL ||
		    row->refused != NULL)
			continue;
		statement_refuse(import, row, complaint);
		is_refused = true;
	}
	return is_refused;
}

/* What was taken as such a statement is missing. */
static void
findings_turn(struct import *import)
{
	for (size_t i = 0; i < import->finding_count; i++) {
		struct import_finding *finding = &import->findings[i];
		const struct import_statement *row;

		if (finding->statement < 0)
			continue;
		row = &import->statements[finding->statement];
		if (row->refused == NULL)
			continue;
		finding->kind = IMPORT_MISSING;
		finding->text = arena_printf(import->arena, "zmailer.conf:%u "
		    "is a comment until you mend it: %s", row->line,
		    row->refused);
		finding->statement = -1;
	}
}

/* A text has no files beside it: zmailer check checks what names one. */
static struct slice
text_alone(struct arena *arena, const struct str *conf)
{
	char *text = slice_dup(arena, str_slice(conf)), *at = text;

	while ((at = strstr(at, "\ninclude-legacy ")) != NULL)
		*++at = '#';
	return slice_of(text);
}

void
import_verify(struct import *import, struct str *conf)
{
	for (int turn = 0; turn < VERIFY_TURNS_MAX; turn++) {
		struct arena *arena = arena_new();
		struct conf_report report;
		struct conf *made = conf_parse("zmailer.conf",
		    text_alone(arena, conf), arena, &report);
		bool is_refused = report_refuse(import, &report);

		conf_free(&made);
		arena_free(&arena);
		if (!is_refused)
			break;
		str_reset(conf);
		import_lay_out(import, conf);
	}
	findings_turn(import);
}
