/* legacy.h - what the files of legacy/ share
 *
 * ZMailer's scheduler.conf: patterns in column 0, indented settings below
 * them.  Everything in it either becomes an item of a schedule clause or is
 * reported by name: as a warning if we do it in another way, as an error if it
 * is unknown or its meaning would be lost.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_LEGACY_H
#define ZM_CONF_LEGACY_H

#include "conf/part/part.h"

enum {
	LEGACY_PATTERNS_MAX = 256,	/* that a clause may stand for */
	LEGACY_FACTORS_MAX = CONF_RETRIES_MAX
};

struct legacy_clause {
	struct conf_clause	clause;
	int64_t			interval_s;	/* 0: not said */
	unsigned		factors[LEGACY_FACTORS_MAX];
	size_t			factor_count;	/* 0: not said */
};

struct legacy {
	struct conf_loader	*loader;
	struct legacy_clause	 defaults;	/* the first entry for all */
	bool			 has_defaults;
};

/* Put a keyword with its value (value.p NULL: none) into a clause; complains at
 * the token. */
void legacy_keyword(struct legacy *legacy, const struct conf_token *token,
    struct slice keyword, struct slice value, struct legacy_clause *out);
/* PARAMname = "value". */
void legacy_param(struct legacy *legacy, const struct conf_token *token,
    struct slice name);

/* Expand a pattern "CHANNEL/HOST" with {a,b} and [a-c] to patterns that have
 * only * and ?.  Returns how many, at most LEGACY_PATTERNS_MAX; 0: a bracket is
 * not closed, or there are too many. */
size_t legacy_patterns(struct arena *arena, struct slice pattern,
    const char *out[LEGACY_PATTERNS_MAX]);

#endif
