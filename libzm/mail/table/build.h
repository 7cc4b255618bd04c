/* build.h - build constant databases from plain tables
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_BUILD_H
#define ZM_MAIL_TABLE_BUILD_H

#include <stddef.h>

#include "base/err.h"

/* ---- a file that replaces another as a whole -------------------------- */

struct table_draft {
	char	*path, *target;
	int	 fd;
};
enum table_draft_flags {
	TABLE_DRAFT_VOLATILE = 1	/* can be made again: not synced */
};

/* Make TARGET.PID.new, mode 0600.  0 or -1. */
int table_draft_open(struct table_draft *draft, const char *target,
    struct err *err);
/* Sync it and rename it to its target; if that fails, remove it.  Releases the
 * draft in any case.  0 or -1. */
int table_draft_publish(struct table_draft *draft,
    enum table_draft_flags flags, struct err *err);
void table_draft_drop(struct table_draft *draft);

/* ---- building --------------------------------------------------------- */

enum table_built {
	TABLE_BUILD_TROUBLE = -1,
	TABLE_BUILD_NONE = 0,
	TABLE_BUILD_DONE = 1
};

/* Build a database.  "cdb:/etc/x.cdb" and "lmdb:/etc/x.lmdb" are built from
 * /etc/x, or from source_path if it is not NULL.  If a key occurs twice, the
 * first counts.  Owner and mode become those of the source, as far as
 * permitted.
 * returns TABLE_BUILD_NONE for a type that is not built; _TROUBLE with err
 * ("FILE:LINE: what"): the old database is unchanged */
enum table_built table_build(const char *spec, const char *source_path,
    size_t *out_entries, struct err *err);

#endif
