/* imports.h - what came out of another mailer's queue, or from another node
 *
 * Rows I1 and I2 of doc/INTERNALS.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_IMPORTS_H
#define ZM_MAIL_SPOOL_IMPORTS_H

#include "mail/spool/spool.h"

/* SPOOL/imported has a line for each message that was taken: a key that the old
 * queue never changes, and our spool id.  The name of its draft has the key: a
 * draft that a crash left is ours if its key has a line; otherwise the old
 * queue still has the message. */
enum { SPOOL_IMPORT_KEY_BYTES = 64 };	/* a key and its NUL */
#define SPOOL_IMPORT_CAUSE "imported"	/* in freezer/: it was held there */

/* Is it made of letters, digits, dots and dashes? */
bool spool_import_key_is(struct slice key);
/* The name of the draft. */
void spool_import_name(const char *key, bool is_frozen,
    char out_name[SPOOL_NAME_BYTES]);

/* Read the lines.  Only one process at a time may add some (is_to_add).
 * returns 0; -1 (errno EWOULDBLOCK: another process adds some now) */
struct spool_imports;
int spool_imports_open(const struct spool *spool, bool is_to_add,
    struct spool_imports **out, struct err *err);
void spool_imports_close(struct spool_imports **imports);
/* Did the key have a line when they were opened? */
bool spool_imports_has(const struct spool_imports *imports, const char *key);
/* Row I2: add a line, or several, and sync them.  0; -1: they may be there or
 * not. */
int spool_imports_add(struct spool_imports *imports, const char *key,
    const char *id, struct err *err);
struct spool_import_line {
	const char	*key, *id;
};
int spool_imports_add_all(struct spool_imports *imports,
    const struct spool_import_line *lines, size_t count, struct err *err);

#endif
