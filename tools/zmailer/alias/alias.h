/* alias.h - the table of aliases, for verbs that write into it, too
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

/* Where the alias stands that all domains have first, in the text of the
 * table that is part of the change from then on.  false: there is no such
 * alias, or no table that is a text file. */
bool alias_find(struct change *change, const char *name,
    struct alias_place *out);

/* Put value in the place of what an alias that was found stands for.  The
 * caller carries the change out. */
void alias_put(struct change *change, const char *name, const char *value);

#endif
