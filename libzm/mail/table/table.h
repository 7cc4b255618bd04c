/* table.h - lookup tables: keys to values, whatever holds them
 *
 * A table is opened from a spec, "TYPE:ARGUMENT":
 *	file:/PATH	lines "key value..." or "key: value..."; a line that
 *			begins with a blank continues the one before; # at
 *			the start of a line is a comment
 *	inline:LINES	the same, from the configuration
 *	pcre:/PATH	lines "/pattern/flags value" with $1 in the value
 *	cidr:/PATH	lines "network value": the longest prefix wins
 *	cdb:/PATH	a constant database (built by `zmailer table build`)
 *	lmdb:/PATH	an LMDB file without subdirectory (the same)
 *	passwd:		the accounts of the system
 *	pgsql:/PATH	a database that the process tables asks: PATH says
 *			where it is and which question (definition.h)
 *	mysql:/PATH, sqlite:/PATH, ldap:/PATH, redis:/PATH, socketmap:/PATH,
 *	tcp:/PATH	the same
 * "?file:/PATH", for presets and not for people, is a file that need not be
 * there: it has no entries until it is, and then counts as any other.
 * Keys fold case.  Files are looked at again at most once a second and
 * taken over whole when they changed: each time is a new generation.  A file
 * that cannot be read or is broken makes lookups answer TABLE_TROUBLE.
 * A back end joins in type.h; callers know only this header.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_H
#define ZM_MAIL_TABLE_H

#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "grammar/net.h"

enum table_result { TABLE_FOUND = 1, TABLE_NONE = 0, TABLE_TROUBLE = -1 };

struct table;

/* name is for messages.  Never fails: what is wrong shows at lookup. */
struct table *table_new(const char *name, const char *spec);
void table_free(struct table **table);

/* Is this a spec that this build can open?  Looks at no file.
 * 0 or -1 (err: what to write instead). */
int table_spec_check(const char *spec, struct err *err);
/* Names of the types, blank separated: those built, or those left out. */
const char *table_types_text(bool built);

/* From now on plain files of at least from_bytes are read once, into a
 * database in RUN_DIR/tables that all processes map (side.h).  NULL:
 * no more. */
void table_share(const char *run_dir, uint64_t from_bytes);

/* From now on tables of databases are asked for at TABLES_SOCKET there. */
void table_ask_at(const char *run_dir);
/* From now on each question to a database is a test: *out_is_kept says
 * whether its answer had been kept of an earlier one.  NULL: no more. */
void table_ask_tests(bool *out_is_kept);
#define TABLES_SOCKET "tables.sock"

/* Does a question to it wait for another process?  Who must not wait asks that
 * one himself: "get NAME KEY", KEY folded. */
bool table_is_asked(const struct table *table);
bool table_spec_is_asked(const char *spec);
/* Its answer, "found VALUE" or "none".  *out_value is borrowed. */
enum table_result table_answer_read(struct slice answer,
    struct slice *out_value, struct err *err);
/* Definition of an asked table's spec: its type and its path, NULL: it is not
 * asked. */
const char *table_definition_path(const char *spec, const char **out_type);

/* Look key up (case folded).  The value is valid until the next lookup in
 * this table.  *out_line: line number in the file, 0 when the type has none.
 * Both may be NULL. */
enum table_result table_lookup(struct table *table, struct slice key,
    struct slice *out_value, unsigned *out_line, struct err *err);

/* Is this address in the table's networks ("192.0.2.0/24", one a line)?
 * The longest prefix wins. */
enum table_result table_has_address(struct table *table,
    const struct net *address, unsigned *out_line, struct err *err);
/* The same with the value that stands after the network. */
enum table_result table_find_address(struct table *table,
    const struct net *address, struct slice *out_value, unsigned *out_line,
    struct err *err);

enum table_checked {
	TABLE_CHECK_BAD = -1,
	TABLE_CHECK_TWICE = 0,
	TABLE_CHECK_GOOD = 1
};

/* Read it now.  returns TABLE_CHECK_TWICE when a key stands there twice (the
 * first counts; err says file:line), TABLE_CHECK_BAD when it cannot be used
 * (err says file:line of the first bad entry). */
enum table_checked table_check(struct table *table, struct err *err);

/* Every fault that can be found in a table of lines: bad lines, keys that
 * stand there twice (is_doubt), and, with is_networks, keys that are no
 * networks.  In no order.  Databases have none. */
typedef void table_fault_fn(void *context, unsigned line, const char *what,
    bool is_doubt);
void table_faults(struct table *table, bool is_networks, table_fault_fn *fn,
    void *context);

/* All entries, in file order (for check, newaliases). */
typedef bool table_fn(void *context, struct slice key, struct slice value,
    unsigned line);
enum table_result table_each(struct table *table, table_fn *fn,
    void *context, struct err *err);

/* All names that a table of a database has, as its definition's word list
 * says; of other tables table_each.  Waits; returns TABLE_NONE at the end. */
enum table_result table_list(struct table *table, table_fn *fn,
    void *context, struct err *err);

/* What it was opened as, where its file is, how often it was read. */
const char *table_name(const struct table *table);
const char *table_kind(const struct table *table);	/* "file" "cdb" ... */
const char *table_path(const struct table *table);	/* "": none */
unsigned table_generation(const struct table *table);

/* May it be asked for parts of an address (user, @domain, .parent)?  Tables
 * of patterns are asked for whole addresses only. */
bool table_takes_parts(const struct table *table);

/* The user who alone may write the table's file, once it was read: what it
 * says, it says in his name.  -1: there is no file, or others may write or
 * replace it.  (Root's is not asked about its directory: it gives nothing.) */
int64_t table_owner(const struct table *table);

enum table_replace {
	TABLE_REPLACE_UNKNOWN = -1,
	TABLE_REPLACE_NO = 0,
	TABLE_REPLACE_YES = 1
};

/* Could others put another file in the place of this one?  They could where
 * they may write into its directory, unless that is sticky and belongs to
 * root or the file's owner.  _UNKNOWN: errno says why nobody can
 * tell. */
enum table_replace table_is_replaceable(const char *path,
    const struct stat *file);

#endif
