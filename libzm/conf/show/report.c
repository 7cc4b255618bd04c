/* report.c - complaints about a configuration, for people and editors
 *
 * In     a report
 * Out    "file:7:8: error: ..." with the line, a caret under the place, and
 *        what to do; JSON
 * Holds  nothing; a report lives in the caller's arena
 * Trusts the source lines as little as the parser does: they are shown
 *        with controls replaced
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "conf/read/read.h"
#include "conf/show/show.h"

#include "base/banned.h"

struct sort_key {
	struct conf_complaint	complaint;
	size_t			file, number;
};

static int
complaint_compare(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->complaint.at.line != b->complaint.at.line)
		return a->complaint.at.line < b->complaint.at.line ? -1 : 1;
	if (a->complaint.at.column != b->complaint.at.column)
		return a->complaint.at.column < b->complaint.at.column ?
		    -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static size_t
source_number(const struct conf_book *book, const char *name)
{
	size_t number = 1;

	if (name == NULL)
		return 0;
	for (const struct conf_source *s = book->sources; s != NULL;
	    s = s->next, number++)
		if (strcmp(s->name, name) == 0)
			break;
	return number;
}

void
conf_report_sort(struct conf_report *report, const struct conf_book *book)
{
	struct sort_key *keys;

	if (report->count < 2)
		return;
	keys = mem_alloc(report->count, sizeof(*keys));
	for (size_t i = 0; i < report->count; i++) {
		keys[i].complaint = report->complaints[i];
		keys[i].file = source_number(book, keys[i].complaint.at.file);
		keys[i].number = i;
	}
	qsort(keys, report->count, sizeof(*keys), complaint_compare);
	for (size_t i = 0; i < report->count; i++)
		report->complaints[i] = keys[i].complaint;
	mem_release(keys);
}

/* Bytes of the UTF-8 sequence at the front of text, 1 when it is none. */
static size_t
sequence_bytes(struct slice text)
{
	unsigned char c = (unsigned char)text.p[0];
	size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

	if (n > text.n)
		return 1;
	for (size_t i = 1; i < n; i++)
		if (((unsigned char)text.p[i] & 0xc0) != 0x80)
			return 1;
	return n;
}

/* The line, then as many blanks (tabs where it has tabs) as stand before
 * the column, then the caret. */
static void
print_source(const struct conf_complaint *complaint, struct str *out)
{
	struct slice text = slice_of(complaint->source);
	unsigned column = 1;

	str_addf(out, "%5u | ", complaint->at.line);
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		str_addc(out, (c < 32 && c != '\t') || c == 127 ? '?' :
		    (char)c);
	}
	str_adds(out, "\n      | ");
	while (column < complaint->at.column && text.n > 0) {
		str_addc(out, text.p[0] == '\t' ? '\t' : ' ');
		text = slice_from(text, sequence_bytes(text));
		column++;
	}
	str_addc(out, '^');
	for (unsigned i = 1; i < complaint->width &&
	    i < CONF_SOURCE_LINE_MAX; i++)
		str_addc(out, '~');
	str_addc(out, '\n');
}

static void
print_complaint(const struct conf_complaint *complaint, const char *path,
    struct str *out)
{
	const char *file = complaint->at.file ? complaint->at.file : path;

	if (complaint->at.line > 0)
		str_addf(out, "%s:%u:%u: ", file, complaint->at.line,
		    complaint->at.column);
	else
		str_addf(out, "%s: ", file);
	str_addf(out, "%s: %s\n", complaint->is_error ? "error" : "warning",
	    complaint->text);
	if (complaint->source != NULL)
		print_source(complaint, out);
	if (complaint->hint != NULL)
		str_addf(out, "      = %s\n", complaint->hint);
}

static void
print_count(const struct conf_report *report, const char *path,
    struct str *out)
{
	str_addf(out, "%s: ", path);
	if (report->errors > 0)
		str_addf(out, "%zu error%s", report->errors,
		    report->errors == 1 ? "" : "s");
	if (report->errors > 0 && report->warnings > 0)
		str_adds(out, ", ");
	if (report->warnings > 0)
		str_addf(out, "%zu warning%s", report->warnings,
		    report->warnings == 1 ? "" : "s");
	if (report->errors > 0)
		str_adds(out, "; the running configuration is unchanged");
	str_addc(out, '\n');
}

void
conf_report_print(const struct conf_report *report, const char *path,
    struct str *out)
{
	if (path == NULL)
		path = conf_default_path();
	for (size_t i = 0; i < report->count; i++)
		print_complaint(&report->complaints[i], path, out);
	if (report->errors + report->warnings > report->count)
		str_addf(out, "%s: %zu more are not shown\n", path,
		    report->errors + report->warnings - report->count);
	if (report->errors + report->warnings > 0)
		print_count(report, path, out);
}

void
conf_report_json(const struct conf_report *report, struct str *out)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct conf_complaint *c = &report->complaints[i];

		json_open_answer(out);
		json_text(out, "file", slice_of(c->at.file));
		json_number(out, "line", c->at.line);
		json_number(out, "column", c->at.column);
		json_number(out, "width", c->width);
		json_text(out, "level", slice_of(c->is_error ? "error" :
		    "warning"));
		json_text(out, "text", slice_of(c->text));
		if (c->hint != NULL)
			json_text(out, "hint", slice_of(c->hint));
		json_close(out);
	}
}
