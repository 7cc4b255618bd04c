/* query.h - a query in the words of its engine
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ENGINE_QUERY_H
#define ZM_TABLES_ENGINE_QUERY_H

#include "mail/table/definition.h"

struct query {
	struct str	 text;
	unsigned	 which[DEFINITION_PLACES_MAX];	/* parameter 1 of text
						 * is number which[0], from 0,
						 * of the definition's */
	unsigned	 count;		/* of parameters of text */
};

enum query_style {
	QUERY_DOLLAR,		/* $1: as often as it is wanted */
	QUERY_MARK_NUMBER,	/* ?1: the same */
	QUERY_MARK		/* ?: each time another */
};

/* Parameters $1 to $4 of a definition's statement become those of the engine,
 * without gaps: databases want to see each that they are given.  What stands
 * in quotes stays.  query_release it. */
void query_render(struct query *out, const char *text,
    enum query_style style);
void query_release(struct query *query);

#endif
