/* serve.h - the desk as a web server
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_SERVE_H
#define ZM_WEB_SERVE_H

#include "base/err.h"
#include "web/orders/orders.h"

struct web_door {		/* a listener for a network */
	const char	*address;	/* with its port */
	const char	*certificate, *key;	/* files */
};

struct web_site {
	struct orders_site orders;	/* its host is set here */
	const struct web_door *door;	/* NULL: loopback */
};

/* Listen at 127.0.0.1 (port 0: a free one), start the process that orders,
 * which prints the link that lets one person in, give up all rights, and serve
 * until SIGINT or SIGTERM.  With a door, listen there instead, with TLS, for
 * users who log in; then there is no link.
 * returns 0; -1: it cannot listen, or cannot be confined */
int web_serve(struct web_site *site, unsigned port, struct err *err);

#endif
