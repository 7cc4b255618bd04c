/* orders.h - the process that orders for the one that serves
 *
 * It has the rights of the user who started the desk, and never reads a byte of
 * the network.  It trusts the other process only with the passwords that users
 * type: it has the sessions and the roles, and passes on only orders of a
 * session whose role may give them, and only rows of rows.h.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ORDERS_H
#define ZM_WEB_ORDERS_H

#include <sys/socket.h>

#include "base/err.h"
#include "conf/conf.h"
#include "web/orders/errand.h"

struct orders_site {		/* the strings are the caller's */
	struct asker	 asker;
	const struct conf *conf;
	bool		 is_network;	/* users log in; else there is a
					 * link */
	const char	*users, *roles;	/* a table's spec, a file */
	const char	*certificate, *key;	/* files */
	char		 host[96];	/* with its port, for the link */
	bool		 has_intake;	/* there is POST /send */
	const struct sockaddr *submit;	/* its submission listener */
	socklen_t	 submit_length;	/* 0: there is none */
};

struct orders_ends {		/* sockets to it (web/ask/wire.h) */
	int		 calls;	/* closing it ends the process */
	int		 dial;	/* for connections; -1: there are none */
};

/* Fork it.  shut is a descriptor that it closes.  0 or -1. */
int orders_start(const struct orders_site *site, int shut,
    struct orders_ends *out, struct err *err);

#endif
