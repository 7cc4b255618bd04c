/* link.h - a connection to a server that an engine keeps
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ENGINE_LINK_H
#define ZM_TABLES_ENGINE_LINK_H

#include <stdbool.h>

#include "io/peer.h"

enum { LINK_ANSWER_MS = 4000 };		/* of one question */

/* Connect to "unix:/PATH" or "inet:ADDRESS:PORT", unless the connection that
 * is there still stands.  false: err, with the server in front. */
bool link_connect(struct peer *peer, struct slice server,
    int64_t deadline_ms, struct err *err);

/* Wait for more bytes.  false: err. */
bool link_fill(struct peer *peer, int64_t deadline_ms, struct err *err);

/* A whole line of at most bytes_max, without its LF; borrowed until the next
 * call, and still to be consumed.  false: err. */
bool link_line(struct peer *peer, size_t bytes_max, int64_t deadline_ms,
    struct slice *out, struct err *err);

#endif
