/* target.h - what is to be blocked
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_BLOCK_TARGET_H
#define ZM_TOOLS_BLOCK_TARGET_H

#include "base/mem.h"
#include "grammar/net.h"

enum { BLOCK_KIND_CLIENTS, BLOCK_KIND_SENDERS, BLOCK_KIND_USERS, BLOCK_KINDS };

struct block_kind {
	const char	*table;
	int		 pattern;	/* of the rule; -1: from */
	const char	*shown;		/* before the key, for people */
	const char	*text;		/* the rule */
};
extern const struct block_kind block_kinds[BLOCK_KINDS];

struct block_target {		/* what is to be blocked */
	const struct block_kind *kind;
	const char	*key;		/* as it stands in the table */
	struct net	 net;
};

/* Read the word of a command line.  0, or an exit status after words about
 * it. */
int block_target_take(struct arena *arena, const char *word,
    struct block_target *out);

#endif
