/* routed.h - routed messages in the journal, message by message
 *
 * Lines of several routers are mixed: the lines of a message are collected
 * until message.routed ends it.  As many messages are open as there are slots;
 * one that lost its slot is passed on without its sender.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_REPLAY_ROUTED_H
#define ZM_TOOLS_ZMAILER_REPLAY_ROUTED_H

#include "tools/zmailer/replay/replay.h"

struct routed {
	struct slice	lines;		/* rcpt.routed, each with its LF */
	struct slice	end;		/* message.routed; empty: unknown */
};

/* 0, or -1 with err to end it. */
typedef int routed_fn(void *context, const struct routed *routed,
    struct err *err);

/* Call fn for each routed message of the window.  0 or -1. */
int routed_each(struct replay *replay, routed_fn *fn, void *context,
    struct err *err);

#endif
