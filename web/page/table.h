/* table.h - a table that a narrow screen shows as cards
 *
 * The ARIA roles are written out, because a style sheet that turns rows into
 * blocks takes them away from screen readers.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_TABLE_H
#define ZM_WEB_TABLE_H

#include "base/str.h"

struct table_column {
	const char	*label;
	bool		 is_number;
};
struct table {
	struct str	*out;
	const struct table_column *columns;
	size_t		 count, at;
	bool		 is_in_row;
};

/* Write a caption and the heads of columns; the rows follow, each with its
 * cells in order. */
void table_begin(struct table *out_table, struct str *out,
    const char *caption, const struct table_column *columns, size_t count);
void table_row_begin(struct table *table);
/* A cell whose content the caller writes, then table_cell_end. */
void table_cell(struct table *table);
void table_cell_end(struct table *table);
void table_text(struct table *table, struct slice text);
void table_number(struct table *table, int64_t number);
/* A row of one cell, about the rows below it: the caller writes its content,
 * then calls table_group_end. */
void table_group(struct table *table);
void table_group_end(struct table *table);
void table_end(struct table *table);

#endif
