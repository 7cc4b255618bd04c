/* lines.c - the lines of an answer as a table
 *
 * In     lines of JSON, and which members are shown how
 * Out    a row each, LINES_SHOWN at the most
 * Spec   pages.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/err.h"
#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

enum { LINES_SHOWN = 500, COLUMNS_MAX = 10 };

static void
line_add_message(struct visit *visit, struct slice id)
{
	struct str *out = &visit->out;

	if (!page_is_id(id)) {
		html_text(out, id);
		return;
	}
	str_adds(out, "<a");
	html_link(out, "/message/", id, NULL, SLICE(""));
	str_addc(out, '>');
	html_text(out, id);
	str_adds(out, "</a>");
}

/* "2026-11-26T00:41:04.123Z" of the journal, to the second or as it is. */
static void
line_add_clock(struct visit *visit, struct slice value, bool has_ms)
{
	size_t t = slice_find(value, 'T');
	size_t end = slice_find(value, has_ms ? 'Z' : '.');

	html_text(&visit->out, slice_first(value, t));
	if (t + 1 >= end)
		return;
	str_addc(&visit->out, ' ');
	html_text(&visit->out, slice_from(slice_first(value, end), t + 1));
}

static void
line_add_cell(struct visit *visit, struct table *table,
    const struct line_column *column, struct slice line)
{
	struct slice value = page_member(visit->arena, line, column->key);
	int64_t number = json_get_number(line, column->key);

	table_cell(table);
	if (column->cell != NULL)
		column->cell(visit, line);
	else if (column->kind == LINE_NUMBER)
		str_addf(&visit->out, "%" PRId64, number);
	else if (column->kind == LINE_MOMENT && number > 0)
		page_add_moment(&visit->out, number, visit->now_s);
	else if (column->kind == LINE_MESSAGE)
		line_add_message(visit, value);
	else if (column->kind == LINE_CLOCK || column->kind == LINE_CLOCK_MS)
		line_add_clock(visit, value, column->kind == LINE_CLOCK_MS);
	else if (column->kind == LINE_TEXT)
		html_text(&visit->out, value);
	table_cell_end(table);
}

/* The lines of the table, in the order of the answer; returns how many there
 * are, of which LINES_SHOWN are kept: the last ones, when the newest is
 * first. */
static size_t
lines_collect(struct visit *visit, const struct lines *lines,
    struct slice *out)
{
	struct slice rest = str_slice(&visit_answer(visit,
	    lines->answer)->text), line;
	size_t count = 0;

	while (answer_line(&rest, &line)) {
		if (lines->fits != NULL && !lines->fits(line))
			continue;
		if (lines->is_newest_first || count < LINES_SHOWN)
			out[count % LINES_SHOWN] = line;
		count++;
	}
	return count;
}

static void
lines_add_rows(struct visit *visit, const struct lines *lines,
    const struct slice *rows, size_t count)
{
	struct table_column columns[COLUMNS_MAX];
	size_t shown = count < LINES_SHOWN ? count : LINES_SHOWN;
	struct table table;

	for (size_t i = 0; i < lines->count; i++)
		columns[i] = (struct table_column){ lines->columns[i].label,
		    lines->columns[i].kind == LINE_NUMBER };
	table_begin(&table, &visit->out, lines->caption, columns,
	    lines->count);
	for (size_t i = 0; i < shown; i++) {
		size_t at = lines->is_newest_first ? count - 1 - i : i;

		table_row_begin(&table);
		for (size_t c = 0; c < lines->count; c++)
			line_add_cell(visit, &table, &lines->columns[c],
			    rows[at % LINES_SHOWN]);
	}
	table_end(&table);
	if (shown < count)
		str_addf(&visit->out, "<p>And %zu more.</p>\n",
		    count - shown);
}

void
page_add_lines(struct visit *visit, const struct lines *lines)
{
	const struct question_answer *answer = visit_answer(visit,
	    lines->answer);
	struct slice *rows = arena_alloc(visit->arena,
	    LINES_SHOWN * sizeof(*rows));
	size_t count = lines_collect(visit, lines, rows);

	if (lines->count > COLUMNS_MAX)
		panic("a table of %zu columns", lines->count);
	page_add_trouble(&visit->out, answer);
	if (count > 0) {
		lines_add_rows(visit, lines, rows, count);
	} else if (answer->kind == ANSWER_GOOD || answer->kind == ANSWER_NONE) {
		str_adds(&visit->out, "<p>");
		html_words(&visit->out, lines->none);
		str_adds(&visit->out, "</p>\n");
	}
}
