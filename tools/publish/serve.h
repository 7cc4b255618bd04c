/* serve.h - the process that takes configurations of other nodes
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_SERVE_H
#define ZM_TOOLS_PUBLISH_SERVE_H

#include "conf/conf.h"

enum {
	SERVE_AT_ONCE = 4,
	SERVE_REQUEST_FOR_S = 60,	/* until a request is complete */
	SERVE_FOR_S = 300,		/* until it is answered */
	SERVE_SETTLE_MS = 1000,		/* between two looks at the clock */
	SERVE_DRIFT_MS = 60000		/* and at the other nodes */
};

/* Be that process, until the other end of lifeline is closed: then finish what
 * has begun, and return.  conf is the one in force. */
void publish_serve(const struct conf *conf, int socket, int lifeline);

#endif
