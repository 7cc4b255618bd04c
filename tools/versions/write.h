/* write.h - replace a file as a whole, or not at all
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_VERSIONS_WRITE_H
#define ZM_TOOLS_VERSIONS_WRITE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct change_file {
	const char	*path;		/* as the configuration names it */
	const char	*target;	/* where symbolic links lead */
	struct str	 before, after;
	bool		 is_new, is_table;
	bool		 goes_empty;	/* removed when nothing is left in it */
	bool		 is_secret;	/* a key: its text is never shown */
	const char	*about;		/* shown in place of the text; or
					 * NULL */
	unsigned	 mode;		/* of a new one */
	const char	*account;	/* owner of a new one, when we are
					 * root; NULL or "-": ours */
};

/* Replace a file, or remove it (goes_empty): a new file beside it, with owner
 * and mode kept, is synced and renamed over it, and the directory synced
 * (doc/INTERNALS.md row E1).
 * returns 0 or -1 */
int change_file_write(const struct change_file *file, struct err *err);
/* Make the names in the directory of target durable.
 * returns 0; -1: errno says why */
int change_directory_sync(const char *target);

#endif
