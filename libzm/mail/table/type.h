/* type.h - what a back end of tables is; for table*.c only
 *
 * A table's spec is "TYPE:ARGUMENT".  table.c knows names, watches files and
 * counts generations; a type makes a state from its argument and answers from
 * it.  A new back end is one file with one struct table_type in it and one row
 * in types.c: no caller changes.
 *
 * err is "LINE: what" if a line of the argument is wrong, otherwise "what";
 * table.c prepends the table and its file.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_TYPE_H
#define ZM_MAIL_TABLE_TYPE_H

#include <sys/stat.h>

#include "mail/table/table.h"

enum table_traits {
	TABLE_HAS_PATH = 1,	/* the argument is the path of a file, which
				 * is opened again when it changes */
	TABLE_ASKS_WHOLE = 2,	/* patterns: looked up by whole keys, not by
				 * parts of them (table_takes_parts) */
	TABLE_IS_ASKED = 4	/* the argument is the path of a definition
				 * (definition.h), which only the process
				 * that asks databases reads */
};

struct table_source {
	const char	*name;		/* of the table */
	const char	*argument;	/* after the colon */
	void		*old;		/* the state in use, or NULL */
	bool		 may_be_absent;	/* no file: no entries */
	struct stat	 seen;		/* TABLE_HAS_PATH: open sets it to the
					 * file as it was read */
};

struct table_hit {
	struct slice	value;		/* valid until the next question */
	unsigned	line;		/* 0: the type has no lines */
};

struct table_type {
	const char		*name;		/* before the colon */
	enum table_traits	 traits;
	const char		*package;	/* NULL; or the Debian package
						 * that the build lacked:
						 * the rest is NULL */
	/* Make a state; it may be source->old if only the date changed.
	 * returns 1 or -1. */
	int (*open)(struct table_source *source, void **out_state,
	    struct err *err);
	void (*close)(void *state);
	/* key: as asked for; folded: the same in lower case. */
	enum table_result (*find)(void *state, struct slice key,
	    struct slice folded, struct table_hit *out, struct err *err);
	/* NULL: it is answered at once.  find will soon be called for it. */
	void (*expect)(void *state, struct slice folded);
	/* NULL: its entries are not networks. */
	enum table_result (*find_net)(void *state, const struct net *address,
	    struct table_hit *out, struct err *err);
	/* NULL: if it can be opened, it is good.  1; 0 a doubt; -1. */
	int (*check)(void *state, struct err *err);
	/* NULL: it cannot be listed. */
	enum table_result (*each)(void *state, table_fn *fn, void *context,
	    struct err *err);
	/* NULL: as each; otherwise asks the owner of the names. */
	enum table_result (*list)(void *state, table_fn *fn, void *context,
	    struct err *err);
};

extern const struct table_type table_type_file, table_type_inline,
    table_type_pcre, table_type_cidr, table_type_cdb, table_type_lmdb,
    table_type_passwd, table_type_pgsql, table_type_mysql,
    table_type_sqlite, table_type_socketmap, table_type_ldap,
    table_type_redis, table_type_tcp;

/* The type before spec's colon (after a '?'), and the argument after it; NULL:
 * there is no type of that name. */
const struct table_type *table_type_of(const char *spec,
    const char **out_argument);

/* The argument after the colon of the table's spec. */
const char *table_argument(const struct table *table);

/* "LINE: what" becomes "FILE:LINE: what", all else "FILE: what".  -1. */
int table_err_at(struct err *err, const char *file);

/* Read all bytes of a regular file of at most TABLE_BYTES_MAX, which must not
 * change meanwhile.  Freed by mem_release.  NULL with err. */
char *table_read_file(const char *path, struct stat *out_seen,
    size_t *out_bytes, struct err *err);
struct table_contents;
/* Parse the plain file of source into *out (see internal.h), which is old if
 * the bytes are the same.  0 or -1. */
int table_contents_read(struct table_source *source,
    struct table_contents *old, struct table_contents **out,
    struct err *err);
/* Is it the same file with the same size and date? */
bool table_looks_the_same(const struct stat *a, const struct stat *b);

#endif
