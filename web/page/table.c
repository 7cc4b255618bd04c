/* table.c - a table that a narrow screen shows as cards
 *
 * In     columns, then cells
 * Out    a table with caption, heads and roles
 * Spec   table.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

void
table_begin(struct table *out_table, struct str *out, const char *caption,
    const struct table_column *columns, size_t count)
{
	*out_table = (struct table){ .out = out, .columns = columns,
	    .count = count };
	str_adds(out, "<table role=\"table\"><caption>");
	html_words(out, caption);
	str_adds(out, "</caption>\n<thead role=\"rowgroup\">"
	    "<tr role=\"row\">");
	for (size_t i = 0; i < count; i++) {
		str_addf(out, "<th role=\"columnheader\" scope=\"col\"%s>",
		    columns[i].is_number ? " class=\"number\"" : "");
		html_words(out, columns[i].label);
		str_adds(out, "</th>");
	}
	str_adds(out, "</tr></thead>\n<tbody role=\"rowgroup\">\n");
}

static void
table_row_end(struct table *table)
{
	if (table->is_in_row)
		str_adds(table->out, "</tr>\n");
	table->is_in_row = false;
}

void
table_row_begin(struct table *table)
{
	table_row_end(table);
	str_adds(table->out, "<tr role=\"row\">");
	table->is_in_row = true;
	table->at = 0;
}

void
table_cell(struct table *table)
{
	const struct table_column *column = &table->columns[table->at++ %
	    table->count];

	str_addf(table->out, "<td role=\"cell\"%s",
	    column->is_number ? " class=\"number\"" : "");
	html_attribute(table->out, "data-label", slice_of(column->label));
	str_addc(table->out, '>');
}

void
table_cell_end(struct table *table)
{
	str_adds(table->out, "</td>");
}

void
table_text(struct table *table, struct slice text)
{
	table_cell(table);
	html_text(table->out, text);
	table_cell_end(table);
}

void
table_number(struct table *table, int64_t number)
{
	table_cell(table);
	str_addf(table->out, "%" PRId64, number);
	table_cell_end(table);
}

void
table_group(struct table *table)
{
	table_row_end(table);
	str_addf(table->out, "<tr role=\"row\" class=\"group\"><th "
	    "role=\"rowheader\" scope=\"rowgroup\" colspan=\"%zu\">",
	    table->count);
	table->is_in_row = true;
}

void
table_group_end(struct table *table)
{
	str_adds(table->out, "</th>");
}

void
table_end(struct table *table)
{
	table_row_end(table);
	str_adds(table->out, "</tbody></table>\n");
}
