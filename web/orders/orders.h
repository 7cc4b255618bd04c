/* orders.h - the process that orders for the one that serves
 *
 * It has the rights of who started the desk, never reads a byte of the net,
 * and trusts the other one with nothing but the password that somebody types:
 * it keeps the sessions and the roles, and gives an order only to who has a
 * session whose role may give it, and only one of the rows of rows.h.
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
	bool		 is_network;	/* who is there logs in; else he has a
					 * link */
	const char	*users, *roles;	/* a table's spec, a file */
	const char	*certificate, *key;	/* files */
	char		 host[96];	/* with its port, for the link */
	bool		 has_intake;	/* POST /send is there */
	const struct sockaddr *submit;	/* its submission listener */
	socklen_t	 submit_length;	/* 0: there is none */
};

struct orders_ends {		/* sockets to it (web/ask/wire.h) */
	int		 calls;	/* its end is the end of the process */
	int		 dial;	/* for connections; -1: there are none */
};

/* Fork it.  shut is a descriptor that it has no business with.  0 or -1. */
int orders_start(const struct orders_site *site, int shut,
    struct orders_ends *out, struct err *err);

#endif
