/* message.h - one message file becomes a control file
 *
 * Pure: bytes in, bytes out; no spool, no descriptor.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_MESSAGE_H
#define ZM_ROUTER_MESSAGE_H

#include "mail/control_file/control_file.h"
#include "router/header/headers.h"
#include "router/route/route.h"
#include "router/sign/chains.h"
#include "router/sign/signatures.h"

enum {
	MESSAGE_READ_BYTES_MAX = 65536	/* larger files are mapped */
};

enum message_fate {
	MESSAGE_ROUTED,		/* control_text holds the control file */
	MESSAGE_DEFERRED,	/* trouble: deferred/N.why */
	MESSAGE_FROZEN,		/* freezer/N.why: a script says so */
	MESSAGE_UNSEEN,		/* deferred/N.milter: milters want to see it */
	MESSAGE_TO_ENCODE,	/* it must become 7-bit text first
				 * (spool_encode), and is routed again */
	MESSAGE_BROKEN,		/* postman/N.why */
	MESSAGE_UNWRITTEN	/* the sink had trouble: try again */
};

/* Caller's memory, used again from message to message. */
struct message {
	struct arena	*arena;
	struct str	 header, control_text;
	struct str	 other;		/* a header in the making */
	struct envelope	 envelope;
	struct headers	 headers;
	struct rcpts	 rcpts;
	struct control_draft control;	/* is_streamed: the sink has its text */
	struct control_headers generic_headers;	/* of generic statements */
	struct router	*router;
	struct signatures *signatures;	/* the worker's; NULL: mail is not
					 * signed here */
	struct chains	 chains;	/* of DKIM2, where they are wanted */
	size_t		 signed_bytes;	/* of header: signatures at its front */
	bool		 is_streamed;
	bool		 is_released;	/* from freezer/: not frozen again */
	bool		 keeps_8bit;	/* it cannot be encoded: signed as it
					 * is */
	struct route_waiting {		/* lists: others are routed first */
		struct given_rcpt	 given;
		struct route_waiting	*next;
	}		* waiting, **waiting_end;
	struct control_file	 control_file;
	const char	*script_form;	/* on_header refused it: what all
					 * recipients get; or NULL */
	char		 why[64];	/* [a-z0-9-]+ */
};

/* Begin without a message / free everything. */
void message_init(struct message *message);
void message_release(struct message *message);
/* Forget one message, keep buffers of ordinary size. */
void message_reset(struct message *message);

/* Route a whole message file (a large body is not looked at).  The result is in
 * the message and, if it is not routed, in err.  sink: where a control file too
 * large for memory goes; NULL keeps all in memory.  file must stay until
 * message_reset. */
enum message_fate message_route(struct message *message,
    struct router *router, struct slice file, ino_t inode,
    const struct control_sink *sink, struct err *err);

#endif
