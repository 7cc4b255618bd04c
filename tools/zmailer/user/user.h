/* user.h - users in tables: files that are edited, databases that are asked
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_USER_H
#define ZM_TOOLS_ZMAILER_USER_H

#include "mail/table/definition.h"
#include "mail/table/table.h"
#include "tools/change/change.h"

enum { USER_PLACES_MAX = 16, USER_NAME_BYTES_MAX = 255 };

struct user_place {		/* a table that has users */
	const char	*name;		/* "<people>", or its spec */
	const char	*spec;
	const char	*file;		/* a text file; NULL: a database */
	bool		 is_login;	/* it has the passwords */
	bool		 is_mailbox;	/* it says who has a mailbox */
};

struct user {
	struct change		*change;
	const char		*name, *domain;	/* lower case; domain: after
						 * the @ of name, or NULL */
	const struct conf_domain *ours;		/* NULL: none, or not known */
	struct user_place	 places[USER_PLACES_MAX];
	size_t			 count;
};

/* ---- places.c: the tables that have a user ------------------------------ */

/* Add the table of --table, or of auth users; there may be none.  An exit
 * status: EX_OK, or words were printed. */
int user_logins_add(struct user *user);
/* Add the table of users of a domain (NULL: none). */
void user_mailboxes_add(struct user *user, const struct conf_domain *domain);
/* Are there tables, and can all be written to?  An exit status: EX_OK, or words
 * were printed. */
int user_places_check(const struct user *user);
/* Keep the places of which zmailer can "add", "change" or "remove" a row.  An
 * exit status: EX_OK, or words were printed, if that is none, or not that of
 * the passwords. */
int user_places_that_can(struct user *user, const char *verb);

/* ---- rows.c: a text file of a table ------------------------------------- */

struct user_line {
	size_t		 begin, end;	/* its lines, LF included */
	struct slice	 key, value;	/* of its first line */
	unsigned	 line;
};

/* The next entry from *at and line *line (0 at first) on. */
bool user_line_next(struct slice text, size_t *at, unsigned *line,
    struct user_line *out);
/* The entry of a name; its case is ignored. */
bool user_line_find(struct slice text, const char *name,
    struct user_line *out);
/* Write an entry in the place of the one that is there, or as the last. */
void user_line_put(struct str *text, const char *name, struct slice value);
/* Take it out.  false: it was not there. */
bool user_line_take(struct str *text, const char *name);

/* ---- base.c: a table in a database -------------------------------------- */

struct user_base;		/* the program tables, which serves us alone */

/* Start it for a spec.  NULL with err. */
struct user_base *user_base_open(const char *spec, struct err *err);
void user_base_close(struct user_base **base);

/* Ask "get", or write: "add", "change", "remove" (value NULL: "").  The value
 * found, or the number of rows written, is added to out, which may be NULL.
 * TABLE_TROUBLE: err, which says so when the outcome of a write is unknown. */
enum table_result user_base_ask(struct user_base *base, const char *verb,
    struct slice key, struct slice value, struct str *out, struct err *err);
/* Call fn for all names.  TABLE_NONE at the end. */
enum table_result user_base_list(struct user_base *base, table_fn *fn,
    void *context, struct err *err);
/* Does the definition of a table in a database say how to do this: "add" ...?
 * Also true if it cannot be read: who asks then hears why. */
bool user_base_can(const char *spec, const char *verb);

/* ---- list.c ------------------------------------------------------------- */

/* Print the users of all places, those of a domain (NULL: all).  An exit
 * status. */
int user_list(struct change *change, const struct user_place *places,
    size_t count, const char *domain);

#endif
