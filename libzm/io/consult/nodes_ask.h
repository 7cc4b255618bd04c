/* nodes_ask.h - another node of the cluster, by way of the process nodes
 *
 * For tools: a connection to RUN/nodes.sock that leads to that node;
 * doc/protocol/nodes.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_NODES_ASK_H
#define ZM_IO_NODES_ASK_H

#include "base/err.h"
#include "io/consult/nodes_line.h"

#define NODES_SOCKET "nodes.sock"
/* Below RUN, too: who takes a configuration of another node. */
#define TAKER_SOCKET "config.sock"
/* What a refusal for want of a right begins with. */
#define NODES_DENIED "you may not"

enum {
	NODES_ASK_FOR_MS = 6000,	/* nodes itself gives up after 5 s */
	NODES_DAY_S = 86400,
	NODES_SOON_DAYS = 30		/* its certificate must be renewed */
};

/* Have a connection to that node made, and wait until it says ok.
 * out_ends_s  may be NULL; when its certificate ends (wall; 0: not known)
 * returns the socket, which waits when it is read; -1: err says why that node
 * does not answer, err_is_denied that the caller may not ask */
int nodes_ask(const char *run_dir, const char *node, enum nodes_want want,
    int64_t *out_ends_s, struct err *err);

#endif
