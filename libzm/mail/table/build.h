/* build.h - build constant databases from plain tables
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_BUILD_H
#define ZM_MAIL_TABLE_BUILD_H

#include <stddef.h>

#include "base/err.h"

/* ---- a file that replaces another one whole --------------------------- */

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
/* Sync it and rename it to its target, or remove it.  Releases the draft in
 * any case.  0 or -1. */
int table_draft_publish(struct table_draft *draft,
    enum table_draft_flags flags, struct err *err);
void table_draft_drop(struct table_draft *draft);

/* ---- building --------------------------------------------------------- */

enum table_built {
	TABLE_BUILD_TROUBLE = -1,
	TABLE_BUILD_NONE = 0,
	TABLE_BUILD_DONE = 1
};

/* "cdb:/etc/x.cdb" is made of /etc/x, "lmdb:/etc/x.lmdb" too, unless
 * source_path (NULL: so) says otherwise.  Of a key that stands there twice
 * the first counts.  Owner and mode become those of the source, as far as
 * permitted.
 * returns TABLE_BUILD_NONE for a type that is not built; _TROUBLE with err
 * ("FILE:LINE: what"), the old database is as it was. */
enum table_built table_build(const char *spec, const char *source_path,
    size_t *out_entries, struct err *err);

#endif
