/* client.h - the peer of a session
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_CLIENT_H
#define ZM_SMTPSERVER_SESSION_CLIENT_H

#include "base/err.h"
#include "grammar/net.h"

enum {
	CLIENT_TEXT_BYTES = 72,
	CLIENT_LISTENER_BYTES = 128	/* as CONF_LISTEN_BYTES */
};

struct client {
	char		text[CLIENT_TEXT_BYTES];	/* "192.0.2.1:4711" */
	char		literal[CLIENT_TEXT_BYTES];
				/* "[192.0.2.1]:4711": RFC 5321 section 4.1.3 */
	char		listener[CLIENT_LISTENER_BYTES];	/* it came to */
	struct net	net;
	bool		is_tls;		/* from the first byte */
	unsigned	connections;	/* of its address, with this one */
};

/* Fill in a client from the texts of two endpoints.  0 or -1. */
int client_parse(struct slice text, struct slice listener,
    struct client *out, struct err *err);

#endif
