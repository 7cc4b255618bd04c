/* serve.h - the desk as a web server
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_SERVE_H
#define ZM_WEB_SERVE_H

#include "base/err.h"
#include "web/ask/ask.h"

struct web_door {		/* a listener for a network */
	const char	*address;	/* with its port */
	const char	*certificate, *key;	/* files */
	const char	*users;		/* a table's spec: passwords */
	const char	*roles;		/* a file */
};

/* Listen at 127.0.0.1 (port 0: a free one), print the link that lets one
 * person in, and serve until SIGINT or SIGTERM.  asker names who is asked; its
 * base is set here.  With a door listen there instead, with TLS, for users
 * who log in; nobody has a link.
 * returns 0; -1: it cannot listen */
int web_serve(struct asker *asker, unsigned port, struct web_door *door,
    struct err *err);

#endif
