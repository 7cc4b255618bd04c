/* query.c - a query in the words of its engine
 *
 * In     the query of a definition, checked (mail/table/definition.c)
 * Out    the text for the engine, and which parameters it has
 * Holds  nothing
 * Spec   query.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "tables/engine/query.h"

#include "base/banned.h"

/* Its number in the text, from 1 on; 0: the definition has no such
 * parameter. */
static unsigned
query_number(struct query *query, char digit, enum query_style style)
{
	unsigned parameter = (unsigned)(digit - '1');

	if (parameter >= DEFINITION_WRITTEN)
		return 0;
	for (unsigned i = 0; style != QUERY_MARK && i < query->count; i++)
		if (query->which[i] == parameter)
			return i + 1;
	if (query->count == DEFINITION_PLACES_MAX)
		return 0;
	query->which[query->count] = parameter;
	return ++query->count;
}

static void
query_add_place(struct query *query, unsigned number, enum query_style style)
{
	str_addc(&query->text, style == QUERY_DOLLAR ? '$' : '?');
	if (style != QUERY_MARK)
		str_addf(&query->text, "%u", number);
}

void
query_render(struct query *out, const char *text, enum query_style style)
{
	unsigned number;
	char quote = '\0';

	*out = (struct query){ .text = STR_INIT };
	for (const char *p = text; *p != '\0'; p++) {
		if (quote != '\0')
			quote = *p == quote ? '\0' : quote;
		else if (*p == '\'' || *p == '"' || *p == '`')
			quote = *p;
		else if (*p == '$' && ascii_is_digit(p[1]) &&
		    (number = query_number(out, p[1], style)) > 0) {
			query_add_place(out, number, style);
			p++;
			continue;
		}
		str_addc(&out->text, *p);
	}
}

void
query_release(struct query *query)
{
	str_release(&query->text);
}
