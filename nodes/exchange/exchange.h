/* exchange.h - who asks this node, and whom it asks
 *
 * Local users come to RUN/nodes.sock, other nodes to our address, over TLS.
 * doc/protocol/nodes.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NODES_EXCHANGE_H
#define ZM_NODES_EXCHANGE_H

#include "daemon/rights.h"
#include "daemon/skeleton.h"
#include "tls/client.h"
#include "tls/server.h"

enum {
	EXCHANGE_DENIED_MAX = 8,	/* users who only hear that they may
					 * not */
	EXCHANGE_TRANSITS_MAX = 64,	/* of users, and as many of nodes */
	EXCHANGE_SHAKE_MS = 5000,		/* until both know each other */
	EXCHANGE_IDLE_MS = 130000,		/* a verb may take 120 s */
	EXCHANGE_LEAVE_MS = 5000
};

/* What it has from before its sandbox; must live as long as the exchange. */
struct exchange_means {
	struct peer_rules	 rules;
	struct tls_server	*server;
	struct tls_client	*client;
};

struct exchange;

/* Accept at both sockets until the other end of lifeline is closed; then the
 * loop stops when all have gone, or after EXCHANGE_LEAVE_MS.  The descriptors
 * are borrowed; network -1: nobody comes from other nodes.
 * returns what exchange_free frees */
struct exchange *exchange_new(struct process *process,
    const struct exchange_means *means, int local, int network, int lifeline);
/* Nulls *exchange. */
void exchange_free(struct exchange **exchange);

#endif
