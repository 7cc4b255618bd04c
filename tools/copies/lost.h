/* lost.h - the mail of a node that is lost comes here
 *
 * By an order (`zmailer cluster takeover`), or without one (`cluster ... {
 * takeover after SPAN }`), when the process that looks for what other nodes
 * give finds a node whose lease is over for so long.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_COPIES_LOST_H
#define ZM_TOOLS_COPIES_LOST_H

#include "tools/copies/take.h"

struct lost {
	const char	*node;
	const char	*by;		/* in events */
	uint64_t	 epoch;		/* it is taken over only in this one,
					 * and only ... */
	uint64_t	 after_s;	/* when its lease is over for so long;
					 * 0: by an order */
};

/* Take the node over: its lease ends for good, and all that it has comes here
 * with take.  order: of take.
 * EX_OK; else an exit status, and err: nothing was taken, or the same again
 * does the rest. */
int lost_take_over(const struct lost *lost, struct take *take,
    struct share_order *order, struct err *err);

struct lost_node {		/* whose lease is over for so long */
	char		 node[CLUSTER_NAME_BYTES_MAX + 1];
	uint64_t	 epoch, bytes;
};
enum { LOST_NODES_MAX = 32 };

/* Ask share for nodes whose lease is over for after_s seconds, and who have
 * mail.  *out_count of out.  0; -1: err. */
int lost_ask(struct share_order *order, int64_t after_s,
    struct lost_node out[LOST_NODES_MAX], size_t *out_count, struct err *err);

#endif
