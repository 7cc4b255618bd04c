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
 *			where it is and which query (definition.h)
 *	mysql:/PATH, sqlite:/PATH, ldap:/PATH, redis:/PATH, socketmap:/PATH,
 *	tcp:/PATH	the same
 * "?file:/PATH", for presets and not for people, is a file that need not
 * exist: until it does, it has no entries.
 * Case of keys is ignored.  Files are looked at again at most once a second,
 * and read as a whole when they changed: each time is a new generation.  If a
 * file cannot be read or is broken, lookups answer TABLE_TROUBLE.
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

/* name is for messages.  Never fails: a lookup reports what is wrong. */
struct table *table_new(const char *name, const char *spec);
void table_free(struct table **table);

/* Check that this build can open such a spec; looks at no file.
 * 0; -1 (err: what to write instead). */
int table_spec_check(const char *spec, struct err *err);
/* Names of the types, blank separated: those built, or those left out. */
const char *table_types_text(bool built);

/* From now on plain files of at least from_bytes are read once, into a
 * database in RUN_DIR/tables that all processes map (side.h).  NULL ends
 * that. */
void table_share(const char *run_dir, uint64_t from_bytes);

/* From now on questions to tables in databases go to TABLES_SOCKET there. */
void table_ask_at(const char *run_dir);
/* From now on each question to a database is a test: *out_is_kept says whether
 * the answer was kept from an earlier question.  NULL ends that. */
void table_ask_tests(bool *out_is_kept);
#define TABLES_SOCKET "tables.sock"

/* Does a question to it wait for another process?  A caller that must not wait
 * asks that process itself: "get NAME KEY", KEY folded. */
bool table_is_asked(const struct table *table);
bool table_spec_is_asked(const char *spec);
/* "lend NAME KEY" asks the same; before the answer there is a number: for how
 * many ms it stays true.  Takes it off.  0: it must not be kept. */
int64_t table_answer_lent(struct slice *answer);
/* Read its answer, "found VALUE" or "none".  *out_value borrows from it. */
enum table_result table_answer_read(struct slice answer,
    struct slice *out_value, struct err *err);
/* The type, and the path of the definition, of the spec of an asked table;
 * NULL: it is not asked. */
const char *table_definition_path(const char *spec, const char **out_type);

/* Look key up (case folded).  The value is valid until the next lookup in
 * this table.  *out_line: line number in the file, 0 when the type has none.
 * Both may be NULL. */
enum table_result table_lookup(struct table *table, struct slice key,
    struct slice *out_value, unsigned *out_line, struct err *err);

/* key will be looked up soon.  A table in a database sends the question and
 * does not wait: table_lookup finds the answer on its way, or there.  Other
 * tables do nothing.  At most 64 keys a table are on their way. */
void table_expect(struct table *table, struct slice key);

/* Is this address in the table's networks ("192.0.2.0/24", one a line)?
 * The longest prefix wins. */
enum table_result table_has_address(struct table *table,
    const struct net *address, unsigned *out_line, struct err *err);
/* The same with the value of the network. */
enum table_result table_find_address(struct table *table,
    const struct net *address, struct slice *out_value, unsigned *out_line,
    struct err *err);

enum table_checked {
	TABLE_CHECK_BAD = -1,
	TABLE_CHECK_TWICE = 0,
	TABLE_CHECK_GOOD = 1
};

/* Read it now.  returns TABLE_CHECK_TWICE if a key occurs twice (the first
 * counts; err says file:line), TABLE_CHECK_BAD if the table cannot be used (err
 * says file:line of the first bad entry). */
enum table_checked table_check(struct table *table, struct err *err);

/* Call fn for every fault of a table of lines, in no particular order: bad
 * lines, keys that occur twice (is_doubt), and, with is_networks, keys that are
 * not networks.  Databases have none. */
typedef void table_fault_fn(void *context, unsigned line, const char *what,
    bool is_doubt);
void table_faults(struct table *table, bool is_networks, table_fault_fn *fn,
    void *context);

/* Call fn for all entries, in file order (for check, newaliases), until it
 * returns false. */
typedef bool table_fn(void *context, struct slice key, struct slice value,
    unsigned line);
enum table_result table_each(struct table *table, table_fn *fn,
    void *context, struct err *err);

/* Call fn for all names of a table in a database, by the word list of its
 * definition; for other tables this is table_each.  Blocks; returns TABLE_NONE
 * at the end. */
enum table_result table_list(struct table *table, table_fn *fn,
    void *context, struct err *err);

/* Its name, its type, the path of its file, and how often it was read. */
const char *table_name(const struct table *table);
const char *table_kind(const struct table *table);	/* "file" "cdb" ... */
const char *table_path(const struct table *table);	/* "": none */
unsigned table_generation(const struct table *table);

/* May it be asked for parts of an address (user, @domain, .parent)?  Tables
 * of patterns are asked for whole addresses only. */
bool table_takes_parts(const struct table *table);

/* The only user who may write the table's file, after it was read: its entries
 * act in that user's name.  -1: there is no file, or others may write or
 * replace it.  (The directory of root's file is not checked, because root's
 * name gives no rights here.) */
int64_t table_owner(const struct table *table);

enum table_replace {
	TABLE_REPLACE_UNKNOWN = -1,
	TABLE_REPLACE_NO = 0,
	TABLE_REPLACE_YES = 1
};

/* Could others replace this file?  They could if they may write into its
 * directory, unless that is sticky and belongs to root or the file's owner.
 * _UNKNOWN: errno says why that is not known. */
enum table_replace table_is_replaceable(const char *path,
    const struct stat *file);

#endif
