/* table.h - lookup tables: keys to values in plain files
 *
 * File form: one entry a line, "key value..." or "key: value..."; a line
 * that begins with a blank continues the one before; # at the start of a
 * line is a comment.  Keys fold case.  Files are read into memory, checked
 * for change (inode, size, mtime) at most once a second, and replaced
 * whole; a file that became unreadable or broken keeps the old contents
 * only if `keep` says so, else lookups answer TABLE_TROUBLE.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_H
#define ZM_MAIL_TABLE_H

#include "base/err.h"
#include "base/str.h"
#include "grammar/net.h"

enum table_result { TABLE_FOUND = 1, TABLE_NONE = 0, TABLE_TROUBLE = -1 };

struct table;

/* spec: "file:/path", or "inline:key value\nkey value\n".  name is for
 * messages.  Never fails: a missing file shows at lookup. */
struct table *table_new(const char *name, const char *spec);
void table_free(struct table **table);

/* Look key up (case folded).  The value is valid until the next lookup in
 * this table.  *out_line: line number in the file. */
enum table_result table_lookup(struct table *table, struct slice key,
    struct slice *out_value, unsigned *out_line, struct err *err);

/* Is this address in the table's networks ("192.0.2.0/24", one a line)? */
enum table_result table_has_address(struct table *table,
    const struct net *address, unsigned *out_line, struct err *err);

/* Read it now.  returns 1; 0 when a key stands there twice (the first
 * counts; err says file:line); -1 when it cannot be used (err says
 * file:line of the first bad entry). */
int table_check(struct table *table, struct err *err);

/* All entries, in file order (for check, newaliases). */
typedef bool table_fn(void *context, struct slice key, struct slice value,
    unsigned line);
enum table_result table_each(struct table *table, table_fn *fn,
    void *context, struct err *err);

/* What it was opened as, where its file is, how often it was read. */
const char *table_name(const struct table *table);
const char *table_path(const struct table *table);	/* "" when inline */
unsigned table_generation(const struct table *table);

#endif
