/* message.h - one message file becomes the plan of its delivery
 *
 * Pure: bytes in, bytes out; no spool, no descriptor.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_MESSAGE_H
#define ZM_ROUTER_MESSAGE_H

#include "mail/work/work.h"
#include "router/header/headers.h"
#include "router/route/route.h"

enum {
	MESSAGE_CHECKED_BYTES_MAX = 65536	/* checksum looked at up to */
};

enum message_fate {
	MESSAGE_PLANNED,	/* plan holds the control file */
	MESSAGE_DEFERRED,	/* trouble: deferred/N.why */
	MESSAGE_FROZEN,		/* freezer/N.why: a script says so */
	MESSAGE_BROKEN,		/* postman/N.why */
	MESSAGE_UNWRITTEN	/* the sink had trouble: try again */
};

/* Caller's memory, used again from message to message. */
struct message {
	struct arena	*arena;
	struct str	 header, plan;
	struct str	 other;		/* a header in the making */
	struct envelope	 envelope;
	struct headers	 headers;
	struct places	 places;
	struct plan	 writing;	/* is_streamed: plan is in the sink */
	struct plan_headers headers_for;	/* of generic statements */
	struct router	*router;
	bool		 is_streamed;
	bool		 is_released;	/* from freezer/: once is enough */
	struct route_waiting {		/* lists: others come first */
		struct route_request	 request;
		struct route_waiting	*next;
	}		*waiting, **waiting_end;
	struct work	 work;
	char		 why[64];	/* [a-z0-9-]+ */
};

void message_init(struct message *message);
void message_release(struct message *message);
/* Forget one message, keep buffers of ordinary size. */
void message_reset(struct message *message);

/* Route a whole message file (its body is not looked at when it is large).
 * What happened stands in the message and, when it is not planned, in err.
 * sink: where a plan too large for memory goes; NULL keeps all in memory.
 * file must stay until message_reset. */
enum message_fate message_plan(struct message *message,
    struct router *router, struct slice file, ino_t inode,
    const struct plan_sink *sink, struct err *err);

#endif
