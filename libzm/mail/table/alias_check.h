/* alias_check.h - is every value of a table of aliases valid?
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_ALIAS_CHECK_H
#define ZM_MAIL_ALIAS_CHECK_H

#include "mail/table/table.h"

enum { ALIAS_CHECK_SAID_MAX = 20 };	/* complaints about one table */

/* Call say for each bad item, at most ALIAS_CHECK_SAID_MAX times.  Returns how
 * many bad items there are; 0 also for a table that cannot be listed.
 * *out_entries (may be NULL): how many entries it has. */
typedef void alias_say_fn(void *context, unsigned line, const char *what);
unsigned alias_check(struct table *table, alias_say_fn *say, void *context,
    unsigned *out_entries);

#endif
