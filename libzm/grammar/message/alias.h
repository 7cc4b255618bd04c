/* alias.h - the right side of an alias, item by item
 *
 * Pure.  Items are separated by commas and line ends:
 *	bob, "first last"@example.org, Bob <bob@example.net>
 *	\bob		the mailbox, no further aliasing
 *	"|prog args"	a program     /file or "/a file"   a file
 *	:include:/path	a file of such items
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_ALIAS_H
#define ZM_GRAMMAR_ALIAS_H

#include "base/err.h"
#include "base/str.h"
#include "grammar/smtp/path.h"

enum alias_kind {
	ALIAS_ADDRESS,	/* path; its domain may be empty */
	ALIAS_MAILBOX,	/* \user: path */
	ALIAS_PROGRAM,	/* text: the command */
	ALIAS_FILE,	/* text: an absolute path */
	ALIAS_INCLUDE	/* text: an absolute path */
};

struct alias_item {
	enum alias_kind	kind;
	struct path	path;
	struct slice	text;
};

enum alias_flags {
	ALIAS_COMMENTS = 1	/* a line that begins with # is a comment */
};

enum alias_answer {
	ALIAS_BAD = -1,
	ALIAS_END = 0,
	ALIAS_ITEM = 1
};

/* Read the next item at the front of *rest and move *rest past it.  Slices
 * borrow from the value or live in the arena.
 * returns ALIAS_BAD when the item is malformed (err quotes it); *rest is past
 * it, so that the caller can continue. */
enum alias_answer alias_next(struct arena *arena, struct slice *rest,
    enum alias_flags flags, struct alias_item *out, struct err *err);

/* Print an item so that alias_next reads the same. */
void alias_add(struct str *out, const struct alias_item *item);

#endif
