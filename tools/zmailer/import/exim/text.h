/* text.h - values of exim4.conf: strings, lists, look-ups
 *
 * Pure: the caller looks for files.  Slices point into the arguments or into
 * the arena.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_EXIM_TEXT_H
#define ZM_TOOLS_IMPORT_EXIM_TEXT_H

#include "base/mem.h"
#include "base/str.h"

/* "a\"b" without its quotes; a value without quotes as it is. */
struct slice exim4_unquote(struct arena *arena, struct slice value);

/* The elements of a list, separated by colons, or by the sign after "<" at its
 * front; a doubled separator is one that belongs to an element. */
struct exim4_list {
	struct slice	rest;
	char		separator;
	bool		is_over;
};
void exim4_list_begin(struct slice value, struct exim4_list *out);
/* The next element, without blanks at its ends; it may be "".
 * returns false at the end */
bool exim4_list_next(struct arena *arena, struct exim4_list *list,
    struct slice *out);

/* Take the text in the { } at the front of *rest, with blanks after them.
 * returns false: there are no braces */
bool exim4_brace_cut(struct slice *rest, struct slice *out);

/* Bring variables to one form: ${local_part} and $local_part_data become
 * $local_part, ${lc:X} becomes X, \N...\N its text. */
struct slice exim4_plain(struct arena *arena, struct slice value);

struct exim4_lookup {
	struct slice	type;		/* "lsearch", "mysql" */
	struct slice	key;		/* plain; "" of a query */
	struct slice	place;		/* a file, or a query */
	struct slice	found, missing;	/* what it becomes; "$value", "" */
	bool		is_partial, is_star, is_star_at, is_query;
};
/* Parse ${lookup{KEY}TYPE{FILE}...} or ${lookup TYPE{QUERY}...}, and nothing
 * else.  returns whether it is that */
bool exim4_lookup_cut(struct arena *arena, struct slice value,
    struct exim4_lookup *out);
/* TYPE;FILE as an element of a list.  returns whether it is that */
bool exim4_lookup_item(struct slice item, struct exim4_lookup *out);

/* Is there a file of that name? */
typedef bool exim4_exists_fn(void *context, struct slice path);
/* Each ${if exists{FILE}{A}{B}} becomes A or B; "fail" becomes "".
 * returns the value; one of more than 16 KB as it is */
struct slice exim4_fold(struct arena *arena, struct slice value,
    exim4_exists_fn *exists, void *context);

#endif
