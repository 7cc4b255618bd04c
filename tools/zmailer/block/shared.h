/* shared.h - blocks that all machines of the cluster heed
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_BLOCK_SHARED_H
#define ZM_TOOLS_BLOCK_SHARED_H

#include "tools/change/change.h"

/* A block, as share knows it. */
struct shared_block {
	struct slice	kind;		/* "clients", "senders", "users" */
	struct slice	key;
	int64_t		until_s;	/* 0: for ever */
	struct slice	about;		/* "by=NAME REASON" */
};

/* Is there a cluster whose machines share blocks?  Words on stderr if not. */
bool shared_is_ready(const struct change *change);

/* Have all machines refuse it.  An exit status, after words if it is not 0:
 * 75 when Redis is away. */
int shared_begin(const struct change *change, const char *kind,
    const char *key, int64_t until_s);
/* And no more: key, and those of its kind that covers says true of.  returns
 * how many there were; -1: after words on stderr. */
typedef bool shared_covers_fn(const void *context, struct slice key);
int shared_end(const struct change *change, const char *kind,
    shared_covers_fn *covers, const void *context);

/* Call fn for each.  0; -1: share does not answer (err). */
typedef void shared_block_fn(void *context, const struct shared_block *block);
int shared_each(const struct change *change, shared_block_fn *fn,
    void *context, struct err *err);

#endif
