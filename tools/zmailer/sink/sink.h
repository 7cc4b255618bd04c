/* sink.h - an SMTP or LMTP server that accepts everything and keeps nothing,
 * unless it is told to
 *
 * For demonstrations, tests and measurements; it listens only on the loopback
 * address.  The local part of a recipient can make it misbehave (faults.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SINK_H
#define ZM_TOOLS_SINK_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

enum {
	SINK_LINE_BYTES_MAX = 4096,	/* of a command */
	SINK_RCPTS_MAX = 100000,	/* of a message */
	SINK_UNSENT_BYTES_MAX = 1 << 20, /* to a client that does not read */
	SINK_GREY_MAX = 1 << 20,	/* pairs remembered */
	SINK_SLOW_MS = 1000		/* how long slow@ waits */
};

struct sink {
	/* as asked for */
	const char	*dir;		/* save messages here; NULL: nowhere */
	bool		 is_json;	/* a line for each message */
	bool		 is_lmtp;
	uint64_t	 expect;	/* stop after as many; 0: never */

	struct loop	*loop;
	struct session	*sessions;	/* session.c's own list */
	uint64_t	 messages, recipients, connections, bytes;
	uint64_t	*grey;		/* hashes seen, open addressing */
	size_t		 grey_size, grey_count;
};

/* Listen on 127.0.0.1:port (0: a free one).
 * returns the descriptor, *out_port is set; -1. */
int sink_listen(unsigned port, unsigned *out_port, struct err *err);

/* Accept the connections that wait at the listener. */
void sink_accept(struct sink *sink, int listener);

/* Was this pair of sender and recipient here before?  Remembers it; if the
 * memory is full, the answer is yes. */
bool sink_grey_seen(struct sink *sink, struct slice sender,
    struct slice rcpt);

/* End all sessions and forget the pairs; the loop must still be there. */
void sink_release(struct sink *sink);

/* session.c: end all sessions. */
void sink_drop_all(struct sink *sink);

#endif
