/* table.h - a table that a narrow screen shows as cards
 *
 * The roles are written, for style sheets that make blocks of rows take them
 * away from readers of screens.
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

/* A caption and the heads of columns; the rows follow, the cells of each in
 * their order. */
void table_begin(struct table *out_table, struct str *out,
    const char *caption, const struct table_column *columns, size_t count);
void table_row_begin(struct table *table);
/* A cell whose content the caller writes, then table_cell_end. */
void table_cell(struct table *table);
void table_cell_end(struct table *table);
void table_text(struct table *table, struct slice text);
void table_number(struct table *table, int64_t number);
/* A row that is one cell, about the rows below it: the caller writes it, then
 * table_group_end. */
void table_group(struct table *table);
void table_group_end(struct table *table);
void table_end(struct table *table);

#endif
