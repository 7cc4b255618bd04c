/* alias.h - the table of aliases, also for verbs that write to it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_ALIAS_H
#define ZM_TOOLS_ZMAILER_ALIAS_H

#include "tools/change/change.h"

struct alias_place {		/* in the arena of the change */
	const char	*path;
	unsigned	 line;
	const char	*value;
};

/* Find an alias in the table that all domains ask first; the table is part of
 * the change from then on.  false: there is no such alias, or no table that is
 * a text file. */
bool alias_find(struct change *change, const char *name,
    struct alias_place *out);

/* Replace the value of an alias that was found.  The caller carries the change
 * out. */
void alias_put(struct change *change, const char *name, const char *value);

#endif
