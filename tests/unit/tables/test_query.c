/* test_query.c - a query in the words of its engine
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "tables/engine/query.h"

Test(tables_query, has_its_parameters_without_gaps)
{
	static const struct {
		const char	*text, *shown;
		enum query_style style;
		unsigned	 count, which[4];
	} rows[] = {
		{ "a = $1", "a = $1", QUERY_DOLLAR, 1, { 0 } },
		{ "a = $3 AND b = $2", "a = $1 AND b = $2", QUERY_DOLLAR, 2,
		    { 2, 1 } },
		{ "$2 $2 $1 $3", "?1 ?1 ?2 ?3", QUERY_MARK_NUMBER, 3,
		    { 1, 0, 2 } },
		{ "a = '$1' AND \"$2\" = $3", "a = '$1' AND \"$2\" = ?1",
		    QUERY_MARK_NUMBER, 1, { 2 } },
		{ "a = 'it''s' || $1", "a = 'it''s' || $1", QUERY_DOLLAR, 1,
		    { 0 } },
		{ "$2 $2 $1 $3", "? ? ? ?", QUERY_MARK, 4, { 1, 1, 0, 2 } },
		{ "INTO x VALUES ($1, $4)", "INTO x VALUES (?1, ?2)",
		    QUERY_MARK_NUMBER, 2, { 0, 3 } },
		{ "cost $", "cost $", QUERY_DOLLAR, 0, { 0 } },
	};
	struct query query;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		query_render(&query, rows[i].text, rows[i].style);
		cr_expect_str_eq(query.text.buf, rows[i].shown);
		cr_expect_eq(query.count, rows[i].count, "%s", rows[i].text);
		for (unsigned k = 0; k < rows[i].count; k++)
			cr_expect_eq(query.which[k], rows[i].which[k], "%s",
			    rows[i].text);
		query_release(&query);
	}
}
