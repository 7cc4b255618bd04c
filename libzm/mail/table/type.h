/* type.h - what a back end of tables is; for table*.c only
 *
 * A table's spec is "TYPE:ARGUMENT".  table.c knows names, watches files and
 * counts generations; a type makes a state from its argument and answers from
 * it.  A new back end is one file with one struct table_type in it and one row
 * in types.c: no caller changes.
 *
 * Words in err: "LINE: what" when a line of the argument is to blame, else
 * "what"; table.c puts the table and its file in front.
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
	TABLE_ASKS_WHOLE = 2,	/* patterns: only whole keys are asked for,
				 * no parts of them (table_takes_parts) */
	TABLE_IS_ASKED = 4	/* the argument is the path of a definition
				 * (definition.h), which only the process
				 * that asks databases reads */
};

struct table_source {
	const char	*name;		/* of the table */
	const char	*argument;	/* after the colon */
	void		*old;		/* the state in use, or NULL */
	bool		 may_be_absent;	/* no file: no entries */
	struct stat	 seen;		/* TABLE_HAS_PATH: open fills it in
					 * with what the file was when read */
};

struct table_hit {
	struct slice	value;		/* good until the next question */
	unsigned	line;		/* 0: the type has no lines */
};

struct table_type {
	const char		*name;		/* before the colon */
	enum table_traits	 traits;
	const char		*package;	/* NULL; or the Debian package
						 * that the build lacked:
						 * the rest is NULL */
	/* A new state; may be source->old when nothing changed but the date.
	 * returns 1 or -1. */
	int (*open)(struct table_source *source, void **out_state,
	    struct err *err);
	void (*close)(void *state);
	/* key as asked for, folded the same in lower case. */
	enum table_result (*find)(void *state, struct slice key,
	    struct slice folded, struct table_hit *out, struct err *err);
	/* NULL: its entries are no networks. */
	enum table_result (*find_net)(void *state, const struct net *address,
	    struct table_hit *out, struct err *err);
	/* NULL: what could be opened is good.  1, 0 a doubt, -1. */
	int (*check)(void *state, struct err *err);
	/* NULL: it cannot be listed. */
	enum table_result (*each)(void *state, table_fn *fn, void *context,
	    struct err *err);
	/* NULL: as each; else who has the names is asked. */
	enum table_result (*list)(void *state, table_fn *fn, void *context,
	    struct err *err);
};

extern const struct table_type table_type_file, table_type_inline,
    table_type_pcre, table_type_cidr, table_type_cdb, table_type_lmdb,
    table_type_passwd, table_type_pgsql, table_type_mysql,
    table_type_sqlite, table_type_socketmap, table_type_ldap,
    table_type_redis, table_type_tcp;

/* The type in front of spec's colon (after a '?') and what stands after it;
 * NULL when there is none of that name. */
const struct table_type *table_type_of(const char *spec,
    const char **out_argument);

/* What stands after the colon of the table's spec. */
const char *table_argument(const struct table *table);

/* "LINE: what" becomes "FILE:LINE: what", all else "FILE: what".  -1. */
int table_err_at(struct err *err, const char *file);

/* All bytes of a regular file of at most TABLE_BYTES_MAX that did not change
 * while it was read.  NULL with err; mem_release it. */
char *table_read_file(const char *path, struct stat *out_seen,
    size_t *out_bytes, struct err *err);
struct table_contents;
/* The plain file of source parsed into *out (see internal.h); old, when
 * its bytes are the same.  0 or -1. */
int table_contents_read(struct table_source *source,
    struct table_contents *old, struct table_contents **out,
    struct err *err);
/* Same file, same size, same date? */
bool table_looks_the_same(const struct stat *a, const struct stat *b);

#endif
